import type { Runtime } from '../../cli/runtime.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import { globOf } from '../../ops/glob.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleName } from '../../util/visible-text.ts'
import type { WatchdogOptions } from '../../watchdog/options.ts'
import { type PurgeOptions, type PurgeReport, purge, toPurge } from '../../watchdog/purge.ts'
import type { Settings } from './settings.ts'

/** Options of the purge of a store; `undefined` if nobody asked for it. */
export function purgeOptions(
  { purge, match }: Settings,
  { by, concurrency }: WatchdogOptions,
  { host, newId }: Runtime,
): PurgeOptions | undefined {
  if (purge === undefined) return undefined
  return { olderThanMs: purge, by, concurrency, host, newId, ...(match === undefined ? {} : { names: globOf(match) }) }
}

/** Removes old streams, or finds those that would be removed; `undefined` if nobody asked for it. */
export async function purgeOnce(
  store: StreamStore,
  options: PurgeOptions | undefined,
  isDryRun: boolean,
  { signal }: Runtime,
): Promise<PurgeReport | undefined> {
  if (options === undefined) return undefined
  if (!isDryRun) return purge(store, options, signal)
  const { found, hasMore } = await toPurge(store, options, signal)
  return { streams: found.map(({ listed }) => listed.name), left: 0, hasMore }
}

/** Names of purged streams in a sentence, at most. */
const NAMES_SHOWN = 10

/** What a purge did, in a sentence. */
export function purgeText({ streams, left, hasMore }: PurgeReport, isDryRun: boolean): string {
  const shown = streams.slice(0, NAMES_SHOWN).map(visibleName)
  const others = streams.length - shown.length
  const names = shown.length === 0 ? '' : `: ${shown.join(' ')}${others > 0 ? ` +${countText(others)}` : ''}`
  const rest = `${left === 0 ? '' : `; ${countText(left)} left`}${hasMore ? '; there are more' : ''}`
  return `purge: ${isDryRun ? 'would remove' : 'removed'} ${counted(streams.length, 'old stream')}${names}${rest}`
}
