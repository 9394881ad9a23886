import { EMULATOR_ACCOUNT, publicEndpoint } from '../address.ts'
import { BadAddress } from '../errors.ts'

/** The process environment, or a part of it. */
export type CredentialEnvironment = Readonly<Record<string, string | undefined>>

/** A secret of an account. Never print it. */
export type AccountSecret =
  | { readonly kind: 'key'; readonly account: string; readonly key: string }
  /** `token` has no question mark; `expiresMs` is its `se`, epoch ms. */
  | { readonly kind: 'sas'; readonly token: string; readonly expiresMs: number | undefined }

/** An account from the environment, with its key or SAS if there is one. */
export interface NamedAccount {
  readonly account: string
  /** The blob URL without a slash at the end. */
  readonly endpoint: string
  readonly credential: AccountSecret | undefined
}

/** Azurite's well-known key, published in Microsoft's documentation. */
export const EMULATOR_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

/**
 * The account of the usual Azure variables, in the az CLI's order: `AZURE_STORAGE_CONNECTION_STRING`, then
 * `AZURE_STORAGE_ACCOUNT` with `AZURE_STORAGE_KEY`, `AZURE_STORAGE_SAS_TOKEN` or nothing (Entra ID).
 * `undefined` if none is set. With `AZURE_STORAGE_AUTH_MODE=login` it is Entra ID whatever else is set.
 *
 * @throws BadAddress for a connection string without an account
 */
export function accountFrom(env: CredentialEnvironment): NamedAccount | undefined {
  const isLogin = env.AZURE_STORAGE_AUTH_MODE === 'login'
  const text = env.AZURE_STORAGE_CONNECTION_STRING
  if (text) return { ...parseConnectionString(text), ...(isLogin && { credential: undefined }) }
  const account = env.AZURE_STORAGE_ACCOUNT
  if (!account) return undefined
  const endpoint = account === EMULATOR_ACCOUNT ? `http://127.0.0.1:10000/${account}` : publicEndpoint(account)
  return { account, endpoint, credential: isLogin ? undefined : secretFrom(account, env) }
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

function secretFrom(account: string, env: CredentialEnvironment): AccountSecret | undefined {
  if (env.AZURE_STORAGE_KEY) return { kind: 'key', account, key: env.AZURE_STORAGE_KEY }
  return env.AZURE_STORAGE_SAS_TOKEN ? sasCredential(env.AZURE_STORAGE_SAS_TOKEN) : undefined
}

function sasCredential(text: string): AccountSecret {
  const token = text.replace(/^\?/, '')
  const end = Date.parse(new URLSearchParams(token).get('se') ?? '')
  return { kind: 'sas', token, expiresMs: Number.isNaN(end) ? undefined : end }
}
