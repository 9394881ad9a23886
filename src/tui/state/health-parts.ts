import type { StreamHealth } from '../../formats/listing/health.ts'
import type { ScreenContext } from './context.ts'
import { showScreen } from './panes.ts'
import type { State } from './state.ts'
import { withList } from './transition.ts'

export type HealthWord = keyof StreamHealth

/** One of the numbers in the line of health, in their order, and the filter that leaves its streams. */
export interface HealthPart {
  /** After `f`. */
  readonly key: string
  readonly word: HealthWord
  /** Before its count. */
  readonly glyph: string
  readonly filter: string
}

export const HEALTH_PARTS: readonly HealthPart[] = [
  { key: 'p', word: 'open', glyph: '▶', filter: 'status:open' },
  { key: 'f', word: 'failed', glyph: '✗', filter: 'status:failed' },
  { key: 'a', word: 'abandoned', glyph: '†', filter: 'status:abandoned' },
  { key: 'o', word: 'overdue', glyph: '!', filter: 'status:overdue' },
  { key: 'b', word: 'blocked', glyph: '■', filter: 'status:blocked' },
  { key: 's', word: 'suspended', glyph: '‖', filter: 'status:suspended' },
  { key: 'u', word: 'unreadable', glyph: '?', filter: 'status:unreadable' },
  { key: 'c', word: 'canceled', glyph: '⊘', filter: 'canceled>0' },
  { key: 'd', word: 'completed', glyph: '✓', filter: 'status:completed' },
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
