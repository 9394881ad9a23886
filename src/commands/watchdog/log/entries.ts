import type { Style } from '../../../formats/terminal/style.ts'
import { LeasectlError } from '../../../stream/errors.ts'
import { shortTime } from './times.ts'

/** From the least to the most important. */
export const LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type Level = (typeof LEVELS)[number]

/** One line of the log. */
export interface Entry {
  readonly level: Level
  /** What happened, one stable word: `ended`, `outage`. */
  readonly kind: string
  /** The sentence. Times in it are RFC 3339 in UTC. */
  readonly text: string
  readonly stream?: string
  /** Id of the event, and its name. */
  readonly event?: string
  readonly name?: string
  /** What else a program may want to know, under stable names. Never an error itself: an SDK's carries addresses with secrets. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** How the kind is painted; by level unless given. */
  readonly style?: Style
}

/** The begin of the log. */
export function startEntry(about: {
  readonly version: string
  readonly store: string
  readonly pid: number
  readonly settings: Readonly<Record<string, unknown>>
}): Entry {
  const { version, store, pid, settings } = about
  return {
    level: 'info',
    kind: 'start',
    text: `leasectl ${version} watches ${store}`,
    fields: { version, store, node: process.version, pid, ...settings },
  }
}

/** Where probes and metrics are answered. Anybody in the network can read what other machines can reach. */
export function listeningEntry({ address, isLoopback }: { address: string; isLoopback: boolean }): Entry {
  const what = `/livez, /readyz and /metrics are on http://${address}`
  return {
    level: isLoopback ? 'info' : 'warn',
    kind: 'listen',
    text: isLoopback ? what : `${what}: whoever reaches this address reads them, without signing in`,
    fields: { address, loopback: isLoopback },
  }
}

/** The signal came: what is in flight goes on to its end. */
export function stoppingEntry(signal: string): Entry {
  return { level: 'info', kind: 'stopping', text: `asked to by ${signal}`, fields: { signal } }
}

/** The last line. @param tookMs from the signal on */
export function stopEntry(tookMs: number): Entry {
  return {
    level: 'info',
    kind: 'stop',
    text: `stopped after ${shortTime(tookMs)}`,
    fields: { tookMs: Math.round(tookMs) },
  }
}

/** Something goes wrong beside the passes, and is tried again: shards, state, hooks. */
export function troubleEntry(kind: string, text: string, error: unknown): Entry {
  const { code, message } = faultOf(error)
  return { level: 'warn', kind, text: `${text}: ${message} [${code}]`, fields: { code, error: message } }
}

/** What went wrong so goes well again. */
export function easedEntry(kind: string, text: string): Entry {
  return { level: 'info', kind, text }
}

/** Outcomes of a change that are no error, in words. */
const OUTCOMES: ReadonlyMap<unknown, { readonly code: string; readonly message: string }> = new Map([
  ['busy', { code: 'lease-held', message: 'another holds its lease' }],
  ['unknown', { code: 'unknown', message: 'no answer tells whether it was written' }],
])

/** What is given up for having taken too long is a store that did not answer. */
function faultOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof LeasectlError) return error
  const outcome = OUTCOMES.get(error)
  if (outcome !== undefined) return outcome
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return { code: 'store-unreachable', message: 'the store did not answer in time' }
  }
  return { code: 'unexpected', message: error instanceof Error ? error.message : String(error) }
}
