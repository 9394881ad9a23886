import { hash } from 'node:crypto'
import { InvalidValue } from './errors.ts'
import { parseDuration } from './time/durations.ts'

/** How often an event that fails for a passing reason is tried, and how long the pauses between are (`lc:retry`). */
export interface RetryPolicy {
  /** Number of attempts in all. */
  readonly attempts: number
  /** The longest pause after the first attempt, and after any, ms; in between it doubles. */
  readonly firstMs: number
  readonly capMs: number
}

/** Attempts of an event that names no policy, unless its worker has another limit. */
export const DEFAULT_ATTEMPTS = 5
/** Pauses of an event that names no policy, unless its worker has others. */
export const DEFAULT_BACKOFF = '1s..1m'

/** More attempts are mistakes. */
export const MAX_ATTEMPTS = 1_000
const DAY_MS = 86_400_000
const MAX_PAUSE_MS = 366 * DAY_MS

/** The policy in `lc:retry`; `undefined` without one or if it is unreadable. */
export function retryPolicy(text: string | undefined): RetryPolicy | undefined {
  if (text === undefined) return undefined
  try {
    return parseRetry(text)
  } catch (error) {
    if (error instanceof InvalidValue) return undefined
    throw error
  }
}

/**
 * Parses `N FIRST..CAP`, as in `5 2s..1m`. Without pauses they are 1s..1m.
 * @throws InvalidValue
 */
export function parseRetry(text: string): RetryPolicy {
  const [, count = '', pauses = ''] = /^(\S+)(?:\s+(\S.*))?$/s.exec(text.trim()) ?? []
  return { attempts: parseAttempts(count), ...parseBackoff(pauses === '' ? DEFAULT_BACKOFF : pauses) }
}

/** A number of attempts in all, the first included. @throws InvalidValue */
export function parseAttempts(text: string): number {
  if (/^\d{1,6}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_ATTEMPTS) return Number(text)
  if (text === '0')
    throw new InvalidValue('0 attempts: the first attempt counts, so 1 means that nothing is tried again')
  throw new InvalidValue(`${quoted(text)} is not a number of attempts from 1 to ${MAX_ATTEMPTS}, as in 5 2s..1m`)
}

/** The first pause and the longest, `FIRST..CAP`; one duration means both. @throws InvalidValue */
export function parseBackoff(text: string): Pick<RetryPolicy, 'firstMs' | 'capMs'> {
  const [first = '', cap = first, ...more] = text.trim().split('..')
  if (more.length > 0) throw new InvalidValue(`${quoted(text)}: write the first pause and the longest, as in 2s..1m`)
  const firstMs = parseDuration(first)
  const capMs = parseDuration(cap)
  if (capMs < firstMs) {
    throw new InvalidValue(`${quoted(text)}: the longest pause is shorter than the first; write ${cap}..${first}`)
  }
  if (capMs > MAX_PAUSE_MS) throw new InvalidValue(`${quoted(text)}: a pause is at most 366 days`)
  return { firstMs, capMs }
}

/** The text of `lc:retry` from its parts; `undefined` without any. @throws InvalidValue */
export function retryText(attempts: string | undefined, backoff: string | undefined): string | undefined {
  if (attempts === undefined && backoff === undefined) return undefined
  return normalRetry(`${attempts ?? DEFAULT_ATTEMPTS} ${backoff ?? DEFAULT_BACKOFF}`)
}

/** The text of `lc:retry` for a typed one. @throws InvalidValue */
export function normalRetry(text: string): string {
  const { attempts } = parseRetry(text)
  const [, pauses = DEFAULT_BACKOFF] = /^\S+\s+(.+)$/s.exec(text.trim()) ?? []
  const [first = '', cap = first] = pauses.split('..').map(part => part.replaceAll(/\s+/g, ''))
  return `${attempts} ${first}..${cap}`
}

/**
 * The pause after an attempt, ms: the longest one doubles from attempt to attempt, and the pause is between half of it
 * and all of it. It is drawn from the command id, so that the same command gives the same pause.
 */
export function pauseMs({ firstMs, capMs }: RetryPolicy, attempt: number, commandId: string): number {
  const longestMs = Math.min(capMs, firstMs * 2 ** Math.min(attempt - 1, 50))
  const draw = Number.parseInt(hash('sha256', commandId, 'hex').slice(0, 8), 16) / 0xffff_ffff
  return Math.round(longestMs * (0.5 + draw / 2))
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60))
}
