import type { Runtime } from '../../cli/runtime.ts'
import { VERSION } from '../../cli/version.ts'
import { transactionJson } from '../../formats/journal.ts'
import { jsonLine } from '../../formats/json.ts'
import type { EventStore } from '../../store/store.ts'
import type { HookFormat } from '../../watchdog/hooks/document.ts'
import { openHooks } from '../../watchdog/hooks/hooks.ts'
import { hookMemory } from '../../watchdog/hooks/memory.ts'
import type { HookFeed, HookOptions } from '../../watchdog/hooks/options.ts'
import type { Hooks } from '../../watchdog/hooks/target.ts'

/** Documents of hooks are printed as all others are: the same transaction as in `tail -o ndjson`. */
export const hookFormat: HookFormat = {
  transaction: (stream, transaction) => transactionJson(stream, transaction, transaction.provisional),
  document: jsonLine,
}

/** The hooks of a watchdog, with their progress kept in the store. */
export function watchdogHooks(
  store: EventStore,
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
    memory: hookMemory(store, by),
    format: hookFormat,
    userAgent: `leasectl/${VERSION}`,
    environment: runtime.env,
  })
}
