import { type Glob, storedGlobOf } from '../glob.ts'
import { type CarriedDecision, livenessOf, type WatchdogEntry } from './state.ts'

type Upcoming = WatchdogEntry['next'][number]

/** One that is there. */
interface Watcher {
  readonly entry: WatchdogEntry
  /** The names it watches; `undefined` for all. */
  readonly names: Glob | undefined
}

/**
 * What the watchdogs that are there watch for, the soonest first; what several of them watch stands there once. One that
 * is late may be gone, and what it knew is old: others have what it watched. What has ended since a watchdog wrote down
 * its limit, or was not found any more by one that swept later, is left out.
 *
 * @param nowMs the store's clock, epoch ms
 */
export function upcoming(watchdogs: readonly WatchdogEntry[], nowMs: number): readonly Upcoming[] {
  const live = watchdogs.filter(entry => livenessOf(entry, nowMs) === 'live').map(watcherOf)
  const decisions = watchdogs.flatMap(entry => entry.decisions)
  const due = new Map<string, number>()
  for (const { entry } of live) {
    for (const item of entry.next) {
      const { stream, dueMs } = item
      if (dueMs <= nowMs && (isDecided(item, entry, decisions) || isMissed(item, entry, live))) continue
      due.set(stream, Math.min(dueMs, due.get(stream) ?? dueMs))
    }
  }
  return [...due].map(([stream, dueMs]) => ({ stream, dueMs })).sort((a, b) => a.dueMs - b.dueMs)
}

function watcherOf(entry: WatchdogEntry): Watcher {
  const { match } = entry.settings
  return { entry, names: match === undefined ? undefined : storedGlobOf(match) }
}

/** After these there is nothing left to wait for. */
const OVER: readonly string[] = ['ended', 'settled', 'already', 'gone']

/** A decision about another event of the stream, whose limit ended before, says nothing of this one. */
function isDecided(
  { stream, dueMs }: Upcoming,
  { writtenMs }: WatchdogEntry,
  decisions: readonly CarriedDecision[],
): boolean {
  return decisions.some(decision => {
    if (decision.stream !== stream || decision.atMs < dueMs || !OVER.includes(decision.outcome)) return false
    if (decision.kind === 'abort-stream') return true
    return decision.dueMs === undefined ? decision.atMs > writtenMs : decision.dueMs >= dueMs
  })
}

/** Another one that watches all that this one does swept later, and would have it in its list. */
function isMissed({ stream, dueMs }: Upcoming, entry: WatchdogEntry, live: readonly Watcher[]): boolean {
  return live.some(watcher => {
    const other = watcher.entry
    if (other === entry || !watchesToo(watcher, entry, stream)) return false
    const sweepMs = (other.lastSweepMs ?? 0) - other.tookMs
    const isListed = other.next.some(item => item.stream === stream)
    const last = other.next.at(-1)
    return sweepMs > Math.max(entry.writtenMs, dueMs) && !isListed && (last === undefined || last.dueMs > dueMs)
  })
}

function watchesToo({ entry: { settings, shards }, names }: Watcher, entry: WatchdogEntry, stream: string): boolean {
  if (settings.match !== entry.settings.match && names?.matches(stream) === false) return false
  if (shards === undefined) return true
  return shards.total === entry.shards?.total && entry.shards.held.every(shard => shards.held.includes(shard))
}
