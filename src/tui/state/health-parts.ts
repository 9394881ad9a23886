import type { ScreenContext } from './context.ts'
import { showScreen } from './panes.ts'
import type { State } from './state.ts'
import { withList } from './transition.ts'

/** One of the numbers in the line of health, and the filter that leaves its streams. */
export interface HealthPart {
  /** After `f`. */
  readonly key: string
  readonly word: 'open' | 'failed' | 'abandoned' | 'overdue' | 'unreadable' | 'canceled' | 'completed'
  readonly filter: string
}

export const HEALTH_PARTS: readonly HealthPart[] = [
  { key: 'f', word: 'failed', filter: 'status:failed' },
  { key: 'a', word: 'abandoned', filter: 'status:abandoned' },
  { key: 'o', word: 'overdue', filter: 'status:overdue' },
  { key: 'u', word: 'unreadable', filter: 'status:unreadable' },
  { key: 'p', word: 'open', filter: 'status:open' },
  { key: 'c', word: 'canceled', filter: 'canceled>0' },
  { key: 'd', word: 'completed', filter: 'status:completed' },
]

/** Lists the streams of one number, from whatever screen; all again if they are listed already. */
export function showHealthPart(state: State, context: ScreenContext, { filter }: Pick<HealthPart, 'filter'>): State {
  const { lists, screen } = state
  const isShown = screen === 'streams' && lists.streams.filter === filter && !lists.streams.onlyBroken
  return withList(showScreen(state, context, 'streams'), {
    filter: isShown ? '' : filter,
    onlyBroken: false,
    ...(isShown ? {} : { cursor: undefined, index: 0, offset: 0 }),
    moves: lists.streams.moves + 1,
  })
}
