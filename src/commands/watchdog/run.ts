import { openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { checkMayChange, isNear, missingFile, openStoreFor, requireFile, storeChoice } from '../../cli/store.ts'
import { keepHeapSmall } from '../../cli/v8-flags.ts'
import { globOf } from '../../ops/glob.ts'
import { takeAsSigterm } from '../../process/as-sigterm.ts'
import type { StreamStore } from '../../store/store.ts'
import type { WatchdogOptions } from '../../watchdog/options.ts'
import { readSettings, type Settings, type WatchdogCommandOptions } from './settings.ts'

/** Default interval between sweeps, ms: listing over the network costs money and takes longer. */
const USUAL_INTERVAL_MS = { near: 10_000, far: 30_000 } as const
/** Number of streams read concurrently. */
const READS = 8
/** The same for changes: those of a file that are made at the same time share a commit. */
const CHANGES = { near: 64, far: 8 } as const

/** Aborts overdue events: until it is stopped, or in one pass. */
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
  using _signals = takeAsSigterm()
  const opened = await runtime.openStore(storeChoice(options))
  await checkMayChange(opened)
  const checked = withMissingFile(settings, opened.store.address)
  return await runDaemon(opened, options, checked, watchdogOptions(settings, opened.store, runtime), runtime)
}

/** A daemon may start before its store exists, but a mistyped path would look like an empty store forever. */
function withMissingFile(settings: Settings, address: string): Settings {
  const missing = missingFile(address)
  if (missing === undefined) return settings
  return { ...settings, warnings: [...settings.warnings, `${address}: ${missing}: is the path right?`] }
}

/** Options of the watchdog of a store. */
export function watchdogOptions(settings: Settings, store: StreamStore, runtime: Runtime): WatchdogOptions {
  const { interval, match, onDue, maxPerPass, maxShare } = settings
  const place = isNear(store.address) ? 'near' : 'far'
  return {
    intervalMs: interval ?? USUAL_INTERVAL_MS[place],
    onDue,
    maxPerPass,
    maxShare,
    concurrency: READS,
    changeConcurrency: CHANGES[place],
    by: `watchdog:${runtime.actor}`,
    observers: [],
    ...(match === undefined ? {} : { names: globOf(match) }),
  }
}
