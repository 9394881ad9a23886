import { accountUrl, EMULATOR_ACCOUNT, type StoreAddress } from '../address.ts'
import { BadAddress } from '../errors.ts'
import { type AccountSecret, accountFrom, type CredentialEnvironment, EMULATOR_KEY } from './account.ts'

type BlobAddress = StoreAddress & { kind: 'azure' | 'azurite' }

/** A credential that signs requests. It holds secrets: never print it. */
export type AzureCredential = AccountSecret | { readonly kind: 'entra'; readonly source: EntraSource }

/** The Entra ID credential to build. `default` probes several and takes seconds outside Azure: the last resort. */
export type EntraSource =
  | { readonly kind: 'client-secret'; readonly tenantId: string; readonly clientId: string; readonly secret: string }
  | {
      readonly kind: 'client-certificate'
      readonly tenantId: string
      readonly clientId: string
      readonly certificatePath: string
    }
  | { readonly kind: 'workload'; readonly tenantId: string; readonly clientId: string; readonly tokenFile: string }
  | { readonly kind: 'managed'; readonly clientId: string | undefined }
  | { readonly kind: 'cli' }
  | { readonly kind: 'default' }

/** Hosts of Azure Storage in its clouds: https://learn.microsoft.com/azure/storage/common/storage-account-overview */
const AZURE_HOST = /\.blob\.(core\.(windows\.net|usgovcloudapi\.net|chinacloudapi\.cn)|storage\.azure\.net)$/

/**
 * The credential for an address. A key or SAS is used only for its own account, so that it is never sent elsewhere; the default
 * is Entra ID, and for the emulator its well-known key. A token of Entra ID is valid for every account of its owner, so it is
 * sent only to hosts of Azure Storage, of the connection string and of `LEASECTL_TRUSTED_HOSTS`.
 *
 * @throws BadAddress if a token would be sent to another host
 */
export function credentialFor(address: BlobAddress, env: CredentialEnvironment): AzureCredential {
  const named = accountFrom(env)
  const account = address.kind === 'azure' ? address.account : EMULATOR_ACCOUNT
  const sameHost = named !== undefined && new URL(named.endpoint).origin === new URL(accountUrl(address)).origin
  if (named?.credential !== undefined && named.account === account && (sameHost || address.kind === 'azurite'))
    return named.credential
  if (address.kind === 'azurite') return { kind: 'key', account: EMULATOR_ACCOUNT, key: EMULATOR_KEY }
  const host = new URL(accountUrl(address)).hostname
  if (!sameHost && !AZURE_HOST.test(host) && !trustedHosts(env).includes(host)) throw notTrusted(host)
  return { kind: 'entra', source: entraSource(env) }
}

function trustedHosts({ LEASECTL_TRUSTED_HOSTS: hosts = '' }: CredentialEnvironment): string[] {
  return hosts
    .toLowerCase()
    .split(',')
    .map(host => host.trim())
}

function notTrusted(host: string): BadAddress {
  return new BadAddress(`${host} is not a host of Azure Storage, so no token of Entra ID is sent there`, {
    hint: `If you trust it: LEASECTL_TRUSTED_HOSTS=${host}.`,
  })
}

function entraSource(env: CredentialEnvironment): EntraSource {
  const { AZURE_TENANT_ID: tenantId, AZURE_CLIENT_ID: clientId } = env
  if (env.AZURE_TOKEN_CREDENTIALS) return { kind: 'default' }
  if (tenantId && clientId) {
    if (env.AZURE_CLIENT_SECRET) return { kind: 'client-secret', tenantId, clientId, secret: env.AZURE_CLIENT_SECRET }
    const certificatePath = env.AZURE_CLIENT_CERTIFICATE_PATH
    if (certificatePath) return { kind: 'client-certificate', tenantId, clientId, certificatePath }
    const tokenFile = env.AZURE_FEDERATED_TOKEN_FILE
    if (tokenFile) return { kind: 'workload', tenantId, clientId, tokenFile }
  }
  if (env.IDENTITY_ENDPOINT || env.MSI_ENDPOINT) return { kind: 'managed', clientId: clientId || undefined }
  return env.AZURE_STORAGE_AUTH_MODE === 'login' ? { kind: 'cli' } : { kind: 'default' }
}
