import { type Glob, storedGlobOf } from '../glob.ts'
import { livenessOf, type RecordedDecision, type WatchdogEntry } from './state.ts'

type Upcoming = WatchdogEntry['next'][number]

/** A running watchdog. */
interface Watcher {
  readonly entry: WatchdogEntry
  /** Glob of the watched names; `undefined` for all. */
  readonly names: Glob | undefined
}

/**
 * The next deadlines that running watchdogs watch, the soonest first, each stream once. A watchdog that is late may be
 * gone and its knowledge outdated, so it is ignored: others have taken over its streams. Deadlines are left out if a
 * decision has settled them since they were written, or if another watchdog swept later without finding them.
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

/** Outcomes that settle a deadline. */
const OVER: readonly string[] = ['ended', 'settled', 'already', 'gone']

/** A decision about an earlier deadline of another event in the stream settles nothing here. */
function isDecided(
  { stream, dueMs }: Upcoming,
  { writtenMs }: WatchdogEntry,
  decisions: readonly RecordedDecision[],
): boolean {
  return decisions.some(decision => {
    if (decision.stream !== stream || decision.atMs < dueMs || !OVER.includes(decision.outcome)) return false
    if (decision.kind === 'abort-stream') return true
    return decision.dueMs === undefined ? decision.atMs > writtenMs : decision.dueMs >= dueMs
  })
}

/** True if another watchdog of the same streams swept later and does not list the deadline, although it would. */
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
