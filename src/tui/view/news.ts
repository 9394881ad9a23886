import { calmSpan, spacedCount, spacedCounted } from '../../formats/terminal/numbers.ts'
import { problemsOf } from '../../formats/watchdog-status.ts'
import type { WatchdogEntry } from '../../ops/watchdog-state/state.ts'
import type { Data } from '../data/types.ts'
import { unwatchedStores } from '../data/unwatched.ts'
import type { Scene } from '../state/context.ts'
import { placeOf } from '../store-key.ts'
import { currentHealth } from './health.ts'
import type { StyledText } from './row.ts'
import { safeText } from './safe-text.ts'
import { pastText, type RowTime, screenFormat } from './times.ts'
import { silenceMs } from './title.ts'

/** What must be known at once, the worst only: an outage, the running change, limits that nobody enforces, a slow store. */
export function newsOf(scene: Scene): StyledText {
  const { data, state } = scene
  const { error } = data.freshness
  if (error !== undefined) return [safeText(outageText(scene, error.message)), 'bad']
  const hungMs = silenceMs(data.freshness, scene.nowMs)
  if (hungMs !== undefined) return [silenceText(scene, hungMs), 'bad']
  const { batch } = state
  if (batch !== undefined && batch.end === undefined) {
    const done = `${spacedCount(batch.outcomes.length)} of ${spacedCount(batch.preview.count)}`
    return [`${batch.preview.verb}: ${done} done${batch.isStopping ? ', stopping' : ''}, O shows them`, 'active']
  }
  return watchNews(scene) ?? [slowText(scene), 'warn']
}

function silenceText({ data, nowMs }: Scene, hungMs: number): string {
  const { polledMs, store } = data.freshness
  const shown = polledMs === undefined ? '' : `; what is shown is ${calmSpan(nowMs - polledMs)} old`
  return `${store === undefined ? 'the store' : safeText(store)} has not answered for ${calmSpan(hungMs)}${shown}`
}

function slowText(scene: Scene): string {
  const { isSlow, intervalMs } = scene.data.freshness
  if (!isSlow || intervalMs < SLOW_MS) return ''
  const soon = nextPollSpan(scene)
  return `the store is slow: ${soon === undefined ? `it is read every ${calmSpan(intervalMs)}` : `next look in ${soon}, r now`}`
}

/** The time until the next poll, from one second on. */
function nextPollSpan({ data, nowMs }: Scene): string | undefined {
  const { nextPollMs, waitingSinceMs } = data.freshness
  if (waitingSinceMs !== undefined || nextPollMs === undefined || nextPollMs - nowMs < 1_000) return undefined
  return calmSpan(nextPollMs - nowMs)
}

/** From this interval on a slow store is news: one long listing is none. */
const SLOW_MS = 5_000

function outageText(scene: Scene, message: string): string {
  const { data, nowMs } = scene
  const { polledMs } = data.freshness
  const soon = nextPollSpan(scene)
  const since = polledMs === undefined ? 'no answer yet' : `stale ${calmSpan(nowMs - polledMs)}`
  return `${since}, ${soon === undefined ? 'retrying' : `retrying in ${soon} (r now)`}: ${message}`
}

/** What keeps the watchdogs from ending what is overdue, or that nobody watches though there are limits. */
function watchNews({ data, nowMs, state }: Scene): StyledText | undefined {
  const known = data.watchdog.state
  if (known === undefined) return undefined
  const { watchdogs } = known
  const problem = problemsOf(watchdogs, screenFormat(nowMs, state.time))[0]
  if (problem !== undefined) return [`watchdog ${problem}`, 'bad']
  const { limited, overdue } = currentHealth(data.streams, nowMs)
  const unwatched = unwatchedStores(known, nowMs)
  if (limited === 0 || unwatched.length === 0) return undefined
  if (known.stores !== undefined) return unwatchedNews(data, unwatched)
  const who = lastWatchText(watchdogs, { nowMs, time: state.time })
  return overdue > 0
    ? [`${who}: ${spacedCounted(overdue, 'stream')} past the limit`, 'bad']
    : [`${who}: ${spacedCounted(limited, 'stream')} with a limit`, 'warn']
}

/** Of several stores, those without a watchdog that have limits. */
function unwatchedNews({ watchdog: { next } }: Data, unwatched: readonly string[]): StyledText | undefined {
  const limited = new Set(next.map(({ stream }) => placeOf(stream)?.context))
  const stores = unwatched.filter(store => limited.has(store))
  if (stores.length === 0) return undefined
  return [
    safeText(
      `no watchdog runs in ${stores.join(', ')}, which ${stores.length === 1 ? 'has' : 'have'} streams with a limit`,
    ),
    'warn',
  ]
}

/** `no watchdog since 50m ago`: the last sign of one. */
function lastWatchText(watchdogs: readonly WatchdogEntry[], moment: RowTime): string {
  const lastMs = Math.max(...watchdogs.map(({ writtenMs }) => writtenMs))
  return watchdogs.length === 0 ? 'no watchdog runs' : `no watchdog runs, the last ${pastText(lastMs, moment)}`
}
