import type { Halt } from './position/position.ts'
import type { HaltedStream, Handled, OnPoison } from './types.ts'

/** Tries of a delivery that fails, unless the subscription has its own number: eight within about a quarter of an hour. */
export const DEFAULT_TRIES = 8

/** The longest pause after the first failed try, ms; tripled after each further one. Half of it is jitter. */
const FIRST_PAUSE_MS = 10_000
const LONGEST_PAUSE_MS = 5 * 60_000
/** The same for deliveries that are put off; doubled. */
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000

export interface FailureRules {
  readonly tries: number
  readonly onPoison: OnPoison
  /** A delivery is left to the next process if its next try would come later than this after its first, ms. */
  readonly retryForMs?: number | undefined
}

/**
 * What follows from a delivery that was not handled: the stream waits or is parked, the transaction is left out, or this
 * process leaves it to the next one.
 */
export type AfterFailure =
  | { readonly kind: 'halt'; readonly halt: Halt }
  | { readonly kind: 'skip' }
  | { readonly kind: 'leave' }

/**
 * @param before the stream as it waited until now
 * @param random in [0, 1)
 */
export function afterFailure(
  handled: Extract<Handled, { readonly kind: 'transient' | 'failed' }>,
  before: HaltedStream | undefined,
  { tries: most, onPoison, retryForMs = Number.POSITIVE_INFINITY }: FailureRules,
  nowMs: number,
  random: number,
): AfterFailure {
  const { kind, why, retryAfterMs = 0 } = handled
  const isTransient = kind === 'transient'
  const attempts = (before?.attempts ?? 0) + 1
  const sinceMs = before === undefined || before.attempts === 0 ? nowMs : before.sinceMs
  const tries = (before?.tries ?? 0) + (isTransient ? 0 : 1)
  if (!isTransient && (handled.hopeless || tries >= most)) {
    if (onPoison === 'skip') return { kind: 'skip' }
    return { kind: 'halt', halt: { state: 'parked', tries, attempts, nextMs: 0, why, sinceMs } }
  }
  const longestMs = isTransient
    ? Math.min(FIRST_WAIT_MS * 2 ** Math.min(attempts - 1, 16), LONGEST_WAIT_MS)
    : Math.min(FIRST_PAUSE_MS * 3 ** (tries - 1), LONGEST_PAUSE_MS)
  const nextMs = nowMs + Math.round(Math.max(((1 + random) / 2) * longestMs, retryAfterMs))
  if (nextMs - sinceMs > retryForMs) return { kind: 'leave' }
  return { kind: 'halt', halt: { state: 'waiting', tries, attempts, nextMs, why, sinceMs } }
}
