import type { ScreenContext } from './context.ts'
import { cursorKey, moveToKey } from './cursor.ts'
import type { State } from './state.ts'
import { listOf, withNotice } from './transition.ts'

/** What `enter` says on a row without parts, on the screens whose rows have some. */
const WITHOUT_PARTS = {
  subscriptions: 'no stream of it waits or is parked',
  inboxes: 'no partition of it is listed',
} as const

function hasTwoLists(screen: State['screen']): screen is keyof typeof WITHOUT_PARTS {
  return Object.hasOwn(WITHOUT_PARTS, screen)
}

/** `enter` on a row with parts: to the first of them. `undefined` on one of these, and on other screens. */
export function enterParts(state: State, context: ScreenContext): State | undefined {
  const { screen } = state
  const key = cursorKey(state, context)
  if (!hasTwoLists(screen) || key === undefined || key.includes('\n')) return undefined
  const first = context.listing.keys.find(found => found.startsWith(`${key}\n`))
  return first === undefined ? withNotice(state, context, WITHOUT_PARTS[screen]) : moveToKey(state, context, first)
}

/** `esc` on a part: back to the row that it is of. `undefined` elsewhere. */
export function leaveParts(state: State, context: ScreenContext): State | undefined {
  const [key, part] = cursorKey(state, context)?.split('\n') ?? []
  if (!hasTwoLists(state.screen) || listOf(state).filter !== '' || part === undefined) return undefined
  return moveToKey(state, context, key)
}
