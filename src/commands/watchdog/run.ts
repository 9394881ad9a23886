import { openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { isNear, missingFile, openStoreFor, requireFile, storeChoice } from '../../cli/store.ts'
import { keepHeapSmall } from '../../cli/v8-flags.ts'
import { globOf } from '../../ops/glob.ts'
import type { StreamStore } from '../../store/store.ts'
import type { WatchdogOptions } from '../../watchdog/options.ts'
import { readSettings, type Settings, type WatchdogCommandOptions } from './settings.ts'

/** From sweep to sweep, ms: a listing over the network costs money and takes longer. */
const USUAL_INTERVAL_MS = { near: 10_000, far: 30_000 } as const
/** So many streams are read or changed at a time. */
const CONCURRENCY = 8

/** Ends what has outlived its time: until it is stopped, or once. */
export async function watchdog(options: WatchdogCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
  const settings = await readSettings(options)
  if (options.dryRun) runtime.begin('reads')
  const output = await openOutput(options, runtime)
  await keepHeapSmall()
  if (options.once || options.dryRun) {
    const store = await openStoreFor(options, runtime, output)
    requireFile(store.address)
    for (const warning of settings.warnings) await output.say(`warning: ${warning}`)
    const { watchOnce } = await import('./once.ts')
    return watchOnce(store, options, watchdogOptions(settings, store, runtime), settings, output, runtime)
  }
  const { runDaemon } = await import('./daemon.ts')
  const opened = await runtime.openStore(storeChoice(options))
  const told = withMissingFile(settings, opened.store.address)
  return runDaemon(opened, options, told, watchdogOptions(settings, opened.store, runtime), runtime)
}

/** A daemon may be there before its store; but a mistyped path looks like an empty one for ever. */
function withMissingFile(settings: Settings, address: string): Settings {
  const missing = missingFile(address)
  if (missing === undefined) return settings
  return { ...settings, warnings: [...settings.warnings, `${address}: ${missing}: is it the right path?`] }
}

/** How a watchdog of this store works by these settings. */
export function watchdogOptions(settings: Settings, store: StreamStore, runtime: Runtime): WatchdogOptions {
  const { interval, match, onDue, maxPerPass, maxShare } = settings
  return {
    intervalMs: interval ?? (isNear(store.address) ? USUAL_INTERVAL_MS.near : USUAL_INTERVAL_MS.far),
    onDue,
    maxPerPass,
    maxShare,
    concurrency: CONCURRENCY,
    by: `watchdog:${runtime.actor}`,
    observers: [],
    ...(match === undefined ? {} : { names: globOf(match) }),
  }
}
