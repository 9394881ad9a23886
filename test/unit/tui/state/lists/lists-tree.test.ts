import { describe, expect, it } from 'vitest'
import { viewOf } from '../../../../../src/ops/read-stream.ts'
import { DataStore } from '../../../../../src/tui/data/store.ts'
import { Lists } from '../../../../../src/tui/state/lists/lists.ts'
import type { ListState, State } from '../../../../../src/tui/state/state.ts'
import { documentText, type EventText } from '../../../../support/stream-builder.ts'
import { FREE, NOW, stateOn } from './support.ts'

const TREE: readonly EventText[] = [
  { id: '00', name: 'Start', status: 'inprocess', next: '01|02' },
  { id: '01', name: 'Search', status: 'inprocess', next: '01.00|01.01' },
  { id: '01.00', name: 'Find', status: 'completed', topic: 'GPU' },
  { id: '01.01', name: 'Find', status: 'init', 'lc:owner': 'worker-7' },
  { id: '02', name: 'End', status: 'init', msg: 'late' },
]

function tree() {
  const data = new DataStore()
  const lists = new Lists()
  data.openStream('s')
  return {
    see(events: readonly EventText[]) {
      const body = Buffer.from(documentText(...events))
      const stored = { name: 's', etag: 'e', size: 1, modifiedMs: NOW, lease: FREE, body, versionFloor: 0 }
      data.putOpen('s', { kind: 'view', view: viewOf(stored, NOW) })
    },
    list: (list: Partial<ListState> = {}, more: Partial<State> = {}, nowMs = NOW) =>
      lists.listing(stateOn('stream', list, { stream: 's', ...more }), data, nowMs),
  }
}

describe('the rows of the tree', () => {
  it('exclude the nodes below a folded node', () => {
    const { see, list } = tree()
    see(TREE)
    expect(list().keys).toEqual(['00', '01', '01.00', '01.01', '02'])
    const folded = new Set(['01'])
    expect(list({}, { folded }).keys).toEqual(['00', '01', '02'])
    expect(list({}, { folded })).toMatchObject({ matching: 5, total: 5 })
    expect(list({}, { folded: new Set(['00']) }).keys).toEqual(['00'])
  })

  it('are the same while only events change, in the timeline too', () => {
    const { see, list } = tree()
    see(TREE)
    const folded = new Set<string>()
    const before = list({}, { folded })
    see(TREE.map(event => ({ ...event, status: 'completed' })))
    expect(list({ moves: 1 }, { folded, pane: 'timeline' }, NOW + 5_000)).toBe(before)
  })

  it('are empty while the data are of another stream', () => {
    const { see, list } = tree()
    see(TREE)
    expect(list({}, { stream: 'other' }).keys).toEqual([])
  })
})

describe('a filter in the tree', () => {
  it('finds the displayed word, and the status as it is stored', () => {
    const { see, list } = tree()
    see([
      { id: '00', name: 'Start', status: 'inprocess', next: '01|02' },
      { id: '01', name: 'Search', status: 'init' },
      { id: '02', name: 'End', status: 'inprocess', 'lc:wait': 'yes', 'lc:join': 'wait' },
    ])
    const found = (filter: string) => {
      const listing = list({ filter })
      return listing.keys.filter(key => !listing.isFaint(key))
    }
    expect(found('waiting')).toEqual(['02'])
    expect(found('inprocess')).toEqual(['00', '02'])
  })

  it('shows matches and, faintly, their ancestors, even if folded', () => {
    const { see, list } = tree()
    see(TREE)
    const listing = list({ filter: 'find' }, { folded: new Set(['00']) })
    expect(listing.keys).toEqual(['00', '01', '01.00', '01.01'])
    expect(listing.keys.filter(key => listing.isFaint(key))).toEqual(['00', '01'])
    expect([listing.matching, listing.total]).toEqual([2, 5])
  })

  it.each([
    ['gpu', '01.00'],
    ['worker-7', '01.01'],
    ['late', '02'],
    ['01.01', '01.01'],
    ['find !init', '01.00'],
  ])('%j finds %s', (filter, id) => {
    const { see, list } = tree()
    see(TREE)
    const listing = list({ filter })
    expect(listing.keys.filter(key => !listing.isFaint(key))).toEqual([id])
  })

  it('keeps former matches, faintly, until the cursor moves', () => {
    const { see, list } = tree()
    see(TREE)
    list({ filter: 'init' })
    see(TREE.map(event => (event.id === '02' ? { ...event, status: 'completed' } : event)))
    const listing = list({ filter: 'init' }, {}, NOW + 1_000)
    expect([listing.keys, listing.isFaint('02')]).toEqual([['00', '01', '01.01', '02'], true])
    expect(list({ filter: 'init', moves: 1 }, {}, NOW + 1_000).keys).toEqual(['00', '01', '01.01'])
  })

  it('supports chains of any depth', () => {
    const { see, list } = tree()
    const count = 5_000
    see(Array.from({ length: count }, (_, at) => ({ id: `e${at}`, name: 'n', status: 'init', next: `e${at + 1}` })))
    expect(list({ filter: `e${count - 1}` }).keys).toHaveLength(count)
  })
})
