import type { EventStore } from '../store/store.ts'
import { visibleText } from '../stream/texts.ts'
import type { GlobalOptions } from './options.ts'
import type { Output } from './output.ts'
import type { Runtime, StoreChoice } from './runtime.ts'

/** Opens the store for a command. A changing one says where it writes if nobody named the place on the command line. */
export async function openStoreFor(options: GlobalOptions, runtime: Runtime, output: Output): Promise<EventStore> {
  const { store, address, source } = await runtime.openStore(storeChoice(options))
  if (source === 'azure' && runtime.kind === 'writes') {
    await output.say(`store: ${visibleText(address)} (from the Azure variables of the environment)`)
  } else {
    await output.detail(`store: ${visibleText(address)}`)
  }
  return store
}

/** The part of the options that names a store. */
export function storeChoice({ store, container }: GlobalOptions): StoreChoice {
  return { ...(store === undefined ? {} : { store }), ...(container === undefined ? {} : { container }) }
}
