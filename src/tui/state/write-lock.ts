import type { World } from './context.ts'
import { type State, UNLOCKED_MS } from './state.ts'
import { EMPTY_FIELD } from './text-field.ts'
import { noted, only, type Transition } from './transition.ts'

/** True if changes are unlocked and the time has not run out. */
export function mayWrite({ writes }: Pick<State, 'writes'>, { nowMs }: Pick<World, 'nowMs'>): boolean {
  return writes.kind === 'unlocked' && nowMs < writes.untilMs
}

/** Why nothing can be changed now; `undefined` if it can. */
export function lockReason(state: Pick<State, 'writes'>, world: Pick<World, 'nowMs'>): string | undefined {
  if (state.writes.kind === 'never') return READ_ONLY
  return mayWrite(state, world) ? undefined : 'changes are locked: ! unlocks them'
}

const READ_ONLY = 'read-only: changes are disabled'

/** `!`: toggles the lock; a protected store asks for its name first. */
export function toggleWrites(state: State, world: World): Transition {
  if (state.writes.kind === 'never') return only(noted(state, world, READ_ONLY, 'warn'))
  if (mayWrite(state, world)) return only(locked(state, world, 'changes are locked'))
  const { isProtected, protectedName: name } = world.facts
  if (!isProtected) return only(unlocked(state, world))
  return only({ ...state, dialog: { kind: 'unlock', name, field: EMPTY_FIELD, isWrong: false } })
}

export function unlocked(state: State, world: World): State {
  const writes = { kind: 'unlocked', untilMs: world.nowMs + UNLOCKED_MS } as const
  return noted(
    { ...state, writes },
    world,
    `changes are unlocked for ${UNLOCKED_MS / 60_000} minutes: ! locks them`,
    'warn',
  )
}

/** Locks changes again when their time has run out. */
export function expired(state: State, world: World): State {
  if (state.writes.kind !== 'unlocked' || mayWrite(state, world)) return state
  return locked(state, world, 'changes are locked again: ! unlocks them')
}

function locked(state: State, world: World, text: string): State {
  return noted({ ...state, writes: { kind: 'locked' } }, world, text)
}
