import { EXIT_CODES } from '../../cli/exit-codes.ts'
import { table } from '../../formats/terminal/table.ts'

/** Texts of `leasectl help TOPIC`, in lines of any length. */
export const TOPICS: { readonly [topic: string]: () => readonly string[] } = {
  'exit-codes': exitCodes,
  addresses: () => ADDRESSES,
  selections: () => SELECTIONS,
  environment: environment,
}

/** The lines broken at blanks to so many columns. What stands in a column of its own goes on below itself. */
export function brokenLines(lines: readonly string[], width: number): string[] {
  return lines.flatMap(line => broken(line, width))
}

/** An indent, or all that stands before the last column. */
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
  'check ends as plugins of monitoring do: 0 ok, 1 warning, 2 critical, 3 unknown; 3 also for bad usage and for faults of its own.'

const OF_EXEC =
  'exec ends with the code of its command, and with 128 + N if signal N ended it; what it says of itself is 125 to 127, and 2 before anything was begun.'

const ADDRESSES = [
  'The store meant is the first of these that is given:',
  '',
  '  --store ADDRESS',
  '  -c NAME               a context',
  '  LEASECTL_STORE        an address',
  '  LEASECTL_CONTEXT      a context',
  '  the current context   as context use set it',
  '  the Azure variables   the account they name; --container or LEASECTL_CONTAINER, default eventstreams',
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
  'An address never carries a secret: one with sig= is refused. Keys and tokens come from the environment, or from the credential file of a context.',
  '',
  'Contexts are names for stores, kept in contexts.json in the folder of settings, readable by you alone:',
  '',
  '  context add prod --store azure:orders4711/events --protected',
  '',
  'In a protected store cancel, abort, retry, rm and import, and export into it, ask for a confirmation, whichever way the store is named; init and event, which scripts use, do not.',
  '',
  'A credential file, of mode 0600, has lines as AZURE_STORAGE_KEY=…, AZURE_STORAGE_SAS_TOKEN=…, AZURE_STORAGE_CONNECTION_STRING=… or AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET. It is used for its store, whichever way that is named, in the place of what the environment has.',
]

const SELECTIONS = [
  'cancel, abort, retry, rm, wait, tail, log, stats, doctor and export take their streams in one of four ways; two together, or none where streams are needed, is refused.',
  '',
  '  NAME…                    streams by their whole names; one that is missing stops everything (--skip-missing goes on)',
  '  filters                  --match --status --failed --overdue --locked --key --topic --tag --tracking-id --since; all that are given must hold',
  '  --streams FILE           names, one a line, or lines of ls -o ndjson; - is standard input',
  '  --all                    every stream of the store',
  '',
  '--match is a pattern over the whole name: * and ? stay within a /, ** does not. [a-z] is one of these characters, [!a-z] one of the others; {a,b} is a or b. A \\ takes the next character as it is: a\\[1] is the name a[1]. orders/* has orders/1, not orders/1/x; orders/** has both. What stands before the first of them narrows the listing: orders/2026-* is quick. A bracket or brace that is not closed is refused (2).',
  '',
  'What was previewed is what is changed: --dry-run shows it. A stream that has moved on since is left alone and told as changed. cancel and abort leave out streams that have ended, and count them.',
  '',
  'The more a change may destroy, the more it asks:',
  '',
  '  one or more by name           nothing is asked',
  '  by filter, --streams, --all   y or n',
  '  50 and more, protected store  type the number of streams; without a terminal --yes, from 50 on also --expect N',
  '  rm                            always asks; refuses an open stream without --force',
  '',
  'Each stream has one outcome: done, already, refused, busy, changed, failed or unknown. A batch leaves a run file in $XDG_STATE_HOME/leasectl/runs and names it at the end; the rest of it is done by',
  '',
  '  cancel --rerun FILE --only busy,changed',
]

const VARIABLES: readonly (readonly [name: string, meaning: string])[] = [
  ['LEASECTL_STORE', 'where streams are, as --store'],
  ['LEASECTL_CONTEXT', 'the same by the name of a context, as -c'],
  ['LEASECTL_CONTAINER', 'container on the Azure account of the environment (default: eventstreams)'],
  ['LEASECTL_OWNER', "the worker's name for event start and its like, as --owner"],
  ['LEASECTL_STREAM, LEASECTL_EVENT', 'set by exec and work for their program: what it works on'],
  [
    'LEASECTL_FENCE',
    "set by them too: proof of the claim, which event touch, complete … take for that program's event",
  ],
  ['LEASECTL_BORN', 'set by them: the life of the stream in which that claim holds'],
  ['LEASECTL_ATTEMPT', 'set by them: 1 at the first try'],
  ['LEASECTL_ATTEMPT_KEY', 'set by them: names this try of this event; what was done under it need not be done twice'],
  ['LEASECTL_OUTPUT', 'set by them: the file in which the program says what follows (see exec --help)'],
  ['AZURE_STORAGE_CONNECTION_STRING', 'account and key of the storage account'],
  ['AZURE_STORAGE_ACCOUNT', 'the storage account; signing in as az, a managed identity and others do'],
  ['AZURE_STORAGE_KEY', 'its key'],
  ['AZURE_STORAGE_SAS_TOKEN', 'a token for it'],
  ['AZURE_STORAGE_AUTH_MODE', 'login: sign in with Entra ID even where a key is set'],
  ['LEASECTL_TRUSTED_HOSTS', 'hosts beside those of Azure Storage that get tokens of Entra ID: A,B'],
  ['AZURE_TENANT_ID, AZURE_CLIENT_ID', 'who signs in with Entra ID, with one of the next three'],
  ['AZURE_CLIENT_SECRET', 'by a secret'],
  ['AZURE_CLIENT_CERTIFICATE_PATH', 'by a certificate'],
  ['AZURE_FEDERATED_TOKEN_FILE', 'by the token of a workload'],
  ['AZURE_TOKEN_CREDENTIALS', "which of Entra ID's ways to sign in are tried, as the Azure SDK has it"],
  ['OTEL_SERVICE_NAME', 'service.name of what export -o otlp writes (default: leasectl)'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'headers for the endpoint that export sends to: NAME=VALUE,NAME=VALUE'],
  ['XDG_DATA_HOME', 'folder of the embedded store, leasectl/leasectl.db (default: ~/.local/share)'],
  ['XDG_CONFIG_HOME', 'folder of settings, leasectl/contexts.json (default: ~/.config)'],
  ['XDG_STATE_HOME', 'folder of run files, leasectl/runs (default: ~/.local/state)'],
  ['XDG_CACHE_HOME', 'folder of compiled code; may be deleted at any time (default: ~/.cache)'],
  ['NO_COLOR', 'no colours'],
  ['FORCE_COLOR', 'colours also into a pipe; 0 for none'],
  ['TERM', 'dumb: no colours, nothing is drawn in place'],
  ['COLORFGBG', 'of top: whether the background is light or dark, where --theme does not say'],
  ['CI', 'nothing is drawn in place; never a yes'],
  ['ACCESSIBLE', '1: top prints lines in place of a screen'],
  ['TZ', 'the time zone of --time local, and of times that are given without one'],
]

function environment(): string[] {
  return table([{ title: 'VARIABLE' }, { title: 'MEANING' }], VARIABLES)
}
