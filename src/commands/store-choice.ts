import { formatAddress, parseAddress, type StoreAddress } from '../store/address.ts'
import { UsageError } from './problem.ts'
import type { OpenedStore, StoreChoice } from './runtime.ts'

type Environment = Readonly<Record<string, string | undefined>>

type StoreDescription = Omit<OpenedStore, 'store'>

/** Where streams are when nobody names a place. */
type DefaultAddress = (env: Environment) => StoreAddress

/** Which store is meant: `--store`, `LEASECTL_STORE`, Azure if its usual variables are set, else the embedded one. */
export function chooseStore(choice: StoreChoice, env: Environment, usual: DefaultAddress): StoreDescription {
  const named = choice.store ?? (env.LEASECTL_STORE || undefined)
  if (named === undefined) return unnamed(choice.container, env, usual)
  if (choice.container !== undefined) {
    const where = choice.store === undefined ? 'LEASECTL_STORE' : '--store'
    throw new UsageError(`--container and ${where} name a store both`, { hint: 'Put the container into the address.' })
  }
  return {
    address: formatAddress(parseAddress(named)),
    source: choice.store === undefined ? 'environment' : 'flag',
    isProtected: false,
  }
}

function unnamed(container: string | undefined, env: Environment, usual: DefaultAddress): StoreDescription {
  const found = usual(container === undefined ? env : { ...env, LEASECTL_CONTAINER: container })
  const source = found.kind === 'sqlite' ? 'default' : 'azure'
  if (container !== undefined && source === 'default') {
    throw new UsageError('--container needs a storage account', {
      hint: 'Set AZURE_STORAGE_ACCOUNT, or use --store azure:ACCOUNT/CONTAINER.',
    })
  }
  return { address: formatAddress(found), source, isProtected: false }
}
