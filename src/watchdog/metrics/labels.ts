import type { DecisionOutcome } from '../decision.ts'
import type { DeliveryReport } from '../hooks/delivery.ts'

/** Takes the place of every value that is not one of a few: the number of series is bounded, whatever strangers write. */
const OTHER = 'other'

/** Statuses of streams, as far as they are told apart. */
export const STATUSES = [
  'init',
  'inprocess',
  'completed',
  'aborted',
  'canceled',
  'unreadable',
  'not-started',
  OTHER,
] as const

export const OUTCOMES: readonly DecisionOutcome[] = [
  'ended',
  'settled',
  'notified',
  'already',
  'showed-life',
  'busy',
  'gone',
  'refused',
  'failed',
  'unknown',
]

/** Codes of the faults for which a pass comes to no end. */
export const FAILURE_CODES = [
  'store-unreachable',
  'not-permitted',
  'container-missing',
  'store-full',
  'store-damaged',
  'store-incompatible',
  'lease-lost',
  'timed-out',
  'unexpected',
  OTHER,
] as const

export const HOOK_OUTCOMES: readonly DeliveryReport['outcome'][] = ['delivered', 'retrying', 'given-up', 'left']

/** The value if it is one of these, otherwise `other`. */
export function known(values: readonly string[], value: string): string {
  return values.includes(value) ? value : OTHER
}
