import { MAX_ASIDE_BYTES } from '../../ops/system-documents.ts'
import { parseWatchdogState } from '../../ops/watchdog-state/parse.ts'
import { byStart, livenessOf, type WatchdogEntry } from '../../ops/watchdog-state/state.ts'

/** Entries of watchdogs that are gone are kept so long, ms. */
const KEPT_MS = 24 * 60 * 60_000
const MOST_ENTRIES = 32

/**
 * The text of the document with the entry put in, or in place of an earlier one of the same watchdog. What others wrote is
 * kept as far as it is understood, and dropped a day after they are gone, and where they come from further ahead. It fits into a small document, whatever it takes.
 *
 * @param nowMs the store's clock, epoch ms
 */
export function withEntry(text: string | undefined, entry: WatchdogEntry, nowMs: number): string {
  const others = parseWatchdogState(text).watchdogs.filter(({ id }) => id !== entry.id)
  const [gone = [], there = []] = [true, false].map(wanted => others.filter(other => isGone(other, nowMs) === wanted))
  const late = gone.filter(({ writtenMs }) => Math.abs(nowMs - writtenMs) <= KEPT_MS)
  const ranked = [entry, ...there.sort(latestFirst), ...late.sort(latestFirst)].slice(0, MOST_ENTRIES)
  return fitting(ranked, 1 + there.length)
}

/** Of the lists of those who are there, and of those who are gone, so many items each; tried in turn. */
const CUTS: readonly (readonly [there: number, gone: number])[] = [
  [20, 20],
  [20, 5],
  [20, 0],
  [10, 0],
  [5, 0],
  [2, 0],
  [0, 0],
]

/** @param ranked those who can be spared last; the first `there` of them are there */
function fitting(ranked: readonly WatchdogEntry[], there: number): string {
  for (const [most, ofGone] of CUTS) {
    const text = textOf(ranked.map((entry, rank) => cut(entry, rank < there ? most : ofGone)))
    if (Buffer.byteLength(text) <= MAX_ASIDE_BYTES) return text
  }
  return fitting(ranked.slice(0, -1), there)
}

function cut(entry: WatchdogEntry, most: number): WatchdogEntry {
  const { decisions, next, passes } = entry
  return { ...entry, decisions: decisions.slice(0, most), next: next.slice(0, most), passes: passes.slice(0, most) }
}

function textOf(ranked: readonly WatchdogEntry[]): string {
  const watchdogs = [...ranked].sort(byStart)
  return `${JSON.stringify({ apiVersion: 'leasectl/v1', kind: 'watchdog-state', watchdogs })}\n`
}

function isGone(entry: WatchdogEntry, nowMs: number): boolean {
  return ['silent', 'stopped'].includes(livenessOf(entry, nowMs))
}

function latestFirst(a: WatchdogEntry, b: WatchdogEntry): number {
  return b.writtenMs - a.writtenMs
}
