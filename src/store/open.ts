import { join } from 'node:path'
import { containerAddress, DEFAULT_CONTAINER, formatAddress, parseAddress, type StoreAddress } from './address.ts'
import { accountFrom, type CredentialEnvironment, credentialFor } from './azure/account.ts'
import type { StreamStore } from './store.ts'

/** The container of a store that Azure variables name, unless `LEASECTL_CONTAINER` says otherwise. */

/**
 * Opens the store at an address. Each driver is loaded only when it is used. `env` supplies the credentials of Azure
 * addresses. Throws `BadAddress`, and the driver's own faults; Azure is not asked anything yet.
 */
export async function openStore(address: StoreAddress | string, env: CredentialEnvironment): Promise<StreamStore> {
  const where = typeof address === 'string' ? parseAddress(address) : address
  switch (where.kind) {
    case 'memory': {
      const { openMemoryStore } = await import('./memory.ts')
      return openMemoryStore()
    }
    case 'sqlite': {
      const { openSqliteStore } = await import('./sqlite/store.ts')
      return openSqliteStore(where.path)
    }
    case 'azurite':
    case 'azure': {
      const { openAzureBlobStore } = await import('./azure/store.ts')
      return openAzureBlobStore({ address: where, credential: credentialFor(where, env) })
    }
    default:
      return where satisfies never
  }
}

/**
 * The store when nobody names one: Azure if the usual Azure variables are set, with the container of
 * `LEASECTL_CONTAINER` or `eventstreams`, else the embedded store in the XDG data folder.
 */
export function defaultAddress(env: CredentialEnvironment): StoreAddress {
  const account = accountFrom(env)
  if (account !== undefined) return containerAddress(account.endpoint, env.LEASECTL_CONTAINER || DEFAULT_CONTAINER)
  return embeddedAddress(env)
}

/** The embedded store of this user: `$XDG_DATA_HOME/leasectl/leasectl.db`, by default below `~/.local/share`. */
export function embeddedAddress(env: CredentialEnvironment): StoreAddress & { kind: 'sqlite' } {
  const home = env.HOME ?? env.USERPROFILE ?? '.'
  // The XDG specification has relative paths ignored.
  const data = env.XDG_DATA_HOME?.startsWith('/') ? env.XDG_DATA_HOME : join(home, '.local', 'share')
  return { kind: 'sqlite', path: join(data, 'leasectl', 'leasectl.db') }
}

export { formatAddress }
