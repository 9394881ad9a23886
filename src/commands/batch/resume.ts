import { open } from 'node:fs/promises'
import { exitOfRefusal } from '../../cli/exit-codes.ts'
import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import type { FilterOptions } from '../../cli/selection/flags.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import type { Selection } from '../../ops/selection.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import { isReservedName } from '../../store/names.ts'
import { checkCommandId, checkText } from '../../stream/text.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { BatchAction } from './action.ts'
import type { BatchCommandOptions, OutcomeWord } from './options.ts'

/** The rest of an earlier run. */
export interface Resume {
  readonly given: RunFileRest['given']
  readonly selection: Selection
  readonly eventsOf: (stream: string) => readonly string[]
  /** The problem of another stream that has the same name now. */
  readonly objection: (item: SummarizedStream) => Problem | undefined
  /** The incarnation id of a stream when the run was planned, if it had one. */
  readonly bornOf: (stream: string) => string | undefined
  readonly sentence: string
  /** @throws UsageError for another store than that of the run */
  checkStore(address: string): void
}

/** Reads the run file of `--rerun`. */
export async function resumeOf(path: string, action: BatchAction, options: BatchCommandOptions): Promise<Resume> {
  checkAlone(options)
  const run = await readRunFile(path, options.only)
  if (run.verb !== action.name) {
    throw new UsageError(`${path} is a run of another command: ${run.verb}`, { hint: `${run.verb} --rerun ${path}` })
  }
  return {
    given: run.given,
    selection: { kind: 'list', names: [...run.rest.keys()] },
    eventsOf: stream => run.rest.get(stream)?.events ?? [],
    objection: item => otherIncarnation(item, run),
    bornOf: stream => run.rest.get(stream)?.born || undefined,
    sentence: `${counted(run.rest.size, 'stream')} left of a run with ${counted(run.total, 'target')}`,
    checkStore(address) {
      if (address === run.store) return
      throw new UsageError(`the run was in another store, ${visibleText(run.store)}`, {
        hint: `This store is ${visibleText(address)}; select the other one with --store.`,
      })
    },
  }
}

/** Options that the run file provides: which streams, who and why. */
const FROM_RUN_FILE: { readonly [Name in keyof BatchCommandOptions]?: true } & {
  readonly [Name in keyof FilterOptions]-?: true
} = {
  event: true,
  reason: true,
  by: true,
  commandId: true,
  streams: true,
  all: true,
  reopenCanceled: true,
  match: true,
  notMatch: true,
  status: true,
  failed: true,
  acknowledged: true,
  canceled: true,
  failure: true,
  overdue: true,
  abandoned: true,
  locked: true,
  waitingOn: true,
  owner: true,
  eventName: true,
  root: true,
  key: true,
  topic: true,
  tag: true,
  trackingId: true,
  since: true,
  until: true,
  olderThan: true,
}

function checkAlone(options: BatchCommandOptions): void {
  const option = Object.entries(options).find(([name, value]) => name in FROM_RUN_FILE && value !== undefined)?.[0]
  if (options.names.length === 0 && option === undefined) return
  const given = options.names.length > 0 || option === undefined ? 'names' : flagOf(option)
  throw new UsageError(`--rerun and ${given} do not go together`, {
    hint: 'The run file has the streams, events, actor and reason.',
  })
}

/** `--tracking-id` for `trackingId` */
function flagOf(option: string): string {
  const short = { event: '-e', reason: '-m', reopenCanceled: '--canceled' }[option]
  return short ?? `--${option.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
}

function otherIncarnation({ listed, pin }: SummarizedStream, { rest }: RunFileRest): Problem | undefined {
  const born = rest.get(listed.name)?.born ?? ''
  if (born === '' || pin.ifBorn === undefined || pin.ifBorn === born) return undefined
  return problem('changed', `${listed.name}: another stream has its name now`, {
    exit: exitOfRefusal('changed'),
    stream: listed.name,
  })
}

/** The rest of the run in a run file. */
interface RunFileRest {
  readonly verb: string
  /** Address of the store. */
  readonly store: string
  /** The original options. With the same command id, changes already applied report "already". */
  readonly given: Pick<BatchCommandOptions, 'by' | 'reason' | 'commandId' | 'event' | 'force' | 'reopenCanceled'>
  /** Streams in order, with their events; none for the whole stream. */
  readonly rest: ReadonlyMap<string, RestOfStream>
  /** Number of targets in the run file. */
  readonly total: number
}

export interface RestOfStream {
  readonly events: readonly string[]
  /** The incarnation id of the stream at that time, `''` if it had none. */
  readonly born: string
}

/**
 * Reads a run file. Targets without an outcome were not started and are always included. A last line that the end of the
 * process cut off counts as not written.
 *
 * @param only outcomes to include; by default all but `done` and `already`
 * @throws UsageError if it is not a run file, or has fewer targets than the run, which then had changed nothing
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
    throw new UsageError(`${path} is not a run file`, {
      cause,
      hint: 'A batch prints the path of its run file at the end.',
    })
  }
}

async function textOf(path: string): Promise<string> {
  try {
    const file = await open(path)
    try {
      // a device can be endless
      if (!(await file.stat()).isFile()) throw new Error('not a file')
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw new UsageError(`--rerun ${path} cannot be read`, {
      cause,
      hint: 'A batch prints the path of its run file at the end.',
    })
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The records up to the first invalid line. */
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
      ...(head.canceled === true ? { reopenCanceled: true } : {}),
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
    // invalid names of streams are allowed: they have outcomes too
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
    hint: 'That run ended before it changed anything: run its command again.',
  })
}
