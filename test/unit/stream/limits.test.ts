import { describe, expect, it } from 'vitest'
import { MAX_READ_BYTES, MAX_WRITTEN_BYTES, MAX_WRITTEN_EVENTS } from '../../../src/stream/limits.ts'
import { documentText, type EventText, Play, spec } from '../../support/stream-builder.ts'

/** A foreign stream: a root and this number of branches, each `init`. */
const branches = (count: number): EventText[] => {
  const ids = Array.from({ length: count }, (_, at) => `${at + 1}.00`)
  return [
    { id: '00', status: 'inprocess', next: ids.join('|') },
    ...ids.map(id => ({ id, status: 'init', prev: '00' })),
  ]
}

/** A stream whose text is slightly longer than this number of bytes; the attribute that fills it is foreign. */
const filled = (bytes: number) =>
  new Play(documentText(...branches(2)).replace('<EventStream', `<EventStream fill="${'x'.repeat(bytes)}"`))

describe('20 000 events', () => {
  it('may be written; with one more the write is refused stream-full', () => {
    const play = new Play(documentText(...branches(MAX_WRITTEN_EVENTS - 2)))
    expect(play.do({ op: 'advance', event: '1.00', next: spec('N') }).outcome).toBe('done')
    expect(play.refused({ op: 'advance', event: '2.00', next: spec('N') })).toMatchObject({
      code: 'stream-full',
      event: '00',
      message: expect.stringContaining('20001 events'),
    })
    expect(play.do({ op: 'set', event: '2.00', attributes: { tag: 't' } }).outcome).toBe('done')
  })
})

describe('8 MiB', () => {
  let full: Play | undefined

  it.each([
    { op: 'advance', event: '1.00', next: spec('N') },
    { op: 'set', event: '1.00', attributes: { tag: 't' } },
    { op: 'retry', event: '2.00' },
  ] as const)('$op that exceeds it is refused stream-full', operation => {
    // No refusal changes it.
    full ??= filled(MAX_WRITTEN_BYTES).after({ op: 'cancel', event: '2.00' })
    expect(full.refused(operation)).toMatchObject({
      code: 'stream-full',
      message: expect.stringMatching(/\d{7} bytes/),
    })
  })

  it('does not stop operations that end events', () => {
    const play = filled(MAX_WRITTEN_BYTES).after(
      { op: 'start', event: '1.00' },
      { op: 'touch', event: '1.00', owner: 'w1' },
    )
    play.after(
      { op: 'release', event: '1.00', owner: 'w1' },
      { op: 'complete', event: '1.00' },
      { op: 'fail', event: '2.00' },
    )
    expect(play.status('00')).toBe('completed')
    expect(filled(MAX_WRITTEN_BYTES).after({ op: 'abort' }).status('00')).toBe('aborted')
  })

  it('no write, not even an end, exceeds the limit of reading: the stream could not be opened again', () => {
    const play = filled(MAX_READ_BYTES - 1_000)
    expect(play.code({ op: 'abort' })).toBe('stream-full')
  })
})

describe('unusual graphs', () => {
  const chain = (count: number): EventText[] =>
    Array.from({ length: count }, (_, at) => ({
      id: `${at}`.padStart(2, '0'),
      status: at === count - 1 ? 'init' : 'inprocess',
      ...(at === 0 ? {} : { prev: `${at - 1}`.padStart(2, '0') }),
      ...(at === count - 1 ? {} : { next: `${at + 1}`.padStart(2, '0') }),
    }))

  it('a chain of 4 000 events closes up to the root', () => {
    const play = new Play(documentText(...chain(4_000)))
    expect(play.do({ op: 'complete', event: '3999' })).toMatchObject({ done: true })
    expect(play.status('2000')).toBe('completed')
  })

  it('a chain of 4 000 events is aborted and retried from its end', () => {
    const play = new Play(documentText(...chain(4_000))).after({ op: 'abort' }, { op: 'retry' })
    expect([play.status('00'), play.status('2000'), play.status('3999')]).toEqual(['inprocess', 'inprocess', 'init'])
  })

  it('10 000 siblings are canceled, counted and retried', () => {
    const play = new Play(documentText(...branches(10_000)))
    play.do({ op: 'fail', event: '7.00' })
    expect(play.do({ op: 'cancel' }).changed).toHaveLength(10_000)
    expect(play.do({ op: 'retry', canceled: true }).changed).toHaveLength(10_001)
    expect(play.status('00')).toBe('inprocess')
  })

  it('a ring of 4 000 events terminates', () => {
    const events = chain(4_000).map(event => ({ ...event, next: event.next ?? '01' }))
    const play = new Play(documentText(...events))
    expect(play.do({ op: 'fail', event: '2000' })).toMatchObject({ done: true })
  })

  it('an id of 2 000 segments can have steps and forks', () => {
    const deep = Array(2_000).fill('01').join('.')
    const play = new Play(
      documentText({ id: '00', status: 'inprocess', next: deep }, { id: deep, prev: '00', status: 'init' }),
    )
    const { added } = play.do({ op: 'advance', event: deep, next: spec('N'), forks: [spec('F')] })
    expect(added.map(id => id.slice(-8))).toEqual(['01.01.02', '01.01.00'])
  })
})
