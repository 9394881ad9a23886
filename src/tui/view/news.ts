import { calmSpan, counted, spacedCount } from '../../formats/terminal/numbers.ts'
import { problemsOf } from '../../formats/watchdog-status.ts'
import { livenessOf, type WatchdogEntry } from '../../ops/watchdog-state/state.ts'
import type { Scene } from '../state/context.ts'
import { currentHealth } from './health.ts'
import type { StyledText } from './row.ts'
import { safeText } from './safe-text.ts'
import { pastText, type RowTime, screenFormat } from './times.ts'

/** What must be known at once, the worst only: an outage, the running change, limits that nobody enforces, a slow store. */
export function newsOf(scene: Scene): StyledText {
  const { data, state } = scene
  const { error, isSlow, intervalMs } = data.freshness
  const isNews = isSlow && intervalMs >= SLOW_MS
  if (error !== undefined) return [safeText(outageText(scene, error.message)), 'bad']
  const { batch } = state
  if (batch !== undefined && batch.end === undefined) {
    const done = `${spacedCount(batch.outcomes.length)} of ${spacedCount(batch.preview.count)}`
    return [`${batch.preview.verb}: ${done} done${batch.isStopping ? ', stopping' : ''}, O shows them`, 'active']
  }
  return watchNews(scene) ?? [isNews ? `the store is slow: it is read every ${calmSpan(intervalMs)}` : '', 'warn']
}

/** From this interval on a slow store is news: one long listing is none. */
const SLOW_MS = 5_000

function outageText({ data, nowMs }: Scene, message: string): string {
  const { polledMs } = data.freshness
  const since = polledMs === undefined ? 'no answer yet' : `stale ${calmSpan(nowMs - polledMs)}`
  return `${since}, retrying: ${message}`
}

/** What keeps the watchdogs from ending what is overdue, or that nobody watches though there are limits. */
function watchNews({ data, nowMs, state }: Scene): StyledText | undefined {
  const { watchdogs } = data.watchdog.state ?? {}
  if (watchdogs === undefined) return undefined
  const problem = problemsOf(watchdogs, screenFormat(nowMs, state.time))[0]
  if (problem !== undefined) return [`watchdog ${problem}`, 'bad']
  const { limited, overdue } = currentHealth(data.streams, nowMs)
  if (limited === 0 || watchdogs.some(watchdog => RUNNING.has(livenessOf(watchdog, nowMs)))) return undefined
  const who = lastWatchText(watchdogs, { nowMs, time: state.time })
  return overdue > 0
    ? [`${who}: ${counted(overdue, 'stream')} past the limit`, 'bad']
    : [`${who}: ${counted(limited, 'stream')} with a limit`, 'warn']
}

const RUNNING: ReadonlySet<string> = new Set(['live', 'late'])

/** `no watchdog since 50m ago`: the last sign of one. */
function lastWatchText(watchdogs: readonly WatchdogEntry[], moment: RowTime): string {
  const lastMs = Math.max(...watchdogs.map(({ writtenMs }) => writtenMs))
  return watchdogs.length === 0 ? 'no watchdog runs' : `no watchdog runs, the last ${pastText(lastMs, moment)}`
}
