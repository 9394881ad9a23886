import { fromListing, type SummarizedStream } from '../../../../../src/ops/summaries.ts'
import type { LeaseView } from '../../../../../src/store/store.ts'
import type { Summary } from '../../../../../src/stream/summary.ts'
import { initialState } from '../../../../../src/tui/state/initial-state.ts'
import type { ListState, Screen, State } from '../../../../../src/tui/state/state.ts'
import { summary } from '../../../../contract/harness.ts'

export const NOW = 1_700_000_000_000

export const FREE: LeaseView = { state: 'available' }

/** A row of the listing at a version, with the relevant fields of its summary. */
export function row(name: string, over: Partial<Summary> = {}, lease = FREE): SummarizedStream {
  const found = summary({ status: 'inprocess', ...over })
  const etag = JSON.stringify(over)
  return fromListing({ name, etag, size: 1, modifiedMs: NOW + found.version, lease, summary: found }, found)
}

/** The state of a screen with this list. */
export function stateOn(screen: Screen, list: Partial<ListState> = {}, more: Partial<State> = {}): State {
  const size = { columns: 80, rows: 24 }
  const state = initialState({ size, writes: 'locked', nowMs: NOW, time: 'relative' })
  return { ...state, screen, lists: { ...state.lists, [screen]: { ...state.lists[screen], ...list } }, ...more }
}
