import { formatAddress, parseAddress, type StoreAddress } from '../store/address.ts'
import { NotPermitted } from '../store/errors.ts'
import { type Context, type Contexts, contextNamed, isProtectedStore, NO_CONTEXTS } from './contexts/contexts.ts'
import { readContexts } from './contexts/file.ts'
import { UsageError } from './problem.ts'
import type { Kind, OpenOptions, RuntimeStore, StoreChoice } from './runtime.ts'

type Environment = Readonly<Record<string, string | undefined>>

type StoreDescription = Omit<RuntimeStore, 'store'>
type Chosen = Omit<StoreDescription, 'isProtected'>

/** The default store. */
type DefaultAddress = (env: Environment) => StoreAddress

/**
 * Selects the store. The first of these that is given counts: `--store`, `-c`, `LEASECTL_STORE`, `LEASECTL_CONTEXT`, the
 * current context, Azure if its usual variables are set, the embedded store.
 *
 * @throws UsageError if two flags name a store, or the context does not exist
 */
export function chooseStore(
  choice: StoreChoice,
  env: Environment,
  usual: DefaultAddress,
  contexts: Contexts = NO_CONTEXTS,
): StoreDescription {
  const chosen = named(choice, env, contexts) ?? unnamed(choice.container, env, usual)
  return { ...chosen, isProtected: isProtectedStore(chosen.address, contexts) }
}

/**
 * The contexts that apply. An unreadable file stops every command that may change a store, since the store may be
 * protected; a command that only reads the store of `--store` needs no contexts.
 *
 * @throws UsageError as `readContexts`
 */
export function contextsFor(choice: StoreChoice, env: Environment, kind: Kind): Contexts {
  try {
    return readContexts(env)
  } catch (error) {
    if (error instanceof UsageError && kind === 'reads' && choice.store !== undefined) return NO_CONTEXTS
    throw error
  }
}

/** The environment for the driver of a store. A credential file replaces all other credentials in it. */
export async function storeEnvironment(
  { address, credentialFile }: StoreDescription,
  env: Environment,
  { signIn = true }: OpenOptions = {},
): Promise<Environment> {
  if (credentialFile === undefined && signIn) return env
  const { credentialEnvironment, needsSignIn } = await import('./contexts/credentials.ts')
  const seen = credentialFile === undefined ? env : credentialEnvironment(address, credentialFile, env)
  if (!signIn && needsSignIn(address, seen)) throw new NotPermitted(`${address} needs a sign-in`)
  return seen
}

function named(choice: StoreChoice, env: Environment, contexts: Contexts): Chosen | undefined {
  const way = wayOf(choice, env, contexts)
  if (way === undefined) return undefined
  if (choice.container !== undefined) {
    throw new UsageError(`--container and ${way.how} both name a store`, {
      hint: 'Put the container into the address.',
    })
  }
  if (way.kind === 'address') return ofAddress(formatAddress(parseAddress(way.address)), way.source, contexts)
  return ofContext(contextNamed(contexts, way.name, way.how), way.source)
}

/** How the store is named. */
type Way =
  | {
      readonly kind: 'address'
      readonly how: string
      readonly address: string
      readonly source: RuntimeStore['source']
    }
  | { readonly kind: 'context'; readonly how: string; readonly name: string; readonly source: RuntimeStore['source'] }

function wayOf({ store, context }: StoreChoice, env: Environment, contexts: Contexts): Way | undefined {
  const { current } = contexts
  const how = 'LEASECTL_CONTEXT'
  if (store !== undefined && context !== undefined)
    throw new UsageError('--store and -c both name a store', { hint: 'Use one of them.' })
  if (store !== undefined) return { kind: 'address', how: '--store', address: store, source: 'flag' }
  if (context !== undefined) return { kind: 'context', how: '-c', name: context, source: 'context' }
  const { LEASECTL_STORE: address, LEASECTL_CONTEXT: name } = env
  if (address && name && isStoreOf(name, address, contexts)) return { kind: 'context', how, name, source: 'context' }
  if (address) return { kind: 'address', how: 'LEASECTL_STORE', address, source: 'environment' }
  if (name) return { kind: 'context', how, name, source: 'context' }
  return current === undefined
    ? undefined
    : { kind: 'context', how: 'the current context', name: current, source: 'current' }
}

/** `exec` passes both an address and a context to its program: the context may have the credentials. */
function isStoreOf(name: string, address: string, { byName }: Contexts): boolean {
  const context = byName.get(name)
  return context !== undefined && context.store === formatAddress(parseAddress(address))
}

/** Uses the credential file of a store however the store is named, unless two contexts have different files. */
function ofAddress(address: string, source: RuntimeStore['source'], { byName }: Contexts): Chosen {
  const same = [...byName.values()].filter(({ store }) => store === address)
  const [credentialFile, ...others] = new Set(same.flatMap(context => context.credentialFile ?? []))
  return { address, source, ...(credentialFile === undefined || others.length > 0 ? {} : { credentialFile }) }
}

function ofContext({ name, store, credentialFile }: Context, source: RuntimeStore['source']): Chosen {
  return { address: store, source, context: name, ...(credentialFile === undefined ? {} : { credentialFile }) }
}

function unnamed(container: string | undefined, env: Environment, usual: DefaultAddress): Chosen {
  const found = usual(container === undefined ? env : { ...env, LEASECTL_CONTAINER: container })
  const source = found.kind === 'sqlite' ? 'default' : 'azure'
  if (container !== undefined && source === 'default') {
    throw new UsageError('--container needs a storage account', {
      hint: 'Set AZURE_STORAGE_ACCOUNT, or use --store azure:ACCOUNT/CONTAINER.',
    })
  }
  return { address: formatAddress(found), source }
}
