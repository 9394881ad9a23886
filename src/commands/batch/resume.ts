import { commandLine } from '../../cli/command-line.ts'
import { exitOfRefusal } from '../../cli/exit-codes.ts'
import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { FilterOptions } from '../../cli/selection/flags.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import type { Selection } from '../../ops/selection.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import { isReservedName } from '../../store/names.ts'
import type { EventData } from '../../stream/data.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { BatchAction } from './action.ts'
import type { BatchCommandOptions, OutcomeWord } from './options.ts'
import { runPathOf } from './run-file/names.ts'
import { isLeft, type RunRecord, readRunFile } from './run-file/read.ts'

/** The rest of an earlier run. */
export interface Resume {
  /** Path of the run file. */
  readonly path: string
  readonly given: RunRecord['given']
  readonly how: RunRecord['how']
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

/** Reads the run file of `--rerun`; `last` is the latest run of the command. */
export async function resumeOf(
  file: string,
  action: BatchAction,
  options: BatchCommandOptions,
  runtime: Runtime,
): Promise<Resume> {
  checkAlone(options)
  const path = await runPathOf(file, runtime.env, action.name)
  const run = await readRunFile(path)
  if (run.verb !== action.name) {
    const hint = commandLine(runtime, [...run.verb.split(' '), '--rerun', path])
    throw new UsageError(`${path} is a run of another command: ${run.verb}`, { hint })
  }
  checkInput(path, run.input, options.input)
  const rest = restOf(path, run, options.only)
  const name = file === path ? '' : `${path}: `
  return {
    path,
    given: run.given,
    how: run.how,
    selection: { kind: 'list', names: [...rest.keys()] },
    eventsOf: stream => rest.get(stream)?.events ?? [],
    objection: item => otherIncarnation(item, rest),
    bornOf: stream => rest.get(stream)?.born || undefined,
    sentence: `${name}${counted(rest.size, 'stream')} left of a run with ${counted(run.targets.length, 'target')}`,
    checkStore(address) {
      if (address === run.store) return
      throw new UsageError(`the run was in another store, ${visibleText(run.store)}`, {
        hint: `This store is ${visibleText(address)}; select the other one with --store.`,
      })
    },
  }
}

/** Options that only the run file provides: which streams, who and why. */
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
  noCompensate: true,
  outcome: true,
  stale: true,
  blob: true,
  match: true,
  notMatch: true,
  status: true,
  state: true,
  failed: true,
  acknowledged: true,
  canceled: true,
  failure: true,
  overdue: true,
  suspended: true,
  stop: true,
  every: true,
  abandoned: true,
  locked: true,
  waitingOn: true,
  owner: true,
  eventName: true,
  eventState: true,
  root: true,
  key: true,
  topic: true,
  tag: true,
  trackingId: true,
  since: true,
  until: true,
  olderThan: true,
}

/** A run file has no data: a signal that had some gets it again. */
function checkInput(path: string, before: string | undefined, input: EventData | undefined): void {
  if (before === input?.sha256) return
  throw new UsageError(
    before === undefined
      ? `the run of ${path} had no data`
      : `the run of ${path} had data, which its run file does not keep`,
    { hint: before === undefined ? 'Leave --data away.' : 'Give the same --data again.' },
  )
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

function otherIncarnation({ listed, pin }: SummarizedStream, rest: Rest): Problem | undefined {
  const born = rest.get(listed.name)?.born ?? ''
  if (born === '' || pin.ifBorn === undefined || pin.ifBorn === born) return undefined
  return problem('changed', `${listed.name}: another stream has its name now`, {
    exit: exitOfRefusal('changed'),
    stream: listed.name,
  })
}

export interface RestOfStream {
  readonly events: readonly string[]
  /** The incarnation id of the stream at that time, `''` if it had none. */
  readonly born: string
}

/** The streams in order, with their events; none for the whole stream. */
type Rest = ReadonlyMap<string, RestOfStream>

/**
 * The targets that are left. Those without an outcome were not started and are always included.
 *
 * @param only outcomes to include; by default all but `done` and `already`
 * @throws UsageError for a name that no batch can have
 */
function restOf(path: string, { targets }: RunRecord, only: readonly OutcomeWord[] | undefined): Rest {
  const rest = new Map<string, { events: string[]; born: string }>()
  for (const target of targets) {
    if (!isLeft(target, only)) continue
    const { stream, event, born } = target
    // invalid names of streams are allowed: they have outcomes too
    if (isReservedName(stream)) throw new UsageError(`${path} is not a run file`)
    const own = rest.get(stream) ?? { events: [], born }
    if (event !== undefined) own.events.push(event)
    rest.set(stream, own)
  }
  return rest
}
