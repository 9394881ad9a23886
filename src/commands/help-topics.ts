import { table } from '../formats/table.ts'
import { EXIT_CODES } from './exit-codes.ts'

/** Texts of `leasectl help TOPIC`. */
export const TOPICS: { readonly [topic: string]: () => readonly string[] } = {
  'exit-codes': exitCodes,
  addresses: () => ADDRESSES,
  environment: environment,
}

function exitCodes(): string[] {
  const columns = [{ title: 'CODE', align: 'right' }, { title: 'MEANING' }, { title: 'AGAIN?' }] as const
  return table(
    columns,
    EXIT_CODES.map(({ code, meaning, again }) => [String(code), meaning, again]),
  )
}

const ADDRESSES = [
  'Where streams are: --store ADDRESS, else LEASECTL_STORE, else Azure if its usual variables are set',
  '(--container or LEASECTL_CONTAINER names the container, default eventstreams), else the embedded store.',
  '',
  '  sqlite:PATH                     one file on this machine',
  '  azure:ACCOUNT/CONTAINER         Azure Blob Storage',
  '  https://HOST/CONTAINER          any blob endpoint, also http and with the account in the path',
  '  azurite:CONTAINER               the emulator on 127.0.0.1:10000',
  '  azurite://HOST:PORT/CONTAINER   the emulator elsewhere',
  '  memory:                         in this process, for tests',
  '',
  'An address never carries a secret: one with sig= is refused. Keys and tokens come from the environment.',
]

const VARIABLES: readonly (readonly [name: string, meaning: string])[] = [
  ['LEASECTL_STORE', 'where streams are, as --store'],
  ['LEASECTL_CONTAINER', 'container on the Azure account of the environment (default: eventstreams)'],
  ['LEASECTL_OWNER', "the worker's name for event start and its like, as --owner"],
  ['AZURE_STORAGE_CONNECTION_STRING', 'account and key of the storage account'],
  ['AZURE_STORAGE_ACCOUNT', 'the storage account; signing in as az, a managed identity and others do'],
  ['AZURE_STORAGE_KEY', 'its key'],
  ['AZURE_STORAGE_SAS_TOKEN', 'a token for it'],
  ['AZURE_STORAGE_AUTH_MODE', 'login: sign in with Entra ID even where a key is set'],
  ['XDG_DATA_HOME', 'folder of the embedded store (default: ~/.local/share)'],
  ['NO_COLOR', 'no colours'],
  ['FORCE_COLOR', 'colours also into a pipe; 0 for none'],
  ['TERM', 'dumb: no colours'],
]

function environment(): string[] {
  return table([{ title: 'VARIABLE' }, { title: 'MEANING' }], VARIABLES)
}
