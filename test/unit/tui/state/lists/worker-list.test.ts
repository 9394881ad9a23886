import { expect, it } from 'vitest'
import { WorkerList } from '../../../../../src/tui/state/lists/worker-list.ts'
import type { ListState } from '../../../../../src/tui/state/state.ts'
import { FRESH_LIST } from '../../../../../src/tui/state/transition.ts'
import { DEMO_WORKERS } from '../../support/demo-data.ts'
import { NOW_MS, worldWith } from '../../support/world.ts'

const { data } = worldWith({ workers: DEMO_WORKERS })

function ownersOf(list: Partial<ListState> = {}, nowMs = NOW_MS): string[] {
  const { keys } = new WorkerList().listing({ ...FRESH_LIST, ...list }, data, nowMs)
  return keys.map(key => DEMO_WORKERS.rows.find(row => row.key === key)?.owner ?? '?')
}

it('abandoned events come first, then running ones by their start, then idle workers', () => {
  expect(ownersOf()).toEqual(['pay@aks-9', 'worker-7', 'pay@aks-3', 'worker-2'])
})

it('a claim that ends meanwhile moves its row up', () => {
  const rows = new WorkerList()
  rows.listing(FRESH_LIST, data, NOW_MS)
  expect(rows.listing({ ...FRESH_LIST, filter: 'abandoned' }, data, NOW_MS).matching).toBe(1)
  expect(rows.listing({ ...FRESH_LIST, filter: 'abandoned' }, data, NOW_MS + 30_000).matching).toBe(2)
})

it.each([
  ['pay', ['pay@aks-9', 'pay@aks-3']],
  ['owner:worker !idle', ['worker-7']],
  ['orders/4716', ['pay@aks-9']],
  ['status:idle', ['worker-2']],
  ['search', ['worker-7']],
])('the filter %s finds what a row shows', (filter, owners) => expect(ownersOf({ filter })).toEqual(owners))

it.each([
  ['worker', ['pay@aks-3', 'pay@aks-9', 'worker-2', 'worker-7']],
  ['since', ['pay@aks-9', 'worker-7', 'pay@aks-3', 'worker-2']],
  ['claim', ['pay@aks-9', 'worker-7', 'pay@aks-3', 'worker-2']],
  ['done', ['worker-7', 'pay@aks-3', 'worker-2', 'pay@aks-9']],
])('rows are sorted by %s, and the other way round', (by, owners) => {
  expect(ownersOf({ sort: { by, isDescending: false } })).toEqual(owners)
  const reversed = ownersOf({ sort: { by, isDescending: true } })
  expect(reversed).not.toEqual(owners)
  expect(reversed.toSorted()).toEqual(owners.toSorted())
})
