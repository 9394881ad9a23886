import type { Runtime } from '../../cli/runtime.ts'
import type { EventStore } from '../../store/store.ts'
import type { HookFeed } from '../../watchdog/hooks/hooks.ts'
import type { Hooks } from '../../watchdog/hooks/target.ts'
import type { Operation } from './http.ts'
import { troubleEntry } from './log/entries.ts'
import { deliveryEntry, paceEntry } from './log/hooks.ts'
import type { WatchdogLog } from './log/log.ts'
import { watchdogHooks } from './open-hooks.ts'
import type { Settings } from './settings.ts'

/** Of the drain the hooks have so long for what they began, ms. */
export const HOOKS_DRAIN_MS = 3_000

/** The hooks of a daemon, which logs and counts what becomes of them. */
export function daemonHooks(
  store: EventStore,
  targets: Hooks,
  runtime: Runtime,
  about: {
    readonly by: string
    readonly settings: Settings
    readonly log: WatchdogLog
    readonly operation: Operation | undefined
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
    onTrouble: (message, error) => log.note(troubleEntry('hooks', message, error)),
    onPace: pace => log.note(paceEntry(pace)),
  })
  operation?.metrics.hooksPending(() => hooks.pending)
  return hooks
}
