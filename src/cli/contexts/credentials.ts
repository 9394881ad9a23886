import { accountUrl, EMULATOR_ACCOUNT, parseAddress, type StoreAddress } from '../../store/address.ts'
import { accountFrom } from '../../store/azure/account.ts'
import { credentialFor } from '../../store/azure/credential.ts'
import { BadAddress } from '../../store/errors.ts'
import { nearest } from '../../util/strings.ts'
import { UsageError } from '../problem.ts'
import { readPrivateFile } from '../user-files.ts'

type Environment = Readonly<Record<string, string | undefined>>
type BlobAddress = StoreAddress & { kind: 'azure' | 'azurite' }

/** Variables that name an account or sign requests. A credential file replaces those of the environment. */
const STORAGE = [
  'AZURE_STORAGE_CONNECTION_STRING',
  'AZURE_STORAGE_ACCOUNT',
  'AZURE_STORAGE_KEY',
  'AZURE_STORAGE_SAS_TOKEN',
  'AZURE_STORAGE_AUTH_MODE',
]
const SIGN_IN = ['AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET', 'AZURE_CLIENT_CERTIFICATE_PATH']
const KNOWN = [...STORAGE, ...SIGN_IN]

/**
 * The environment for the driver of a store: the variables of the credential file replace those of Azure. The file has
 * lines NAME=VALUE, as an EnvironmentFile of systemd.
 *
 * @throws UsageError for a file that others can read, or that is not for this store; never with the content of the file
 */
export function credentialEnvironment(store: string, file: string, env: Environment): Environment {
  const address = parseAddress(store)
  if (address.kind !== 'azure' && address.kind !== 'azurite')
    throw new UsageError(`${store} needs no credential file`, { hint: 'Only stores on Azure take one.' })
  const text = readPrivateFile(file)
  if (text === undefined)
    throw new UsageError(`the credential file ${file} is missing`, { hint: 'context add --replace names another.' })
  const given = assignments(text, file)
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !KNOWN.includes(name)))
  const merged = { ...rest, ...given, ...secretOf(given, address) }
  checkAccount(merged, address, file)
  return merged
}

/** Whether opening this store needs a token of Entra ID, which can take seconds or need a user. */
export function needsSignIn(store: string, env: Environment): boolean {
  const address = parseAddress(store)
  return (address.kind === 'azure' || address.kind === 'azurite') && credentialFor(address, env).kind === 'entra'
}

/** A key or SAS alone is for the account and endpoint of the address. */
function secretOf(given: Environment, address: BlobAddress): Environment {
  const key = given.AZURE_STORAGE_KEY
  const sas = given.AZURE_STORAGE_SAS_TOKEN?.replace(/^\?/, '')
  if (given.AZURE_STORAGE_CONNECTION_STRING || given.AZURE_STORAGE_ACCOUNT || !(key || sas)) return {}
  const signs = key ? `AccountKey=${key}` : `SharedAccessSignature=${sas}`
  const account = `BlobEndpoint=${accountUrl(address)};AccountName=${accountOf(address)}`
  return { AZURE_STORAGE_CONNECTION_STRING: `${account};${signs}` }
}

function checkAccount(env: Environment, address: BlobAddress, file: string): void {
  const named = accountIn(env, file)
  if (named === undefined || named === accountOf(address)) return
  throw new UsageError(`${file} is for the account ${named}, the store is on ${accountOf(address)}`, {
    hint: 'Name the file of that account, or leave the account out of it.',
  })
}

function accountIn(env: Environment, file: string): string | undefined {
  try {
    return accountFrom(env)?.account
  } catch (cause) {
    if (!(cause instanceof BadAddress)) throw cause
    throw new UsageError(`${file}: ${cause.message}`, { cause, ...(cause.hint ? { hint: cause.hint } : {}) })
  }
}

function accountOf(address: BlobAddress): string {
  return address.kind === 'azure' ? address.account : EMULATOR_ACCOUNT
}

/** Reads the lines. Errors name the line, never its content. */
function assignments(text: string, file: string): Environment {
  const found: Record<string, string> = {}
  for (const [at, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const [, name, value = ''] = /^(?:export\s+)?(AZURE_[A-Z_]+)=(.*)$/.exec(line) ?? []
    const where = `${file}, line ${at + 1}`
    if (name === undefined)
      throw new UsageError(`${where} does not set an Azure variable`, { hint: 'For example AZURE_STORAGE_KEY=…' })
    if (!KNOWN.includes(name)) throw unknownName(name, where)
    found[name] = value.replace(/^(["'])(.*)\1$/, '$2')
  }
  if (Object.keys(found).length > 0) return found
  throw new UsageError(`${file} is empty`, { hint: `It can set ${KNOWN.join(', ')}.` })
}

function unknownName(name: string, where: string): UsageError {
  const near = nearest(name, KNOWN)
  return new UsageError(`${where}: ${name} is not known`, {
    hint: near === undefined ? `Known are ${KNOWN.join(', ')}.` : `did you mean ${near}?`,
  })
}
