import type { StreamFilter } from '../../ops/filter.ts'
import { globOf } from '../../ops/glob.ts'
import type { Selection } from '../../ops/selection.ts'
import { checkStreamName } from '../../store/names.ts'
import { atMs } from '../points-in-time.ts'
import { UsageError } from '../problem.ts'
import type { Runtime } from '../runtime.ts'
import type { FilterOptions, SelectionOptions } from './flags.ts'

/**
 * What the arguments and flags select; `undefined` if there is nothing of the kind.
 * @throws UsageError for two kinds together, a list that cannot be read or is empty
 */
export async function readSelection(options: SelectionOptions, runtime: Runtime): Promise<Selection | undefined> {
  const filter = filterOf(options, runtime.nowMs())
  const kinds = [
    ...(options.names.length > 0 ? ['names'] : []),
    ...(filter === undefined ? [] : ['filters']),
    ...(options.streams === undefined ? [] : ['--streams']),
    ...(options.all ? ['--all'] : []),
  ]
  if (kinds.length > 1) {
    throw new UsageError(`${kinds.join(' and ')} select streams both`, { hint: 'Use one of them.' })
  }
  if (options.names.length > 0) return { kind: 'names', names: [...new Set(options.names)] }
  if (options.streams !== undefined) return { kind: 'list', names: await namesFrom(options.streams, runtime) }
  if (options.all) return { kind: 'filter', filter: {} }
  return filter === undefined ? undefined : { kind: 'filter', filter }
}

/** The same for a command that cannot do without. */
export async function requireSelection(options: SelectionOptions, runtime: Runtime): Promise<Selection> {
  const selection = await readSelection(options, runtime)
  if (selection !== undefined) return selection
  throw new UsageError('which streams?', {
    hint: 'Name them, or use filters such as --match and --status, or --streams FILE, or --all.',
  })
}

/** The filter that the flags make; `undefined` if none was given. */
export function filterOf(options: FilterOptions, nowMs: number): StreamFilter | undefined {
  const { match, status, failed, overdue, locked, key, topic, tag, trackingId, since } = options
  const filter: StreamFilter = {
    ...(match === undefined ? {} : { names: globOf(match) }),
    ...(status === undefined ? {} : { status }),
    ...(failed ? { failed } : {}),
    ...(overdue ? { overdue } : {}),
    ...(locked ? { locked } : {}),
    ...(key === undefined ? {} : { key }),
    ...(topic === undefined ? {} : { topic }),
    ...(tag === undefined ? {} : { tag }),
    ...(trackingId === undefined ? {} : { trackingId }),
    ...(since === undefined ? {} : { sinceMs: atMs(since, nowMs) }),
  }
  return Object.keys(filter).length === 0 ? undefined : filter
}

async function namesFrom(source: string, runtime: Runtime): Promise<readonly string[]> {
  const where = source === '-' ? 'standard input' : source
  const text = source === '-' ? await runtime.stdin.readAll() : await readList(source, runtime)
  const names = new Set<string>()
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() !== '') names.add(nameIn(line, `${where}, line ${at + 1}`))
  }
  if (names.size === 0) throw new UsageError(`${where} names no stream`, { hint: 'One name a line.' })
  return [...names]
}

async function readList(path: string, runtime: Runtime): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await runtime.readFile(path))
  } catch (cause) {
    throw new UsageError(`--streams ${path} cannot be read`, { cause, hint: 'A text file with one name a line.' })
  }
}

/** A line is a name, or a line of `-o ndjson` of ls, cancel and the like. */
function nameIn(line: string, where: string): string {
  const name = line.trimStart().startsWith('{') ? nameInJson(line) : line
  if (name === undefined) {
    throw new UsageError(`${where}: no name of a stream`, { hint: 'A JSON line needs "name" or "stream".' })
  }
  try {
    checkStreamName(name)
  } catch (cause) {
    throw new UsageError(`${where}: ${cause instanceof Error ? cause.message : 'not a name'}`, { cause })
  }
  return name
}

function nameInJson(line: string): string | undefined {
  try {
    const { name, stream = name }: { name?: unknown; stream?: unknown } = JSON.parse(line)
    return typeof stream === 'string' ? stream : undefined
  } catch {
    return undefined
  }
}
