import type { StreamFilter } from '../../ops/filter.ts'
import { anyGlobOf } from '../../ops/glob.ts'
import type { Selection } from '../../ops/selection.ts'
import { checkStreamName, isReservedName, isStoredName } from '../../store/names.ts'
import { MAX_READ_BYTES } from '../../stream/limits.ts'
import { defined } from '../../util/defined.ts'
import { UsageError } from '../problem.ts'
import type { Runtime } from '../runtime.ts'
import { atMs, sinceMsOf } from '../values.ts'
import type { FilterOptions, SelectionOptions } from './flags.ts'

/**
 * The selection of the arguments and flags; `undefined` if they select nothing.
 * @param events for commands that change events: lines of a list may name these events, but no others
 * @throws UsageError for two kinds of selection together, and for an unreadable or empty list
 */
export async function readSelection(
  options: SelectionOptions,
  runtime: Runtime,
  events?: readonly string[],
): Promise<Selection | undefined> {
  const filter = filterOf(options, runtime.nowMs())
  const kinds = [
    ...(options.names.length > 0 ? ['names'] : []),
    ...(filter === undefined ? [] : ['filters']),
    ...(options.streams === undefined ? [] : ['--streams']),
    ...(options.all ? ['--all'] : []),
  ]
  if (kinds.length > 1) {
    throw new UsageError(`${kinds.join(' and ')} both select streams`, { hint: 'Use one of them.' })
  }
  if (options.names.length > 0) return { kind: 'names', names: [...new Set(options.names)] }
  if (options.streams !== undefined) return { kind: 'list', names: await namesFrom(options.streams, runtime, events) }
  if (options.all) return { kind: 'filter', filter: {} }
  return filter === undefined ? undefined : { kind: 'filter', filter }
}

/** As `readSelection`, for a command that requires a selection. @throws UsageError */
export async function requireSelection(
  options: SelectionOptions,
  runtime: Runtime,
  events?: readonly string[],
): Promise<Selection> {
  const selection = await readSelection(options, runtime, events)
  if (selection !== undefined) return selection
  throw new UsageError('which streams?', {
    hint: 'Name them, or use filters such as --match and --status, or --streams FILE, or --all.',
  })
}

/** The filter of the flags; `undefined` without any. @throws UsageError for a span of time that ends before it begins */
export function filterOf(options: FilterOptions, nowMs: number): StreamFilter | undefined {
  const { match, notMatch, failed, acknowledged, failure, reopenCanceled, since } = options
  const sinceMs = since && sinceMsOf(since, nowMs)
  const untilMs = untilMsOf(options, nowMs)
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs)
    throw new UsageError('--since is later than --until or --older-than: no stream can match')
  const filter: StreamFilter = {
    ...picked(options),
    ...defined({
      names: match && anyGlobOf(match),
      notNames: notMatch && anyGlobOf(notMatch),
      sinceMs,
      untilMs,
    }),
    ...(failed || acknowledged ? { failed: true } : {}),
    ...(reopenCanceled && failure !== undefined ? { withCanceled: true } : {}),
  }
  return Object.keys(filter).length === 0 ? undefined : filter
}

/** Flags that are the part of the filter that has their name. */
const SAME_NAMES = [
  'status',
  'state',
  'outcome',
  'failure',
  'waitingOn',
  'owner',
  'eventName',
  'eventState',
  'root',
  'key',
  'topic',
  'tag',
  'trackingId',
  'acknowledged',
  'canceled',
  'overdue',
  'suspended',
  'abandoned',
  'locked',
] as const satisfies readonly (keyof FilterOptions & keyof StreamFilter)[]

/** The given ones of these flags; a switch that is off is not. */
function picked(options: FilterOptions): StreamFilter {
  const given = SAME_NAMES.filter(name => options[name] !== undefined && options[name] !== false)
  return Object.fromEntries(given.map(name => [name, options[name]]))
}

function untilMsOf({ until, olderThan }: FilterOptions, nowMs: number): number | undefined {
  if (until === undefined && olderThan === undefined) return undefined
  const ends = [until === undefined ? nowMs : atMs(until, nowMs), nowMs - (olderThan ?? 0)]
  return Math.min(...ends)
}

async function namesFrom(source: string, runtime: Runtime, events?: readonly string[]): Promise<readonly string[]> {
  const where = source === '-' ? 'standard input' : source
  const text = source === '-' ? await readInput(runtime) : await readList(source, runtime)
  const names = new Set<string>()
  for (const [at, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (line.trim() !== '') names.add(nameIn(line, `${where}, line ${at + 1}`, events))
  }
  if (names.size === 0) throw new UsageError(`${where} names no stream`, { hint: 'Write one name per line.' })
  return [...names]
}

async function readInput({ stdin }: Runtime): Promise<string> {
  const text = await stdin.readAll()
  checkLength(Buffer.byteLength(text), 'standard input')
  return text
}

async function readList(path: string, runtime: Runtime): Promise<string> {
  try {
    const bytes = await runtime.readFile(path)
    checkLength(bytes.length, path)
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    throw new UsageError(`--streams ${path} cannot be read`, {
      cause,
      hint: 'It must be a text file with one name per line.',
    })
  }
}

/** Refuses a list that was not read to its end: the last name could be incomplete. */
function checkLength(bytes: number, where: string): void {
  if (bytes <= MAX_READ_BYTES) return
  throw new UsageError(`${where} is too long`, { hint: 'A filter such as --match selects any number of streams.' })
}

/** The name in a line: the line itself, or a field of the ndjson of ls, cancel and others. */
function nameIn(line: string, where: string, events: readonly string[] | undefined): string {
  const isJson = line.trimStart().startsWith('{')
  const { name, event } = isJson ? fieldsOf(line) : { name: line }
  if (event !== undefined && events?.includes(event) === false) {
    throw new UsageError(`${where} names the event ${event}, not the whole stream`, {
      hint: `-e ${event} changes that event; lines without "event" mean whole streams.`,
    })
  }
  if (name === undefined) {
    throw new UsageError(`${where} does not name a stream`, {
      hint: 'A JSON line needs "name" or "stream": use -o ndjson, not -o json.',
    })
  }
  // One impossible name does not stop the others: its outcome says that no stream can have it.
  if (name !== '' && !isStoredName(name) && !isReservedName(name)) return name
  try {
    checkStreamName(name)
  } catch (cause) {
    throw new UsageError(`${where}: ${cause instanceof Error ? cause.message : 'not a name'}`, { cause })
  }
  return name
}

/** The fields of a JSON line; outcomes of a batch also name the event. */
function fieldsOf(line: string): { readonly name?: string; readonly event?: string } {
  try {
    const { name, stream = name, event }: { name?: unknown; stream?: unknown; event?: unknown } = JSON.parse(line)
    return typeof stream === 'string' ? { name: stream, ...(typeof event === 'string' ? { event } : {}) } : {}
  } catch {
    return {}
  }
}
