import { agreeOnWork } from '../inbox/drain/agreement.ts'
import { drain as drainInbox } from '../inbox/drain/drain.ts'
import type { DrainEvent, DrainReport } from '../inbox/drain/types.ts'
import {
  afterError,
  type DrainWork,
  inputOf,
  inStrictOrder,
  outcomeOf,
  type RecordOutcome,
} from '../inbox/drain/work.ts'
import { readInbox } from '../inbox/inbox.ts'
import type { InboxRecord } from '../inbox/record.ts'
import { PutUnknown } from '../inbox/writer.ts'
import { type Partition, readPartition } from '../ops/shards/partition.ts'
import { appendStep } from '../ops/transact/append.ts'
import { thisHost, transact } from '../ops/transact/transact.ts'
import type { StreamStore } from '../store/store.ts'
import { InvalidValue, LeasectlError } from '../stream/errors.ts'
import type { Operation } from '../stream/operations/operation.ts'
import {
  callback,
  flag,
  isObject,
  milliseconds,
  objectOf,
  type Read,
  signal as readAbortSignal,
  requiredText,
  text,
  whole,
} from '../stream/values.ts'
import { readCommand, type StreamCommand } from '../subscriptions/commands/command.ts'
import { defined } from '../util/defined.ts'
import type { WorkResult } from '../worker/types.ts'
import { checkStore } from './checks.ts'
import { InboxNotFound } from './errors.ts'

/** Options of `drain`. */
export interface DrainInboxOptions {
  /** What the program does with the records, in a word: all drains of an inbox do the same. Default `a program`. */
  readonly as?: string
  /** Replaces what the drains of the inbox have done so far. Stop the others before. */
  readonly force?: boolean
  /** The store of the inbox, if it is another than that of the streams. */
  readonly inboxStore?: StreamStore
  /** Records at a time, at most. Default 256. */
  readonly concurrency?: number
  /** Records a second, at most. */
  readonly rate?: number
  /** A checkpoint of a partition is written after so many records. Default 1 000. */
  readonly checkpointEvery?: number
  /** A checkpoint of a partition is written at the latest after this time, ms. Default 1 000. */
  readonly checkpointIntervalMs?: number
  /** A dead letter blocks its key: the later records of the key wait until it is retried or dropped. */
  readonly strictOrder?: boolean
  /** Only these partitions of the inbox, whose number must be a multiple of theirs. */
  readonly partition?: Partition
  /** Ends once all that was there at the beginning is drained. */
  readonly once?: boolean
  /** Removes drained records that are older, ms. Default: all are kept. */
  readonly keepMs?: number
  /** Actor of the changes. Default: the inbox and the host. */
  readonly by?: string
  /** Ends the drain after the records being worked on. */
  readonly signal?: AbortSignal
  /** Called for everything that happens. It must not throw. */
  readonly observe?: (event: DrainEvent) => void
}

/**
 * What becomes of a record: an operation on a stream, or nothing. It must be the same whenever the record comes again. An error
 * makes the record a dead letter; `transient()`, returned or thrown, has it tried again, for up to five minutes.
 */
export type RecordHandler = (
  record: InboxRecord,
) => Promise<StreamCommand | WorkResult | undefined> | StreamCommand | WorkResult | undefined

const store: Read<StreamStore> = given => {
  checkStore(given)
  return given
}

const readOptions = objectOf<DrainInboxOptions>({
  as: requiredText,
  force: flag,
  inboxStore: store,
  concurrency: whole(1, 1_024),
  rate: whole(1),
  checkpointEvery: whole(1),
  checkpointIntervalMs: milliseconds(1, 2 ** 31 - 1),
  strictOrder: flag,
  partition: readPartition,
  once: flag,
  keepMs: milliseconds(0),
  by: requiredText,
  signal: readAbortSignal,
  observe: callback,
})

const DEFAULT_CONCURRENCY = 256

/**
 * Drains an inbox: `handler` makes of each record one operation on a stream, which has its effect once, however often the record
 * comes. The data of the record is the input of the root, or of the step, unless the handler gives another. Records of one key are done in the order of their puts, others side by side. Any number of processes share the inbox.
 *
 * ```ts
 * await drain(store, 'deliveries', ({ id }) => ({ do: 'init', stream: `deliveries/${id}`, root: 'Delivery' }))
 * ```
 *
 * @returns once `signal` aborts, or with `once` when all is drained
 * @throws InboxNotFound; InvalidValue for invalid options, and if other drains of the inbox do something else; BadDocument or
 * StoreIncompatible if a checkpoint is damaged, or from a newer leasectl; PutUnknown; the store's faults except
 * `StoreUnreachable` and `StoreFull`, whose end is waited for
 */
export async function drain(
  store: StreamStore,
  name: string,
  handler: RecordHandler,
  options: DrainInboxOptions = {},
): Promise<DrainReport> {
  checkStore(store)
  callback(handler, 'handler')
  const given = readOptions(options, 'options')
  const { inboxStore = store, as = 'a program', partition, signal = new AbortController().signal } = given
  const inbox = await readInbox(inboxStore, text(name, 'name'), signal)
  if (inbox === undefined) throw new InboxNotFound(name, inboxStore.address)
  if (partition !== undefined && inbox.partitions % partition.count !== 0)
    throw new InvalidValue(`the ${inbox.partitions} partitions of ${name} cannot be divided by ${partition.count}`)
  const { by = `${name}@${thisHost()}`, strictOrder = false, force = false, concurrency = DEFAULT_CONCURRENCY } = given
  const handled = handlerWork(store, handler, { by, description: as })
  const work = strictOrder ? inStrictOrder(handled) : handled
  const agreed = await agreeOnWork(inboxStore, inbox, work, { by, force, signal })
  if (agreed.kind === 'different')
    throw new InvalidValue(`the inbox ${name} is drained to ${agreed.description}, since ${agreed.by}`, {
      hint: 'force: true replaces that; stop the other drains before.',
    })
  if (agreed.kind !== 'agreed')
    throw new PutUnknown(`what the drains of ${name} do could not be written: ${agreed.kind}`)
  const { rate, checkpointEvery, checkpointIntervalMs, once, keepMs, observe } = given
  const limits = { rate, checkpointEvery, checkpointIntervalMs, once, keepMs, observe }
  return drainInbox(inboxStore, { ...limits, inbox, work, by, concurrency, strictOrder, part: partition }, signal)
}

function handlerWork(
  store: StreamStore,
  handler: RecordHandler,
  { by, description }: { readonly by: string; readonly description: string },
): DrainWork {
  return {
    description,
    fingerprint: `program:${description}`,
    apply: async ({ record, json }, commandId) => {
      let made: unknown
      try {
        made = await handler(record)
      } catch (error) {
        return failedBy(error)
      }
      if (made === undefined) return { kind: 'ignored', stream: '' }
      if (isObject(made) && 'op' in made) return failedBy(made)
      return execute(store, made, json, { by, commandId })
    },
  }
}

async function execute(
  store: StreamStore,
  made: unknown,
  json: string,
  authorship: { readonly by: string; readonly commandId: string },
): Promise<RecordOutcome> {
  let stream: string | undefined
  try {
    const { operation: given, create, why, ifRefused, ...target } = readCommand(made, 'the operation')
    stream = target.stream
    const operation = withInput(given, json)
    const options = { ...authorship, ...defined({ why }), purpose: 'drain' }
    const outcome =
      operation.op === 'append'
        ? await appendStep(store, stream, { ...operation, ...defined({ create }) }, options)
        : await transact(store, stream, operation, options)
    const isRefused = outcome.kind === 'refused' || outcome.kind === 'missing'
    if (isRefused && ifRefused === 'ignore') return { kind: 'ignored', stream }
    // One that creates its stream has met a removal, and is repeated.
    if (outcome.kind === 'missing' && create === undefined)
      return { kind: 'dead', code: 'stream-not-found', why: `there is no stream ${stream}`, stream }
    return outcomeOf(outcome, stream, DONE[operation.op] ?? 'changed')
  } catch (error) {
    return afterError(error, stream)
  }
}

/** The record is the input of the root, or of the step, unless the handler gives another. */
function withInput(operation: Operation, json: string): Operation {
  if (operation.op === 'init') return { ...operation, root: { data: inputOf(json), ...operation.root } }
  return operation.op === 'append' ? { ...operation, step: { data: inputOf(json), ...operation.step } } : operation
}

const DONE: Readonly<Record<string, 'created' | 'appended'>> = { init: 'created', append: 'appended' }

/** An error, or what `transient()` and `fail()` make. */
function failedBy(thrown: unknown): RecordOutcome {
  if (isObject(thrown) && thrown.op === 'fail') {
    const why = typeof thrown.msg === 'string' && thrown.msg !== '' ? thrown.msg : 'the handler failed'
    return thrown.transient === true
      ? { kind: 'again', code: 'transient', why, isOverload: false }
      : { kind: 'dead', code: 'failed', why }
  }
  const why = thrown instanceof LeasectlError ? `${thrown.message} [${thrown.code}]` : String(thrown)
  return {
    kind: 'dead',
    code: 'failed',
    why: isObject(thrown) && 'op' in thrown ? 'the handler returned no operation' : why,
  }
}
