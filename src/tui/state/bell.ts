import { spacedCount } from '../../formats/terminal/numbers.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import type { ScreenContext } from './context.ts'
import type { Action, State } from './state.ts'
import { only, type Transition, withNotice } from './transition.ts'

/** `B`: rings when something fails, or no longer. */
export function toggleBell(state: State, context: ScreenContext): Transition {
  const bell = state.bell === undefined ? { missed: 0 } : undefined
  const text = bell === undefined ? 'the bell is off' : 'the bell rings when something fails'
  return only(withNotice({ ...state, bell }, context, text))
}

/** Rings for new failures. */
export function withFailures(state: State, { count, latest }: Extract<Action, { kind: 'failed' }>): Transition {
  const { bell } = state
  if (bell === undefined) return only(state)
  const missed = bell.missed + count
  const what = `${visibleName(latest.stream)}: ${visibleText(latest.text)}`
  const text = count === 1 ? what : `${spacedCount(count)} failed, the last in ${what}`
  return only({ ...state, bell: { missed } }, { kind: 'ring', text, title: titleOf(missed) })
}

/** A key shows that somebody has seen the failures. */
export function seen(state: State): Transition {
  if (state.bell === undefined || state.bell.missed === 0) return only(state)
  return only({ ...state, bell: { missed: 0 } }, { kind: 'title', title: titleOf(0) })
}

/** `✗ 3 leasectl` */
function titleOf(missed: number): string {
  return missed === 0 ? 'leasectl' : `✗ ${missed} leasectl`
}
