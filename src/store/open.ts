import { join } from 'node:path'
import { containerAddress, DEFAULT_CONTAINER, formatAddress, parseAddress, type StoreAddress } from './address.ts'
import { accountFrom, type CredentialEnvironment } from './azure/account.ts'
import type { StreamStore } from './store.ts'

export interface OpenStoreOptions {
  /** A missing file of an embedded store is `ContainerMissing` to all but creating calls; otherwise it is an empty store. */
  readonly mustExist?: boolean
}

/**
 * Opens the store at an address. A driver is loaded when it is first used. `env` supplies the credentials for Azure
 * addresses; no request is sent yet.
 *
 * @throws BadAddress; the faults of the driver
 */
export async function openStore(
  address: StoreAddress | string,
  env: CredentialEnvironment,
  { mustExist = false }: OpenStoreOptions = {},
): Promise<StreamStore> {
  const where = typeof address === 'string' ? parseAddress(address) : address
  switch (where.kind) {
    case 'memory': {
      const { openMemoryStore } = await import('./memory.ts')
      return openMemoryStore()
    }
    case 'sqlite': {
      const { openSqliteStore } = await import('./sqlite/store.ts')
      return openSqliteStore(where.path, { mustExist })
    }
    case 'azurite':
    case 'azure': {
      const [{ openAzureBlobStore }, { credentialFor }] = await Promise.all([
        import('./azure/store.ts'),
        import('./azure/credential.ts'),
      ])
      return openAzureBlobStore({ address: where, credential: credentialFor(where, env) })
    }
    default:
      return where satisfies never
  }
}

/**
 * The default store: Azure if the usual Azure variables are set, with the container `LEASECTL_CONTAINER` or `eventstreams`;
 * otherwise the embedded store in the XDG data folder.
 */
export function defaultAddress(env: CredentialEnvironment): StoreAddress {
  const account = accountFrom(env)
  if (account !== undefined) return containerAddress(account.endpoint, env.LEASECTL_CONTAINER || DEFAULT_CONTAINER)
  return embeddedAddress(env)
}

/** The embedded store of the user: `$XDG_DATA_HOME/leasectl/leasectl.db`, by default below `~/.local/share`. */
export function embeddedAddress(env: CredentialEnvironment): StoreAddress & { kind: 'sqlite' } {
  const home = env.HOME ?? env.USERPROFILE ?? '.'
  // The XDG specification says that relative paths are ignored.
  const data = env.XDG_DATA_HOME?.startsWith('/') ? env.XDG_DATA_HOME : join(home, '.local', 'share')
  return { kind: 'sqlite', path: join(data, 'leasectl', 'leasectl.db') }
}

export { formatAddress }
