import type { ScreenContext } from './context.ts'
import { type State, UNLOCKED_MS } from './state.ts'
import { EMPTY_FIELD } from './text-field.ts'
import { only, type Transition, withNotice } from './transition.ts'

/** True if changes are unlocked and the time has not run out. */
export function mayWrite({ writes }: Pick<State, 'writes'>, { nowMs }: Pick<ScreenContext, 'nowMs'>): boolean {
  return writes.kind === 'unlocked' && nowMs < writes.untilMs
}

/** Why nothing can be changed now; `undefined` if it can. */
export function lockReason(state: Pick<State, 'writes'>, context: Pick<ScreenContext, 'nowMs'>): string | undefined {
  if (state.writes.kind === 'never') return READ_ONLY
  return mayWrite(state, context) ? undefined : 'changes are locked: ! unlocks them'
}

const READ_ONLY = 'read-only: changes are disabled'

/** `!`: toggles the lock; a protected store asks for its name first. */
export function toggleWrites(state: State, context: ScreenContext): Transition {
  if (state.writes.kind === 'never') return only(withNotice(state, context, READ_ONLY, 'warn'))
  if (mayWrite(state, context)) return only(lock(state, context, 'changes are locked'))
  const { isProtected, protectedName: name } = context.facts
  if (!isProtected) return only(unlock(state, context))
  return only({ ...state, dialog: { kind: 'unlock', name, field: EMPTY_FIELD, isWrong: false } })
}

export function unlock(state: State, context: ScreenContext): State {
  const writes = { kind: 'unlocked', untilMs: context.nowMs + UNLOCKED_MS } as const
  return withNotice(
    { ...state, writes },
    context,
    `changes are unlocked for ${UNLOCKED_MS / 60_000} minutes: ! locks them`,
    'warn',
  )
}

/** Locks changes again when their time has run out. */
export function lockExpired(state: State, context: ScreenContext): State {
  if (state.writes.kind !== 'unlocked' || mayWrite(state, context)) return state
  return lock(state, context, 'changes are locked again: ! unlocks them')
}

function lock(state: State, context: ScreenContext, text: string): State {
  return withNotice({ ...state, writes: { kind: 'locked' } }, context, text)
}
