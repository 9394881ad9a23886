export type CheckStatus = 'ok' | 'warning' | 'critical'

/** Thresholds of a count; without `crit` it is never critical. */
export interface CountLimits {
  readonly warn: number
  readonly crit?: number
}

/** Thresholds of an age, ms; without `critMs` it is never critical. */
export interface AgeLimits {
  readonly warnMs: number
  readonly critMs?: number
}

/** Compares an age, ms, with its limits; `undefined`: there is none. */
export function ageStatus(ageMs: number | undefined, { warnMs, critMs }: AgeLimits): CheckStatus {
  return statusOf(ageMs ?? Number.NEGATIVE_INFINITY, warnMs, critMs)
}

/** Compares a count with its limits. */
export function countStatus(count: number, { warn, crit }: CountLimits): CheckStatus {
  return statusOf(count, warn, crit)
}

/** The worst of several; `ok` of none. */
export function worst(all: readonly CheckStatus[]): CheckStatus {
  if (all.includes('critical')) return 'critical'
  return all.includes('warning') ? 'warning' : 'ok'
}

function statusOf(value: number, warn: number, crit: number = Number.POSITIVE_INFINITY): CheckStatus {
  return value >= crit ? 'critical' : value >= warn ? 'warning' : 'ok'
}
