import { open } from 'node:fs/promises'
import { exitOfRefusal } from '../../cli/exit-codes.ts'
import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import type { Selection } from '../../ops/selection.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import { isReservedName } from '../../store/names.ts'
import { checkCommandId, checkText } from '../../stream/text.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { BatchAction } from './action.ts'
import type { BatchCommandOptions, OutcomeWord } from './options.ts'

/** The rest of a former run, as a batch. */
export interface Resume {
  readonly given: RunFileRest['given']
  readonly selection: Selection
  readonly eventsOf: (stream: string) => readonly string[]
  /** A stream that has the name of the one that was meant then. */
  readonly objection: (item: SummarizedStream) => Problem | undefined
  /** The identity that a stream had when the run was planned, if it had one. */
  readonly bornOf: (stream: string) => string | undefined
  readonly sentence: string
  /** @throws UsageError it was another store */
  checkStore(address: string): void
}

/** What `--rerun` asks for; `undefined` without it. */
export async function resumeOf(action: BatchAction, options: BatchCommandOptions): Promise<Resume | undefined> {
  const { rerun: path, only } = options
  if (path === undefined) {
    if (only !== undefined) throw new UsageError('--only goes with --rerun', { hint: 'A run file has outcomes.' })
    return undefined
  }
  checkAlone(options)
  const run = await readRunFile(path, only)
  if (run.verb !== action.name) {
    throw new UsageError(`${path} is the run of another command: ${run.verb}`, { hint: `${run.verb} --rerun ${path}` })
  }
  return {
    given: run.given,
    selection: { kind: 'list', names: [...run.rest.keys()] },
    eventsOf: stream => run.rest.get(stream)?.events ?? [],
    objection: item => otherLife(item, run),
    bornOf: stream => run.rest.get(stream)?.born || undefined,
    sentence: `${counted(run.rest.size, 'stream')} left to do of that run of ${counted(run.total, 'target')}`,
    checkStore(address) {
      if (address === run.store) return
      throw new UsageError(`that run changed another store, ${visibleText(run.store)}`, {
        hint: `This one is ${visibleText(address)}; name the other with --store.`,
      })
    },
  }
}

const FILTERS = [
  'match',
  'status',
  'failed',
  'overdue',
  'locked',
  'key',
  'topic',
  'tag',
  'trackingId',
  'since',
] as const
/** Options that the run file answers: who and why, and which streams. */
const ANSWERED = ['event', 'reason', 'by', 'commandId', 'streams', 'all', ...FILTERS] as const

function checkAlone(options: BatchCommandOptions): void {
  const answered = ANSWERED.find(name => options[name] !== undefined)
  if (options.names.length === 0 && answered === undefined) return
  const given = options.names.length > 0 || answered === undefined ? 'names' : flagOf(answered)
  throw new UsageError(`--rerun and ${given} do not go together`, {
    hint: 'The run file says which streams and events, who and why.',
  })
}

/** `--tracking-id` of `trackingId` */
function flagOf(option: string): string {
  const short = { event: '-e', reason: '-m' }[option]
  return short ?? `--${option.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
}

function otherLife({ listed, pin }: SummarizedStream, { rest }: RunFileRest): Problem | undefined {
  const born = rest.get(listed.name)?.born ?? ''
  if (born === '' || pin.ifBorn === undefined || pin.ifBorn === born) return undefined
  return problem('changed', `${listed.name}: another stream has its name now`, {
    exit: exitOfRefusal('changed'),
    stream: listed.name,
  })
}

/** What a run file leaves to do. */
interface RunFileRest {
  readonly verb: string
  /** Address of the store. */
  readonly store: string
  /** As they were given then: what was in truth done says "already". */
  readonly given: Pick<BatchCommandOptions, 'by' | 'reason' | 'commandId' | 'event' | 'force'>
  /** Streams in their order, with the events of each; none means the stream as a whole. */
  readonly rest: ReadonlyMap<string, RestOfStream>
  /** How many targets it names. */
  readonly total: number
}

export interface RestOfStream {
  readonly events: readonly string[]
  /** The stream's identity then, `''` if it had none. */
  readonly born: string
}

/**
 * Reads a run file. What has no outcome was not begun, and is resumeOf in any case; a last line that was cut off by the end
 * of the process counts as not written.
 *
 * @param only which outcomes are resumeOf; without it all but `done` and `already`
 * @throws UsageError it is no run file, or names fewer targets than the run had: then nothing had been changed
 */
async function readRunFile(path: string, only: readonly OutcomeWord[] | undefined): Promise<RunFileRest> {
  const lines = recordsIn(await textOf(path))
  const { total: planned, ...run } = understood(path, () => headOf(lines[0]))
  const { rest, total } = understood(path, () => restOf(lines, only))
  if (total < planned) throw cutShort(path, total, planned)
  return { ...run, rest, total }
}

function understood<Value>(path: string, read: () => Value): Value {
  try {
    return read()
  } catch (cause) {
    throw new UsageError(`${path} is no run file`, { cause, hint: 'A batch names its run file when it ends.' })
  }
}

async function textOf(path: string): Promise<string> {
  try {
    const file = await open(path)
    try {
      // A device may never end.
      if (!(await file.stat()).isFile()) throw new Error('not a file')
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw new UsageError(`--rerun ${path} cannot be read`, { cause, hint: 'A run file, as a batch names it.' })
  }
}

type Fields = Readonly<Record<string, unknown>>

/** As far as lines can be read. */
function recordsIn(text: string): Fields[] {
  const records: Fields[] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    try {
      const value: unknown = JSON.parse(line)
      if (typeof value === 'object' && value !== null) records.push(value as Fields)
    } catch {
      break
    }
  }
  return records
}

function headOf(head: Fields | undefined): Pick<RunFileRest, 'verb' | 'store' | 'given'> & { readonly total: number } {
  if (head?.record !== 'run') throw new TypeError('record')
  const by = textIn(head, 'by')
  const commandId = textIn(head, 'commandId')
  checkText('by', by)
  checkCommandId(commandId)
  const reason = optionalText(head, 'reason')
  if (reason !== undefined) checkText('reason', reason)
  const { events, total } = head
  if (!Array.isArray(events) || !events.every(event => typeof event === 'string')) throw new TypeError('events')
  if (typeof total !== 'number') throw new TypeError('total')
  return {
    verb: textIn(head, 'verb'),
    store: textIn(head, 'store'),
    total,
    given: {
      by,
      commandId,
      ...(reason === undefined ? {} : { reason }),
      ...(events.length === 0 ? {} : { event: events }),
      ...(head.force === true ? { force: true } : {}),
    },
  }
}

function restOf(
  lines: readonly Fields[],
  only: readonly OutcomeWord[] | undefined,
): { readonly rest: Map<string, RestOfStream>; readonly total: number } {
  const outcomes = new Map<string, string>()
  for (const line of lines) if (line.record === 'outcome') outcomes.set(keyOf(line), textIn(line, 'outcome'))
  const isWanted = (word: string | undefined) =>
    word === undefined || (only === undefined ? word !== 'done' && word !== 'already' : only.some(one => one === word))
  const rest = new Map<string, { events: string[]; born: string }>()
  let total = 0
  for (const line of lines) {
    if (line.record !== 'target') continue
    total += 1
    if (!isWanted(outcomes.get(keyOf(line)))) continue
    const stream = textIn(line, 'stream')
    // A name that no stream can have stands there as well: it has an outcome like all.
    if (isReservedName(stream)) throw new TypeError('stream')
    const own = rest.get(stream) ?? { events: [], born: optionalText(line, 'born') ?? '' }
    const event = optionalText(line, 'event')
    if (event !== undefined) own.events.push(event)
    rest.set(stream, own)
  }
  return { rest, total }
}

function keyOf(line: Fields): string {
  return JSON.stringify([textIn(line, 'stream'), optionalText(line, 'event')])
}

function textIn(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string' || value === '') throw new TypeError(name)
  return value
}

function optionalText(fields: Fields, name: string): string | undefined {
  return fields[name] === null || fields[name] === undefined ? undefined : textIn(fields, name)
}

function cutShort(path: string, found: number, total: number): UsageError {
  return new UsageError(`${path} ends after ${found} of ${total} targets`, {
    hint: 'That run ended before it changed anything: give its command again.',
  })
}
