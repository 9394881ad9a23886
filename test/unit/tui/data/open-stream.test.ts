import { describe, expect, it } from 'vitest'
import { viewOf } from '../../../../src/ops/read-stream.ts'
import type { StreamSnapshot } from '../../../../src/store/store.ts'
import { sumOf } from '../../../../src/stream/fingerprint.ts'
import { DataStore } from '../../../../src/tui/data/store.ts'
import type { OpenStream } from '../../../../src/tui/data/types.ts'
import { documentText, type EventText, START_MS } from '../../../support/stream-builder.ts'

const NAME = 's'

function stored(body: Uint8Array): StreamSnapshot {
  return {
    name: NAME,
    etag: 'e',
    size: body.length,
    modifiedMs: START_MS,
    lease: { state: 'available' },
    body,
    versionFloor: 0,
  }
}

/** The open stream after these states, one after the other. */
function opened(...states: readonly (readonly EventText[])[]): OpenStream {
  const data = new DataStore()
  data.openStream(NAME)
  for (const events of states) {
    const body = Buffer.from(documentText(...events))
    data.putOpen(NAME, { kind: 'view', view: viewOf(stored(body), START_MS) })
  }
  if (data.open === undefined) throw new Error('nothing is open')
  return data.open
}

const event = (id: string, next = '', more: EventText = {}): EventText => ({
  name: `n${id}`,
  status: 'init',
  id,
  next,
  ...more,
})

const shown = ({ nodes }: OpenStream) => nodes.map(({ key, parent, end }) => `${key} ${parent} ${end}`)

describe('the nodes of the tree', () => {
  const forked = [event('00', '01|02'), event('01', '01.00'), event('01.00'), event('02')]

  it('are in the order of the threads, and know the end of the nodes below them', () => {
    expect(shown(opened(forked))).toEqual(['00 -1 4', '01 0 3', '01.00 1 3', '02 0 4'])
  })

  it('are the same array as long as the structure is the same, whatever changes in the events', () => {
    const data = new DataStore()
    data.openStream(NAME)
    const see = (events: readonly EventText[]) => {
      const body = Buffer.from(documentText(...events))
      data.putOpen(NAME, { kind: 'view', view: viewOf(stored(body), START_MS) })
      return data.open
    }
    const first = see(forked)?.nodes
    const done = see(forked.map(one => ({ ...one, status: 'completed' })))
    expect(done?.nodes).toBe(first)
    expect(done?.event('02')?.status).toBe('completed')
    const linkedByPrev = [event('00', '01'), event('01', '01.00'), event('01.00'), event('02', '', { prev: '00' })]
    expect(see(linkedByPrev)?.nodes).toBe(first)
    expect(see([...forked, event('03', '', { prev: '00' })])?.nodes).toHaveLength(5)
  })

  it('include repeated events under a key of their own, and missing ones under their id', () => {
    const cyclic = opened([event('00', '01|09'), event('01', '00')])
    expect(cyclic.nodes.map(({ key, again }) => [key, again])).toEqual([
      ['00', false],
      ['01', false],
      ['00#2', true],
      ['09', false],
    ])
    expect(cyclic.event('09')).toBeUndefined()
    expect(cyclic.below(0)).toEqual({ done: 0, failed: 0, canceled: 0, total: 1 })
  })

  it('support thousands of siblings, chains of any depth and cycles in prev', () => {
    const count = 3_000
    const ids = Array.from({ length: count }, (_, at) => String(at))
    const wide = opened([event('00', ids.map(id => `x${id}`).join('|')), ...ids.map(id => event(`x${id}`))])
    expect(wide.nodes[0]?.end).toBe(count + 1)
    expect(wide.below(0).total).toBe(count)
    const deep = opened(ids.map((id, at) => event(id, ids[at + 1] ?? '')))
    expect(deep.nodes.at(-1)?.depth).toBe(count - 1)
    expect(deep.below(0).total).toBe(count - 1)
    expect(deep.below(count - 2).total).toBe(1)
    const round = opened([event('00'), event('a', '', { prev: 'b' }), event('b', '', { prev: 'a' })])
    expect(round.nodes.map(({ id }) => id)).toEqual(['00', 'a', 'b', 'a'])
  })
})

describe('events below an event', () => {
  it('are counted without the event itself and without replaced events', () => {
    const open = opened([
      event('00', '01|02|03|04'),
      event('01', '01.00', { status: 'completed' }),
      event('01.00', '', { status: 'completed' }),
      event('02', '', { status: 'aborted' }),
      event('03', '', { status: 'canceled', 'lc:superseded': '04' }),
      event('04', '', { status: 'canceled' }),
    ])
    expect(open.below(0)).toEqual({ done: 2, failed: 1, canceled: 1, total: 4 })
    expect(open.below(1)).toEqual({ done: 1, failed: 0, canceled: 0, total: 1 })
    expect(open.below(2)).toEqual({ done: 0, failed: 0, canceled: 0, total: 0 })
    expect(open.below(99)).toEqual({ done: 0, failed: 0, canceled: 0, total: 0 })
  })
})

describe('the text of a document', () => {
  const textOf = (body: Uint8Array) => {
    const data = new DataStore()
    data.openStream(NAME)
    data.putOpen(NAME, { kind: 'unreadable', stored: stored(body), fault: { code: 'bad-document', message: 'no' } })
    return data.open?.text
  }

  it('is decoded as documents are, with any line ends', () => {
    expect(textOf(Buffer.from('\ufeff<a>\r\n<b/>\r</a>\n'))).toEqual(['<a>', '<b/>', '</a>', ''])
    expect(textOf(Buffer.from('\ufeff<ä/>', 'utf16le'))).toEqual(['<ä/>'])
  })

  it('is shown even if it is not valid', () => {
    expect(textOf(Uint8Array.of(0x61, 0xff, 0x62))).toEqual(['a\ufffdb'])
    expect(textOf(Uint8Array.of(0xff, 0xfe, 0x00, 0xd8, 0x61, 0x00))).toEqual(['\ufffda'])
  })
})

describe('the history of an event', () => {
  it('continues with its journal, and begins again with another journal', () => {
    const data = new DataStore()
    const root = '<Event name="Start" id="00" status="inprocess"/>'
    const sum = sumOf(viewOf(stored(Buffer.from(`<EventStream>${root}</EventStream>`)), START_MS).document.events)
    const body = (lives: string, versions: number) => {
      const tx = (v: number) =>
        `<lc:tx v="${v}" at="2026-11-20T12:00:0${v}Z" by="w" op="touch" on="00" cmd="${lives}-${v}"/>`
      const journal = Array.from({ length: versions }, (_, at) => tx(at + 1)).join('')
      const head = `xmlns:lc="urn:leasectl:v1" lc:v="${versions}" lc:sum="${sum}"`
      return Buffer.from(`<EventStream ${head}>${root}<lc:journal>${journal}</lc:journal></EventStream>`)
    }
    const told = (lives: string, versions: number) => {
      data.openStream(NAME)
      data.putOpen(NAME, { kind: 'view', view: viewOf(stored(body(lives, versions)), START_MS) })
      return data.open?.transactionsOf('00').map(({ commandId }) => commandId)
    }
    expect(told('a', 2)).toEqual(['a-1', 'a-2'])
    expect(told('a', 3)).toEqual(['a-1', 'a-2', 'a-3'])
    expect(told('b', 4)).toEqual(['b-1', 'b-2', 'b-3', 'b-4'])
    expect(told('b', 1)).toEqual(['b-1'])
    expect(data.open?.transactionsOf('01.00')).toEqual([])
    const before = data.open
    expect(told('b', 3)).toEqual(['b-1', 'b-2', 'b-3'])
    expect(before?.transactionsOf('00')).toHaveLength(1)
  })
})
