import { describe, expect, it } from 'vitest'
import { ChangedStreams, type RememberedStream } from '../../../../src/ops/watch/changed-streams.ts'

type Streams = ChangedStreams<RememberedStream>

/** A listing of these streams; returns the names of those whose rows were requested. */
function list(streams: Streams, etags: Readonly<Record<string, string>>): string[] {
  streams.begin()
  const rows = Object.entries(etags).filter(([name, etag]) => !streams.skip(name, etag))
  for (const [name, etag] of rows) streams.take({ name, etag, listing: 0 })
  return rows.map(([name]) => name)
}

const gone = (streams: Streams) => streams.end().map(({ name }) => name)

describe('changed streams', () => {
  it('are those that are new or have another ETag', () => {
    const streams: Streams = new ChangedStreams()
    expect(list(streams, { a: '1', b: '1' })).toEqual(['a', 'b'])
    expect(list(streams, { a: '1', b: '2', c: '1' })).toEqual(['b', 'c'])
    expect(list(streams, { a: '1', b: '2', c: '1' })).toEqual([])
  })

  it('are gone when a complete listing omits them, in the order in which they were added', () => {
    const streams: Streams = new ChangedStreams()
    list(streams, { a: '1', b: '1', c: '1' })
    expect(gone(streams)).toEqual([])
    list(streams, { c: '2' })
    list(streams, { a: '2', c: '3' })
    expect(gone(streams)).toEqual(['b'])
    list(streams, {})
    expect(gone(streams)).toEqual(['a', 'c'])
    expect(streams.size).toBe(0)
  })

  it('are not gone because of an incomplete listing', () => {
    const streams: Streams = new ChangedStreams()
    list(streams, { a: '1', b: '1' })
    list(streams, { a: '1' })
    expect(list(streams, { a: '1', b: '1' })).toEqual([])
    expect(gone(streams)).toEqual([])
  })

  it('are returned unchanged if their row is requested, and are not gone because of that', () => {
    const streams: Streams = new ChangedStreams()
    list(streams, { a: '1' })
    streams.begin()
    expect(streams.skip('a', '1', () => true)).toBe(false)
    expect(streams.skip('a', '1', () => false)).toBe(true)
    expect(gone(streams)).toEqual([])
  })

  it('are gone once, also if one is forgotten meanwhile', () => {
    const streams: Streams = new ChangedStreams()
    list(streams, { a: '1', b: '1', c: '1' })
    list(streams, { a: '1', b: '1' })
    streams.forget('a')
    streams.forget('nobody')
    expect(gone(streams)).toEqual(['c'])
    expect([...streams.values()].map(({ name }) => name)).toEqual(['b'])
  })

  it('are remembered up to a capacity, the most recently added ones', () => {
    const streams: Streams = new ChangedStreams(2)
    streams.take({ name: 'a', etag: '1', listing: 0 })
    streams.take({ name: 'b', etag: '1', listing: 0 })
    streams.take({ name: 'a', etag: '2', listing: 0 })
    streams.take({ name: 'c', etag: '1', listing: 0 })
    expect([...streams.values()].map(({ name }) => name)).toEqual(['b', 'c'])
    expect(gone(streams)).toEqual([])
  })
})
