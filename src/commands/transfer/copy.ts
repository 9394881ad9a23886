import { placeText } from '../../cli/confirm.ts'
import { containerCreator, mayCreateContainer } from '../../cli/create-container.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { openProgressLine } from '../../cli/output/progress-line.ts'
import { CommandFailed, type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { DEFAULT_LEASE_WAIT_MS } from '../../cli/store.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import { MAX_AUDITED_NAMES } from '../../ops/audit-log.ts'
import { type CopyOptions, type CopyState, compareWithStored } from '../../ops/copy.ts'
import { type CopyWithDataOutcome, copyWithData } from '../../ops/copy-data.ts'
import { DataFault } from '../../ops/event-data.ts'
import { parseBody } from '../../ops/transact/plan.ts'
import { ContainerMissing } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleName } from '../../util/visible-text.ts'
import { openAudit } from '../batch/audit.ts'
import { confirm } from '../batch/confirm.ts'
import { holderOf } from '../lease/flags.ts'
import type { TransferFlags } from './flags.ts'
import { copyError, type Item, markDuplicates, placeField, readItem } from './item.ts'
import {
  copyOutcome,
  dataOutcome,
  existsProblem,
  problemOutcome,
  SAME,
  skippedOutcome,
  type TransferOutcome,
  unreplaceable,
} from './outcome.ts'
import type { TransferReport } from './report.ts'
import { transfer } from './transfer.ts'
import { rewriteUnderLease } from './under-lease.ts'

/**
 * Copies documents into a store and reports one outcome for each. Copies that replace streams, and all copies into a
 * protected store, are planned and confirmed first; only what was confirmed is then written.
 */
export async function copyItems(
  given: CopyRequest,
  report: TransferReport,
  warn: (sentence: string) => void,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const request = { ...given, items: markDuplicates(given.items) }
  const { flags, copies } = request
  const { concurrency } = flags
  if (!isPlanned(request)) {
    const { items } = request
    const existing = flags.skipExisting ? 'skip' : 'refuse'
    const work = (item: Item) => copyOne(item, existing, copies, runtime)
    const audit = auditOf(request, undefined, warn, runtime)
    const audited = audit.reporting(report)
    const ended = await transfer(
      { items: audit.beforeFirst(items), nameOf: ({ name }) => name, work, concurrency },
      audited,
      runtime,
    )
    await audit.end()
    return report.end(ended)
  }
  const { jobs, stopped } = await planCopies(request, runtime)
  if (stopped !== undefined) return stopped
  const no = flags.dryRun ? undefined : await confirmCopies(jobs, request, runtime)
  if (no !== undefined) return no
  const work = async ({ outcome, copy }: Job) =>
    copy === undefined || flags.dryRun ? outcome : copyOne(copy.item, copy.existing, copies, runtime)
  const nameOf = ({ outcome }: Job) => outcome.stream
  const names = flags.dryRun ? [] : jobs.flatMap(({ outcome, copy }) => (copy === undefined ? [] : [outcome.stream]))
  const audit = auditOf(request, names, warn, runtime)
  const items = names.length === 0 ? jobs : audit.beforeFirst(jobs)
  const stoppedBy = await transfer({ items, nameOf, work, concurrency }, audit.reporting(report), runtime)
  await audit.end()
  const ended = await report.end(stoppedBy)
  // A dry run succeeds once the plan is shown.
  return flags.dryRun && !runtime.signal.aborted ? undefined : ended
}

/**
 * The entry of the copies in the audit log of the target store. It is written before the first copy.
 *
 * @param names the streams to be written, if they are known
 */
function auditOf(
  { copies, flags, source }: CopyRequest,
  names: readonly string[] | undefined,
  warn: (sentence: string) => void,
  runtime: Runtime,
) {
  const { store, purpose } = copies
  const what = {
    ...{ store, source, by: flags.by ?? runtime.actor, why: flags.reason, commandId: runtime.newId() },
    ...(names === undefined ? {} : { streams: names.length, names }),
  }
  const audit = openAudit({ op: purpose, isRequired: true }, what, runtime, warn)
  const words: string[] = []
  const changed: string[] = []
  let isBegun = false
  return {
    /** @throws CommandFailed if the entry cannot be written: nothing was copied */
    async *beforeFirst<Value>(items: Iterable<Value> | AsyncIterable<Value>): AsyncGenerator<Value> {
      for await (const item of items) {
        if (!isBegun) {
          const no = await copies.creating(() => audit.begin())
          if (no !== undefined) throw new CommandFailed(no)
          isBegun = true
        }
        yield item
      }
    },
    reporting: (report: TransferReport): Pick<TransferReport, 'add'> => ({
      add(outcome) {
        words.push(outcome.word)
        if (outcome.word === 'done' && changed.length < MAX_AUDITED_NAMES) changed.push(outcome.stream)
        return report.add(outcome)
      },
    }),
    async end() {
      if (isBegun) await audit.end(words, names ?? changed)
    },
  }
}

function isPlanned({ flags: { replace, dryRun, expect }, isProtected }: CopyRequest): boolean {
  return replace === true || dryRun === true || expect !== undefined || isProtected
}

async function copyOne(
  item: Item,
  existing: CopyOptions['existing'],
  copies: Copies,
  runtime: Runtime,
): Promise<TransferOutcome> {
  const body = await readItem(item)
  if (!(body instanceof Uint8Array)) return body
  try {
    return { ...copyOutcome(item.name, await copies.put(item, body, existing), runtime), ...placeField(item) }
  } catch (error) {
    if (!(error instanceof DataFault)) throw copyError(item, body, error)
    return { ...dataOutcome(item.name, error, runtime), ...placeField(item) }
  }
}

/** The planned treatment of one document. */
interface Job {
  /** The final outcome or, with `copy`, the expected one. */
  readonly outcome: TransferOutcome
  readonly copy?: { readonly item: Item; readonly existing: CopyOptions['existing'] }
}

/** Compares every document with the stream of its name before anything is written. */
async function planCopies(
  request: CopyRequest,
  runtime: Runtime,
): Promise<{ readonly jobs: readonly Job[]; readonly stopped: Problem | undefined }> {
  const { items, flags, options } = request
  const jobs: Job[] = []
  const progress = openProgressLine(options, runtime)
  const note = async (job: Job) => {
    jobs.push(job)
    if (jobs.length % 100 === 0) await progress.show(`checking: ${jobs.length} streams`)
  }
  const work = async (item: Item) => {
    const job = await planCopy(item, request)
    return async () => {
      await note(job)
      return []
    }
  }
  // A fault of a single stream is an outcome, and so part of the plan.
  const faults = { add: (outcome: TransferOutcome) => note({ outcome }) }
  const stopped = await transfer(
    { items, nameOf: ({ name }) => name, work, concurrency: flags.concurrency },
    faults,
    runtime,
  )
  await progress.clear()
  return { jobs, stopped }
}

const WOULD = { create: 'would be created', replace: 'would be replaced' } as const

async function planCopy(item: Item, { copies, flags }: CopyRequest): Promise<Job> {
  const body = await readItem(item)
  if (!(body instanceof Uint8Array)) return { outcome: body }
  const current = await copies.compare(item.name, body).catch(error => {
    throw copyError(item, body, error)
  })
  if (current !== undefined && !(current.kind === 'other' && flags.replace)) {
    const outcome = current.kind === 'other' ? conflictOutcome(item.name, flags) : keptOutcome(item.name, current)
    return { outcome: { ...outcome, ...placeField(item) } }
  }
  const note = current === undefined ? WOULD.create : WOULD.replace
  const existing = flags.replace ? { replace: current?.etag } : flags.skipExisting ? 'skip' : 'refuse'
  return { outcome: { stream: item.name, word: 'todo', note, ...placeField(item) }, copy: { item, existing } }
}

function keptOutcome(stream: string, current: Exclude<CopyState, { readonly kind: 'other' }>): TransferOutcome {
  if (current.kind === 'same') return { stream, word: 'already', note: SAME }
  return problemOutcome('refused', stream, unreplaceable(stream, current))
}

function conflictOutcome(stream: string, { skipExisting }: TransferFlags): TransferOutcome {
  return skipExisting ? skippedOutcome(stream) : problemOutcome('refused', stream, existsProblem(stream))
}

const NAMES_SHOWN = 20

/** Confirms copies that replace streams, and all copies into a protected store. Returns `undefined` to go on. */
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
    ...(replaced.length > 0 ? [`replaces ${counted(replaced.length, 'stream')}`] : []),
    ...(created > 0 ? [`creates ${counted(created, 'stream')}`] : []),
  ]
  const request = {
    streams,
    isNamed: false,
    isProtected,
    asksAlways: true,
    isTerminal: true,
    flags,
    question: `This ${parts.join(' and ')} in ${placeText({ address, isProtected })}`,
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
  return `to be replaced:\n${names.join('')}${more > 0 ? `  and ${more} more\n` : ''}`
}

function unexpected(expected: number, found: number): Problem {
  return problem('changed', `expected to replace ${expected} streams, found ${found}; nothing was changed`, {
    exit: 5,
    hint: '--dry-run lists them.',
  })
}

/** Documents to copy into a store. */
interface CopyRequest {
  readonly items: AsyncIterable<Item>
  readonly copies: Copies
  readonly flags: TransferFlags
  readonly options: GlobalOptions
  /** Where the documents come from, for the audit log. */
  readonly source: string
  /** Whether the target store is protected. */
  readonly isProtected: boolean
  readonly address: string
}

/** The target store of copies. */
interface Copies {
  readonly store: StreamStore
  /** The command: `import` or `export`. */
  readonly purpose: 'import' | 'export'
  /** Runs work that may have to create the container first. */
  creating<Result>(work: () => Promise<Result>): Promise<Result>
  /** @param existing what to do if another document already has the name */
  put(item: Item, body: Uint8Array, existing: CopyOptions['existing']): Promise<CopyWithDataOutcome>
  /** Compares the document with the stored one of this name; `undefined` if there is none. @throws BadDocument */
  compare(name: string, body: Uint8Array): Promise<CopyState | undefined>
}

/** @param purpose shown to other users while a lease is held */
export function openCopies(
  store: StreamStore,
  flags: TransferFlags,
  purpose: Copies['purpose'],
  runtime: Runtime,
): Copies {
  const holder = holderOf(flags, purpose, runtime)
  const { leaseWait: leaseWaitMs = DEFAULT_LEASE_WAIT_MS, createContainer, withoutData = false } = flags
  const creatingContainer = containerCreator(store, createContainer)
  const creating: Copies['creating'] = work => creatingContainer(work).catch(explainMissing)
  return {
    store,
    purpose,
    creating,
    put: (item, body, existing) => {
      const { name, readData } = item
      if (flags.leaseId !== undefined)
        return rewriteUnderLease(store, item, body, { ...flags, leaseId: flags.leaseId }, runtime)
      const options = { existing, holder, leaseWaitMs, stopWaiting: runtime.signal }
      return creating(() => copyWithData(store, name, body, options, withoutData ? undefined : readData))
    },
    async compare(name, body) {
      const document = parseBody(body, name)
      try {
        const found = await compareWithStored(store, name, { body, document })
        // Under the lease the events are replaced, and the version goes up.
        return found?.kind === 'older' && flags.leaseId !== undefined ? { ...found, kind: 'other', etag: '' } : found
      } catch (error) {
        // The container is created with the first copy: until then it holds nothing.
        if (error instanceof ContainerMissing && mayCreateContainer(store, createContainer)) return undefined
        return explainMissing(error)
      }
    },
  }
}

/** Adds the flag that creates a missing container. */
function explainMissing(error: unknown): never {
  if (!(error instanceof ContainerMissing)) throw error
  const hint = 'Repeat the command with --create-container.'
  throw new CommandFailed(problem('container-missing', error.message, { cause: error, hint }))
}
