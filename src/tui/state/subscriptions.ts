import type { ScreenContext } from './context.ts'
import { cursorKey, moveToKey } from './cursor.ts'
import type { State } from './state.ts'
import { withNotice } from './transition.ts'

/** `enter` on a subscription: to the first of its streams that do not go on. `undefined` on one of these. */
export function enterSubscription(state: State, context: ScreenContext): State | undefined {
  const key = cursorKey(state, context)
  if (state.screen !== 'subscriptions' || key === undefined || key.includes('\n')) return undefined
  const first = context.listing.keys.find(found => found.startsWith(`${key}\n`))
  return first === undefined
    ? withNotice(state, context, 'no stream of it waits or is parked')
    : moveToKey(state, context, first)
}

/** `esc` on a stream of a subscription: back to the subscription. `undefined` elsewhere. */
export function leaveSubscription(state: State, context: ScreenContext): State | undefined {
  const [key, stream] = cursorKey(state, context)?.split('\n') ?? []
  if (state.screen !== 'subscriptions' || state.lists.subscriptions.filter !== '' || stream === undefined)
    return undefined
  return moveToKey(state, context, key)
}
