import type { EventStore } from '../store/store.ts'
import { visibleText } from '../stream/text.ts'
import type { GlobalOptions } from './options.ts'
import type { Output } from './output.ts'
import type { OpenedStore, Runtime, StoreChoice } from './runtime.ts'

/** Opens the store for a command. A changing one says where it writes if nobody named the place on the command line. */
export async function openStoreFor(options: GlobalOptions, runtime: Runtime, output: Output): Promise<EventStore> {
  const opened = await runtime.openStore(storeChoice(options))
  const { store, address, source } = opened
  const line = `store: ${visibleText(address)}${opened.isProtected ? ', protected' : ''} (${sourceText(opened)})`
  const isUnasked = (source === 'azure' || source === 'current') && runtime.kind === 'writes'
  // with -o json stderr is for programs too
  if (isUnasked && options.output !== 'json' && options.output !== 'ndjson') await output.say(line)
  else await output.detail(line)
  return store
}

/** Where the address of a store came from, in words. */
export function sourceText({ source, context }: Pick<OpenedStore, 'source' | 'context'>): string {
  switch (source) {
    case 'flag':
      return 'from --store'
    case 'context':
      return `the context ${context}`
    case 'current':
      return `the current context ${context}`
    case 'environment':
      return 'from LEASECTL_STORE'
    case 'azure':
      return 'from the Azure variables of the environment'
    case 'default':
      return 'the embedded one; --store, -c or LEASECTL_STORE name another'
    default:
      return source satisfies never
  }
}

/** The part of the options that names a store. */
export function storeChoice({ store, container, context }: GlobalOptions): StoreChoice {
  return {
    ...(store === undefined ? {} : { store }),
    ...(container === undefined ? {} : { container }),
    ...(context === undefined ? {} : { context }),
  }
}
