import { accountUrl, EMULATOR_ACCOUNT, publicEndpoint, type StoreAddress } from '../address.ts'
import { BadAddress } from '../errors.ts'

/** The process environment, or a part of it. */
export type CredentialEnvironment = Readonly<Record<string, string | undefined>>

type BlobAddress = StoreAddress & { kind: 'azure' | 'azurite' }

/** What signs the requests. Holds secrets: never print it. */
export type AzureCredential =
  | { readonly kind: 'key'; readonly account: string; readonly key: string }
  /** `token` without the question mark; `expiresMs` from its `se`, epoch ms. */
  | { readonly kind: 'sas'; readonly token: string; readonly expiresMs: number | undefined }
  | { readonly kind: 'entra'; readonly source: EntraSource }

/** Which Entra ID credential to build. `default` probes several and takes seconds off Azure: the last resort. */
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

/** An account that the environment names: where it is, and what signs, if it is a key or a SAS. */
export interface NamedAccount {
  readonly account: string
  /** The blob URL, without a slash at the end. */
  readonly endpoint: string
  readonly credential: AzureCredential | undefined
}

/** Azurite's well-known key: public, in Microsoft's documentation. */
const EMULATOR_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

/**
 * The account of the usual Azure variables, in the az CLI's order: `AZURE_STORAGE_CONNECTION_STRING`, then
 * `AZURE_STORAGE_ACCOUNT` with `AZURE_STORAGE_KEY`, `AZURE_STORAGE_SAS_TOKEN` or nothing (Entra ID).
 * `undefined` if none is set. Throws `BadAddress` for a connection string that names no account.
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
 * What signs the requests to an address. A key or SAS is used only for the account it belongs to, so that it never
 * travels elsewhere; otherwise Entra ID, for the emulator its well-known key. A token of Entra ID opens every account that its
 * owner may use, so it goes to hosts of Azure Storage, of the connection string and of `LEASECTL_TRUSTED_HOSTS` alone.
 *
 * @throws BadAddress where a token would go to another host
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
  return new BadAddress(`${host} is no host of Azure Storage, so no token of Entra ID is sent there`, {
    hint: `If it is yours: LEASECTL_TRUSTED_HOSTS=${host}.`,
  })
}

/** Reads a connection string. Throws `BadAddress`, without repeating it. */
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

/** `AZURE_STORAGE_AUTH_MODE=login` means Entra ID even where a key lies about. */
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
