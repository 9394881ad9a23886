import type { GlobalOptions } from '../../cli/options.ts'
import { CommandFailed, type Problem, problem } from '../../cli/problem.ts'
import { openProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import { type CopyOptions, type CopyOutcome, type CopyState, compareWithStored, copyInto } from '../../ops/copy.ts'
import { parseBody } from '../../ops/transact/plan.ts'
import { ContainerMissing } from '../../store/errors.ts'
import type { Holder, StreamStore } from '../../store/store.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { confirm } from '../batch/confirm.ts'
import type { TransferFlags } from './flags.ts'
import { bytesOf, type Item, marked, placeOf } from './item.ts'
import { copiedOutcome, existsProblem, SAME, skipped, type Transferred, undone, unreplaceable } from './outcome.ts'
import type { TransferReport } from './report.ts'
import { transfer } from './transfer.ts'

/**
 * Puts documents into a store, one outcome each. What writes over others, and every copy into a protected store, is
 * looked at first and asked for; what was looked at is what is done.
 */
export async function copyItems(
  given: CopyRequest,
  report: TransferReport,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const request = { ...given, items: marked(given.items) }
  const { items, flags, copies } = request
  const { concurrency } = flags
  if (!isPlanned(request)) {
    const existing = flags.skipExisting ? 'skip' : 'refuse'
    const work = (item: Item) => copyOne(item, existing, copies, runtime)
    return report.end(await transfer({ items, nameOf: ({ name }) => name, work, concurrency }, report, runtime))
  }
  const { jobs, stopped } = await planCopies(request, runtime)
  if (stopped !== undefined) return stopped
  const no = flags.dryRun ? undefined : await confirmCopies(jobs, request, runtime)
  if (no !== undefined) return no
  const work = async ({ outcome, copy }: Job) =>
    copy === undefined || flags.dryRun ? outcome : copyOne(copy.item, copy.existing, copies, runtime)
  const nameOf = ({ outcome }: Job) => outcome.stream
  const ended = await report.end(await transfer({ items: jobs, nameOf, work, concurrency }, report, runtime))
  // A dry run has shown what it was asked for.
  return flags.dryRun && !runtime.signal.aborted ? undefined : ended
}

function isPlanned({ flags: { replace, dryRun, expect }, isProtected }: CopyRequest): boolean {
  return replace === true || dryRun === true || expect !== undefined || isProtected
}

async function copyOne(
  item: Item,
  existing: CopyOptions['existing'],
  copies: Copies,
  runtime: Runtime,
): Promise<Transferred> {
  const body = await bytesOf(item)
  if (!(body instanceof Uint8Array)) return body
  return { ...copiedOutcome(item.name, await copies.put(item.name, body, existing), runtime), ...placeOf(item) }
}

/** What is to be done with one document. */
interface Job {
  /** What became of it or, with `copy`, would. */
  readonly outcome: Transferred
  readonly copy?: { readonly item: Item; readonly existing: CopyOptions['existing'] }
}

/** Looks at every document and at what has its name, before anything is written. */
async function planCopies(
  request: CopyRequest,
  runtime: Runtime,
): Promise<{ readonly jobs: readonly Job[]; readonly stopped: Problem | undefined }> {
  const { items, flags, options } = request
  const jobs: Job[] = []
  const progress = openProgressLine(options, runtime)
  const note = async (job: Job) => {
    jobs.push(job)
    if (jobs.length % 100 === 0) await progress.show(`looking: ${jobs.length} streams`)
  }
  const work = async (item: Item) => {
    const job = await look(item, request)
    return async () => {
      await note(job)
      return []
    }
  }
  // Faults of single streams come as outcomes: they are part of the plan.
  const faults = { add: (outcome: Transferred) => note({ outcome }) }
  const stopped = await transfer(
    { items, nameOf: ({ name }) => name, work, concurrency: flags.concurrency },
    faults,
    runtime,
  )
  await progress.clear()
  return { jobs, stopped }
}

const WOULD = { create: 'would be created', replace: 'would be written over' } as const

async function look(item: Item, { copies, flags }: CopyRequest): Promise<Job> {
  const body = await bytesOf(item)
  if (!(body instanceof Uint8Array)) return { outcome: body }
  const standing = await copies.look(item.name, body)
  if (standing !== undefined && !(standing.kind === 'other' && flags.replace)) {
    const outcome = standing.kind === 'other' ? left(item.name, flags) : settled(item.name, standing)
    return { outcome: { ...outcome, ...placeOf(item) } }
  }
  const note = standing === undefined ? WOULD.create : WOULD.replace
  const existing = flags.replace ? { replace: standing?.etag } : flags.skipExisting ? 'skip' : 'refuse'
  return { outcome: { stream: item.name, word: 'todo', note, ...placeOf(item) }, copy: { item, existing } }
}

function settled(stream: string, standing: Exclude<CopyState, { readonly kind: 'other' }>): Transferred {
  if (standing.kind === 'same') return { stream, word: 'already', note: SAME }
  return undone('refused', stream, unreplaceable(stream, standing))
}

/** Another document has the name. */
function left(stream: string, { skipExisting }: TransferFlags): Transferred {
  return skipExisting ? skipped(stream) : undone('refused', stream, existsProblem(stream))
}

const NAMES_SHOWN = 20

/** Asks for what writes over streams, and for every copy into a protected store. `undefined` means: go on. */
function confirmCopies(
  jobs: readonly Job[],
  { flags, options, isProtected, address }: CopyRequest,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const named = (note: string) =>
    jobs.flatMap(({ outcome, copy }) => (copy && outcome.note === note ? [outcome.stream] : []))
  const replaced = named(WOULD.replace)
  const created = isProtected ? named(WOULD.create).length : 0
  const streams = replaced.length + created
  const isForPrograms = options.output === 'json' || options.output === 'ndjson'
  const parts = [
    ...(replaced.length > 0 ? [`writes over ${counted(replaced.length, 'stream')}`] : []),
    ...(created > 0 ? [`creates ${counted(created, 'stream')}`] : []),
  ]
  const where = `${visibleText(address)}${isProtected ? ', a protected store' : ''}`
  const request = {
    streams,
    isNamed: false,
    isProtected,
    asksAlways: true,
    flags,
    question: `This ${parts.join(' and ')} in ${where}`,
    unexpected: (expected: number) => unexpected(expected, streams),
    async preview(isAnswered: boolean) {
      if (!isAnswered && !options.quiet && !isForPrograms) await runtime.stderr.write(preview(replaced))
    },
  }
  return confirm(request, runtime)
}

function preview(replaced: readonly string[]): string {
  if (replaced.length === 0) return ''
  const more = replaced.length - NAMES_SHOWN
  const names = replaced.slice(0, NAMES_SHOWN).map(name => `  ${visibleName(name)}\n`)
  return `written over:\n${names.join('')}${more > 0 ? `  and ${more} more\n` : ''}`
}

function unexpected(expected: number, found: number): Problem {
  return problem('changed', `expected to write over ${expected} streams, found ${found}; nothing was changed`, {
    exit: 5,
    hint: '--dry-run shows which they are.',
  })
}

/** Documents to be put into a store. */
interface CopyRequest {
  readonly items: AsyncIterable<Item>
  readonly copies: Copies
  readonly flags: TransferFlags
  readonly options: GlobalOptions
  /** Of the store that is written to. */
  readonly isProtected: boolean
  readonly address: string
}

const DEFAULT_LEASE_WAIT_MS = 10_000

/** A store that documents are copied into. */
interface Copies {
  /** @param existing what to do where another document has the name */
  put(name: string, body: Uint8Array, existing: CopyOptions['existing']): Promise<CopyOutcome>
  /** What stands there now; nothing is written. `undefined` for nothing. @throws BadDocument */
  look(name: string, body: Uint8Array): Promise<CopyState | undefined>
}

/** @param purpose shown to others while a lease is held */
export function openCopies(store: StreamStore, flags: TransferFlags, purpose: string, runtime: Runtime): Copies {
  const holder: Holder = {
    by: flags.by ?? runtime.actor,
    host: runtime.host,
    pid: runtime.pid,
    purpose,
    sinceMs: runtime.nowMs(),
  }
  const ready = containerMaker(store, flags)
  return {
    put: (name, body, existing) =>
      ready(() =>
        copyInto(store, name, body, {
          existing,
          holder,
          leaseWaitMs: flags.leaseWait ?? DEFAULT_LEASE_WAIT_MS,
          stopWaiting: runtime.signal,
        }),
      ),
    async look(name, body) {
      const document = parseBody(body, name)
      try {
        return await compareWithStored(store, name, { body, document })
      } catch (error) {
        // Where a container is to be made there is nothing yet.
        if (error instanceof ContainerMissing && mayCreate(store, flags)) return undefined
        throw error instanceof ContainerMissing ? containerProblem(error) : error
      }
    },
  }
}

function mayCreate(store: StreamStore, { createContainer }: TransferFlags): boolean {
  return createContainer === true || store.address.startsWith('azurite:')
}

/** Does what finds the container missing once more after it was made, at most once for all. */
function containerMaker(store: StreamStore, flags: TransferFlags) {
  let made: Promise<void> | undefined
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ContainerMissing)) throw error
      if (!mayCreate(store, flags)) throw containerProblem(error)
      made ??= store.createContainer()
      await made
      return work()
    }
  }
}

function containerProblem(error: ContainerMissing): CommandFailed {
  const hint = 'Repeat the command with --create-container.'
  return new CommandFailed(problem('container-missing', error.message, { cause: error, hint }))
}
