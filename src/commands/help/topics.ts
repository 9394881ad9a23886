import { type ContextEnvironment, contextsPath } from '../../cli/contexts/contexts.ts'
import { EXIT_CODES } from '../../cli/exit-codes.ts'
import { dashboardPath } from '../../cli/user-files.ts'
import { table } from '../../formats/terminal/table.ts'
import { visibleText } from '../../util/visible-text.ts'
import { runFolder } from '../batch/run-file/names.ts'

/** The texts of `leasectl help TOPIC`, in lines of any length. */
export const TOPICS: { readonly [topic: string]: () => readonly string[] } = {
  'exit-codes': exitCodes,
  addresses: () => ADDRESSES,
  selections: () => SELECTIONS,
  environment: environment,
}

/** The folders and files of this user, under `help environment`. */
export function placesOf(env: ContextEnvironment, embedded: string): readonly string[] {
  const places: readonly (readonly [what: string, path: string])[] = [
    ['embedded store', embedded],
    ['contexts', contextsPath(env)],
    ['top', dashboardPath(env)],
    ['run files', runFolder(env)],
  ]
  return ['', 'For you these are:', '', ...places.map(([what, path]) => `  ${what.padEnd(14)}  ${visibleText(path)}`)]
}

/** Wraps lines at spaces to a width. The last column of a line continues below itself. */
export function brokenLines(lines: readonly string[], width: number): string[] {
  return lines.flatMap(line => broken(line, width))
}

/** The indent, or everything before the last column. */
const BEFORE_TEXT = /^ *(?:\S.*\S {2,}|\S {2,})?/

function broken(line: string, width: number): string[] {
  if (line.length <= width) return [line]
  const indent = ' '.repeat(BEFORE_TEXT.exec(line)?.[0].length ?? 0)
  const end = line.lastIndexOf(' ', width)
  if (end <= indent.length) return [line]
  return [line.slice(0, end), ...broken(indent + line.slice(end + 1), width)]
}

function exitCodes(): string[] {
  const columns = [{ title: 'CODE', align: 'right' }, { title: 'AGAIN?' }, { title: 'MEANING' }] as const
  const rows = EXIT_CODES.map(({ code, meaning, again }) => [String(code), again, meaning])
  return [...table(columns, rows), '', OF_CHECK, '', OF_EXEC]
}

const OF_CHECK =
  'check exits like monitoring plugins: 0 ok, 1 warning, 2 critical, 3 unknown, also for bad usage and its own failures.'

const OF_EXEC =
  'exec exits with the code of its command, or with 128 + N if signal N ended it; its own codes are 125 to 127, and 2 before it starts anything.'

const ADDRESSES = [
  'The store is the first of these that is given:',
  '',
  '  --store ADDRESS       an address',
  '  -c NAME               a context',
  '  LEASECTL_STORE        an address',
  '  LEASECTL_CONTEXT      a context',
  '  the current context   set by context use',
  '  the Azure variables   their account; --container or LEASECTL_CONTAINER, default eventstreams',
  '  the embedded store    leasectl.db in the data folder (see help environment)',
  '',
  'ADDRESS is one of',
  '',
  '  sqlite:PATH                     one file on this machine',
  '  azure:ACCOUNT/CONTAINER         Azure Blob Storage',
  '  https://HOST/CONTAINER          any blob endpoint, also http and with the account in the path',
  '  azurite:CONTAINER               the emulator on 127.0.0.1:10000',
  '  azurite://HOST:PORT/CONTAINER   the emulator elsewhere',
  '  memory:                         in this process, for tests',
  '',
  'An address never contains a secret: one with sig= is refused. Keys and tokens come from the environment, or from the credential file of a context.',
  '',
  'Contexts are named stores, kept in contexts.json in the settings folder, readable only by you:',
  '',
  '  context add prod --store azure:orders4711/events --protected',
  '',
  'In a protected store cancel, abort, retry, ack, rm, import, and export into it ask for confirmation, however the store is named; init and event, which scripts use, do not.',
  '',
  'A credential file, with mode 0600, has lines such as AZURE_STORAGE_KEY=…, AZURE_STORAGE_SAS_TOKEN=…, AZURE_STORAGE_CONNECTION_STRING=… or AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET. It replaces the credentials of the environment for its store, however the store is named.',
]

const SELECTIONS = [
  'cancel, abort, retry, ack, rm, lease break, wait, tail, log, stats, doctor and export select streams in one of four ways. Two ways together are refused, and so is none if streams are required.',
  '',
  '  NAME…                    streams by their full names; a missing one stops the command (--skip-missing skips it)',
  '  filters                  --match --status --failed --overdue --locked --key --topic --tag --tracking-id --since; a stream must match all that are given',
  '  --streams FILE           names, one per line, or lines of ls -o ndjson; - is standard input',
  '  --all                    every stream of the store',
  '',
  '--match is a glob over the whole name: * and ? stop at a /, ** does not. [a-z] matches one of these characters, [!a-z] any other; {a,b} matches a or b. A \\ escapes the next character: a\\[1] is the name a[1]. orders/* matches orders/1 but not orders/1/x; orders/** matches both. The text before the first wildcard narrows the listing: orders/2026-* is fast. An unclosed bracket or brace is refused (2).',
  '',
  'A change applies exactly to the preview, which --dry-run shows. A stream that has changed since is left alone and reported as changed. cancel and abort leave out streams that have ended, retry and ack those without a failure, and count them.',
  '',
  'The more a change can destroy, the more it asks:',
  '',
  '  one by name                   does not ask',
  '  several by name               y or n; without a terminal does not ask',
  '  by filter, --streams, --all   y or n',
  '  50 and more, protected store  type the number of streams; without a terminal --yes, from 50 also --expect N',
  '  rm                            always asks; refuses an open stream without --force',
  '',
  'Each stream has one outcome: done, already, refused, busy, changed, failed or unknown. A batch writes a run file in $XDG_STATE_HOME/leasectl/runs and prints its path at the end. To do the rest:',
  '',
  '  cancel --rerun FILE --only busy,changed',
  '',
  '--rerun last takes the latest run of the command; runs ls lists all of them.',
]

const VARIABLES: readonly (readonly [name: string, meaning: string])[] = [
  ['LEASECTL_STORE', 'address of the store, as --store'],
  ['LEASECTL_CONTEXT', 'name of a context, as -c'],
  ['LEASECTL_CONTAINER', 'container in the Azure account of the environment (default: eventstreams)'],
  ['LEASECTL_OWNER', 'name of the worker for event start and others, as --owner'],
  ['LEASECTL_INBOX_TOKEN', 'bearer token of the clients of inbox serve, if there is no --token-file'],
  ['LEASECTL_STREAM, LEASECTL_EVENT', 'set by exec and work for their program: its event'],
  ['LEASECTL_FENCE', 'set by exec and work: proof of the claim, used by event touch, complete … for that event'],
  ['LEASECTL_BORN', 'set by exec and work: the incarnation of the stream in which the claim is valid'],
  ['LEASECTL_ATTEMPT', 'set by exec and work: number of the attempt, from 1'],
  ['LEASECTL_ATTEMPT_KEY', 'set by exec and work: idempotency key of this attempt of this event'],
  ['LEASECTL_OUTPUT', 'set by exec and work: file in which the program names the next events (see exec --help)'],
  ['LEASECTL_INPUT', 'set by exec and work: file with the input of the event; absent if it has none'],
  ['LEASECTL_RESULT', 'set by exec and work: file in which the program leaves the result of the event, up to 16 MiB'],
  ['LEASECTL_RESULT_TYPE', 'set by exec and work: file in which the program names the media type of the result'],
  ['AZURE_STORAGE_CONNECTION_STRING', 'account and key of the storage account'],
  ['AZURE_STORAGE_ACCOUNT', 'the storage account; signs in with az, a managed identity or others'],
  ['AZURE_STORAGE_KEY', 'key of the storage account'],
  ['AZURE_STORAGE_SAS_TOKEN', 'SAS token for the storage account'],
  ['AZURE_STORAGE_AUTH_MODE', 'login: sign in with Entra ID even if a key is set'],
  ['LEASECTL_TRUSTED_HOSTS', 'further hosts, beyond Azure Storage, that receive tokens of Entra ID: A,B'],
  ['AZURE_TENANT_ID, AZURE_CLIENT_ID', 'identity for Entra ID, with one of the next three'],
  ['AZURE_CLIENT_SECRET', 'secret of the client'],
  ['AZURE_CLIENT_CERTIFICATE_PATH', 'certificate of the client'],
  ['AZURE_FEDERATED_TOKEN_FILE', 'token of a workload identity'],
  ['AZURE_TOKEN_CREDENTIALS', 'which Entra ID credentials to try, as in the Azure SDK'],
  ['OTEL_SERVICE_NAME', 'service.name of the spans of export -o otlp (default: leasectl)'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'headers for the endpoint of export: NAME=VALUE,NAME=VALUE'],
  ['XDG_DATA_HOME', 'folder of the embedded store, leasectl/leasectl.db (default: ~/.local/share)'],
  ['XDG_CONFIG_HOME', 'folder of settings, leasectl/contexts.json (default: ~/.config)'],
  ['XDG_STATE_HOME', 'folder of run files, leasectl/runs (default: ~/.local/state)'],
  ['XDG_CACHE_HOME', 'folder of compiled code; can be deleted at any time (default: ~/.cache)'],
  ['NO_COLOR', 'no colours'],
  ['FORCE_COLOR', 'colours even in a pipe; 0: no colours'],
  ['TERM', 'dumb: no colours, nothing is drawn in place'],
  ['COLORFGBG', 'for top without --theme: whether the background is light or dark'],
  ['CI', 'nothing is drawn in place; does not answer confirmations'],
  ['ACCESSIBLE', '1: top prints lines instead of a screen'],
  ['TZ', 'time zone of --time local, and of times without a zone'],
]

function environment(): string[] {
  return table([{ title: 'VARIABLE' }, { title: 'MEANING' }], VARIABLES)
}
