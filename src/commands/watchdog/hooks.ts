import type { Runtime } from '../../cli/runtime.ts'
import { VERSION } from '../../cli/version.ts'
import { transactionJson } from '../../formats/journal.ts'
import { jsonLine } from '../../formats/json.ts'
import type { StreamStore } from '../../store/store.ts'
import type { HookFormat } from '../../watchdog/hooks/events.ts'
import { type HookFeed, openHooks } from '../../watchdog/hooks/hooks.ts'
import type { HookOptions } from '../../watchdog/hooks/options.ts'
import { hookPositions } from '../../watchdog/hooks/position-store.ts'
import type { Hooks } from '../../watchdog/hooks/target.ts'
import type { HttpEndpoints } from './http.ts'
import { deliveryEntry, faultEntry, lagEntry } from './log/entries.ts'
import type { WatchdogLog } from './log/log.ts'
import type { Settings } from './settings.ts'

/** The share of the drain time for deliveries in flight, ms. */
export const HOOKS_DRAIN_MS = 3_000

/** Hooks of a daemon, with logs and metrics of their deliveries. */
export function daemonHooks(
  store: StreamStore,
  targets: Hooks,
  runtime: Runtime,
  about: {
    readonly by: string
    readonly settings: Settings
    readonly log: WatchdogLog
    readonly operation: HttpEndpoints | undefined
  },
): HookFeed {
  const { by, settings, log, operation } = about
  const hooks = watchdogHooks(store, targets, runtime, {
    by,
    match: settings.match,
    shards: settings.shards,
    onDelivery: report => {
      log.note(deliveryEntry(report))
      operation?.metrics.delivery(report)
    },
    onTrouble: (message, error) => log.note(faultEntry('hooks', message, error)),
    onPace: pace => log.note(lagEntry(pace)),
  })
  operation?.metrics.hooksPending(() => hooks.pending)
  return hooks
}

/** Hook documents use the JSON of transactions from `tail -o ndjson`. */
export const hookFormat: HookFormat = {
  transaction: (stream, transaction) => transactionJson(stream, transaction, transaction.provisional),
  document: jsonLine,
}

/** Hooks of a watchdog; their positions are kept in the store. */
export function watchdogHooks(
  store: StreamStore,
  hooks: Hooks,
  runtime: Runtime,
  options: Pick<HookOptions, 'match' | 'shards' | 'onDelivery' | 'onTrouble' | 'onPace' | 'limits' | 'timing'> & {
    readonly by: string
  },
): HookFeed {
  const { by, ...others } = options
  return openHooks({
    ...others,
    store,
    hooks,
    memory: hookPositions(store, by),
    format: hookFormat,
    userAgent: `leasectl/${VERSION}`,
    environment: runtime.env,
  })
}
