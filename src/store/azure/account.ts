import { accountUrl, EMULATOR_ACCOUNT, publicEndpoint, type StoreAddress } from '../address.ts'
import { BadAddress } from '../errors.ts'

/** The process environment, or a part of it. */
export type CredentialEnvironment = Readonly<Record<string, string | undefined>>

type BlobAddress = StoreAddress & { kind: 'azure' | 'azurite' }

/** A credential that signs requests. It holds secrets: never print it. */
export type AzureCredential =
  | { readonly kind: 'key'; readonly account: string; readonly key: string }
  /** `token` has no question mark; `expiresMs` is its `se`, epoch ms. */
  | { readonly kind: 'sas'; readonly token: string; readonly expiresMs: number | undefined }
  | { readonly kind: 'entra'; readonly source: EntraSource }

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

/** An account from the environment, with its key or SAS if there is one. */
export interface NamedAccount {
  readonly account: string
  /** The blob URL without a slash at the end. */
  readonly endpoint: string
  readonly credential: AzureCredential | undefined
}

/** Azurite's well-known key, published in Microsoft's documentation. */
const EMULATOR_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

/**
 * The account of the usual Azure variables, in the az CLI's order: `AZURE_STORAGE_CONNECTION_STRING`, then
 * `AZURE_STORAGE_ACCOUNT` with `AZURE_STORAGE_KEY`, `AZURE_STORAGE_SAS_TOKEN` or nothing (Entra ID).
 * `undefined` if none is set.
 *
 * @throws BadAddress for a connection string without an account
 */
export function accountFrom(env: CredentialEnvironment): NamedAccount | undefined {
  const text = env.AZURE_STORAGE_CONNECTION_STRING
  if (text) return parseConnectionString(text)
  const account = env.AZURE_STORAGE_ACCOUNT
  if (!account) return undefined
  const endpoint = account === EMULATOR_ACCOUNT ? `http://127.0.0.1:10000/${account}` : publicEndpoint(account)
  return { account, endpoint, credential: secretFrom(account, env) }
}

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

/** Parses a connection string. @throws BadAddress, without repeating it */
export function parseConnectionString(text: string): NamedAccount {
  const parts = new Map<string, string>()
  for (const item of text.split(';')) {
    const equals = item.indexOf('=')
    if (equals > 0) parts.set(item.slice(0, equals).trim().toLowerCase(), item.slice(equals + 1).trim())
  }
  if (parts.get('usedevelopmentstorage')?.toLowerCase() === 'true') {
    return {
      account: EMULATOR_ACCOUNT,
      endpoint: `http://127.0.0.1:10000/${EMULATOR_ACCOUNT}`,
      credential: { kind: 'key', account: EMULATOR_ACCOUNT, key: EMULATOR_KEY },
    }
  }
  const endpoint = parts.get('blobendpoint')?.replace(/\/+$/, '')
  const account = parts.get('accountname') ?? (endpoint === undefined ? undefined : accountOf(endpoint))
  if (account === undefined || (endpoint !== undefined && !URL.canParse(endpoint))) throw badConnectionString()
  const protocol = parts.get('defaultendpointsprotocol') ?? 'https'
  const suffix = parts.get('endpointsuffix') ?? 'core.windows.net'
  const key = parts.get('accountkey')
  const sas = parts.get('sharedaccesssignature')
  return {
    account,
    endpoint: endpoint ?? `${protocol}://${account}.blob.${suffix}`,
    credential: key ? { kind: 'key', account, key } : sas ? sasCredential(sas) : undefined,
  }
}

function badConnectionString(): BadAddress {
  return new BadAddress('AZURE_STORAGE_CONNECTION_STRING names no storage account', {
    hint: 'Copy it again: az storage account show-connection-string --name ACCOUNT.',
  })
}

function accountOf(endpoint: string): string | undefined {
  if (!URL.canParse(endpoint)) return undefined
  const url = new URL(endpoint)
  return url.pathname.length > 1 ? url.pathname.slice(1) : url.hostname.split('.')[0]
}

/** `AZURE_STORAGE_AUTH_MODE=login` means Entra ID even if a key is set. */
function secretFrom(account: string, env: CredentialEnvironment): AzureCredential | undefined {
  if (env.AZURE_STORAGE_AUTH_MODE === 'login') return undefined
  if (env.AZURE_STORAGE_KEY) return { kind: 'key', account, key: env.AZURE_STORAGE_KEY }
  return env.AZURE_STORAGE_SAS_TOKEN ? sasCredential(env.AZURE_STORAGE_SAS_TOKEN) : undefined
}

function sasCredential(text: string): AzureCredential {
  const token = text.replace(/^\?/, '')
  const end = Date.parse(new URLSearchParams(token).get('se') ?? '')
  return { kind: 'sas', token, expiresMs: Number.isNaN(end) ? undefined : end }
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
