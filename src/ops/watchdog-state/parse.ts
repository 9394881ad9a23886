import type { StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { readAside } from '../system-documents.ts'
import {
  type BreakerFigures,
  byStart,
  type LastPass,
  type PassFailure,
  type PassFigures,
  type RecordedDecision,
  type WatchdogEntry,
  type WatchdogSettings,
  type WatchdogState,
} from './state.ts'

/** Limits above anything a watchdog writes: more was written by another program. */
const MOST = { entries: 64, items: 20, shards: 1_024, outcomes: 20 } as const

/**
 * Parses the document. It never throws, whatever the text is, and returns only values that can be printed and
 * calculated with.
 */
export function parseWatchdogState(text: string | undefined): WatchdogState {
  if (text === undefined) return { watchdogs: [], damaged: false }
  const given = fieldsOf(jsonOf(text))?.watchdogs
  if (!Array.isArray(given)) return { watchdogs: [], damaged: true }
  const found = new Map<string, WatchdogEntry>()
  for (const one of given.slice(0, MOST.entries)) {
    const entry = entryOf(one)
    if (entry !== undefined) found.set(entry.id, entry)
  }
  const watchdogs = [...found.values()].sort(byStart)
  return { watchdogs, damaged: watchdogs.length < given.length }
}

function entryOf(value: unknown): WatchdogEntry | undefined {
  const given = fieldsOf(value)
  const id = textOf(given?.id, 64)
  const [startedMs, writtenMs] = [timeOf(given?.startedMs), timeOf(given?.writtenMs)]
  const intervalMs = countOf(given?.intervalMs)
  if (!given || !id || startedMs === undefined || writtenMs === undefined || intervalMs === undefined) return undefined
  return {
    id,
    host: textOf(given.host) ?? '',
    pid: countOf(given.pid) ?? 0,
    version: textOf(given.version) ?? '',
    by: textOf(given.by) ?? '',
    startedMs,
    writtenMs,
    stoppedMs: timeOf(given.stoppedMs),
    intervalMs,
    settings: settingsOf(given.settings),
    lastSweepMs: timeOf(given.lastSweepMs),
    tookMs: countOf(given.tookMs) ?? 0,
    lastPass: lastPassOf(given.lastPass),
    passes: listOf(given.passes, passOf),
    decisions: listOf(given.decisions, decisionOf),
    breaker: breakerOf(given.breaker),
    next: listOf(given.next, upcomingOf),
    shards: shardsOf(given.shards),
    failure: failureOf(given.failure),
    lastFailure: failureOf(given.lastFailure),
    totals: totalsOf(given.totals),
  }
}

function settingsOf(value: unknown): WatchdogSettings {
  const given = fieldsOf(value)
  return {
    match: textOf(given?.match, 1_024),
    onDue: textOf(given?.onDue) ?? '',
    maxPerPass: countOf(given?.maxPerPass) ?? 0,
    maxShare: shareOf(given?.maxShare),
  }
}

function lastPassOf(value: unknown): LastPass | undefined {
  const given = fieldsOf(value)
  const startedMs = timeOf(given?.startedMs)
  if (given === undefined || startedMs === undefined) return undefined
  const number = (name: string) => countOf(given[name]) ?? 0
  return {
    kind: given.kind === 'appointment' ? 'appointment' : 'sweep',
    startedMs,
    tookMs: number('tookMs'),
    total: number('total'),
    watched: number('watched'),
    openEvents: number('openEvents'),
    overdue: number('overdue'),
    documents: number('documents'),
    unreadable: number('unreadable'),
    endedEvents: number('endedEvents'),
    deferred: number('deferred'),
    outcomes: outcomesOf(given.outcomes),
    skewMs: typeof given.skewMs === 'number' && Math.abs(given.skewMs) < MOST_COUNT ? given.skewMs : 0,
  }
}

function outcomesOf(value: unknown): Readonly<Record<string, number>> {
  const words = Object.entries(fieldsOf(value) ?? {}).filter(([word]) => /^[a-z-]{1,40}$/.test(word))
  return Object.fromEntries(words.slice(0, MOST.outcomes).map(([word, count]) => [word, countOf(count) ?? 0]))
}

function passOf(value: unknown): PassFigures | undefined {
  const given = fieldsOf(value)
  const startedMs = timeOf(given?.startedMs)
  if (startedMs === undefined) return undefined
  const [tookMs = 0, ended = 0, overdue = 0] = [given?.tookMs, given?.ended, given?.overdue].map(countOf)
  return { startedMs, tookMs, ended, overdue }
}

function decisionOf(value: unknown): RecordedDecision | undefined {
  const given = fieldsOf(value)
  const [stream, atMs] = [textOf(given?.stream, 1_024), timeOf(given?.atMs)]
  if (!given || !stream || atMs === undefined) return undefined
  const [kind = '', outcome = ''] = [textOf(given.kind), textOf(given.outcome)]
  return {
    stream,
    kind,
    event: textOf(given.event),
    limit: textOf(given.limit),
    dueMs: timeOf(given.dueMs),
    outcome,
    atMs,
  }
}

function breakerOf(value: unknown): BreakerFigures | undefined {
  const given = fieldsOf(value)
  if (given === undefined) return undefined
  const [wouldEnd = 0, openEvents = 0] = [given.wouldEnd, given.openEvents].map(countOf)
  return { isOpen: given.isOpen === true, wouldEnd, openEvents, maxShare: shareOf(given.maxShare) }
}

function upcomingOf(value: unknown): { readonly stream: string; readonly dueMs: number } | undefined {
  const given = fieldsOf(value)
  const [stream, dueMs] = [textOf(given?.stream, 1_024), timeOf(given?.dueMs)]
  return stream && dueMs !== undefined ? { stream, dueMs } : undefined
}

function shardsOf(value: unknown): WatchdogEntry['shards'] {
  const given = fieldsOf(value)
  const total = countOf(given?.total)
  if (total === undefined || total < 1 || total > MOST.shards) return undefined
  const isShard = (shard: unknown) => Number.isInteger(shard) && Number(shard) >= 0 && Number(shard) < total
  const held = Array.isArray(given?.held) ? given.held.slice(0, MOST.shards).filter(isShard).map(Number) : []
  return { held: [...new Set(held)].sort((a, b) => a - b), total }
}

function failureOf(value: unknown): PassFailure | undefined {
  const given = fieldsOf(value)
  const startedMs = timeOf(given?.startedMs)
  if (given === undefined || startedMs === undefined) return undefined
  const [code = '', message = ''] = [textOf(given.code, 64), textOf(given.message, 1_000)]
  return { startedMs, sinceMs: timeOf(given.sinceMs) ?? startedMs, code, message }
}

function totalsOf(value: unknown): WatchdogEntry['totals'] {
  const given = fieldsOf(value)
  const [passes = 0, failed = 0, ended = 0] = [given?.passes, given?.failed, given?.ended].map(countOf)
  return { passes, failed, ended }
}

type Fields = { readonly [name: string]: unknown }

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
}

function listOf<Item>(value: unknown, itemOf: (value: unknown) => Item | undefined): readonly Item[] {
  return Array.isArray(value) ? value.slice(0, MOST.items).flatMap(one => itemOf(one) ?? []) : []
}

function textOf(value: unknown, longest = 200): string | undefined {
  return typeof value === 'string' ? value.slice(0, longest) : undefined
}

const MOST_COUNT = 1e15
/** The last millisecond of the year 9999; later times are invalid. */
const LAST_MS = Date.UTC(10_000, 0) - 1

/** Non-negative whole numbers; measured fractions are rounded. */
function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= MOST_COUNT ? Math.round(value) : undefined
}

function timeOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= LAST_MS ? Math.round(value) : undefined
}

function shareOf(value: unknown): number {
  return typeof value === 'number' && value >= 0 && value <= 1 ? value : 0
}

/** The document in which watchdogs store their states. */
export const WATCHDOG_STATE = '.leasectl/watchdog/state.json'

/**
 * Reads the states that the watchdogs of a store last wrote; without a document there are none. Takes no lease. A
 * damaged document is not a fault: unreadable parts are left out, and the result says so.
 *
 * @throws the store's faults, the signal's reason
 */
export async function readWatchdogState(store: StreamStore, signal?: AbortSignal): Promise<WatchdogState> {
  try {
    return parseWatchdogState(await readAside(store, WATCHDOG_STATE, signal))
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error
    return { watchdogs: [], damaged: true, fault: error.what }
  }
}
