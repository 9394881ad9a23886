import { globOf } from '../ops/glob.ts'
import type { JournalEntry } from '../ops/read-stream.ts'
import { type Partition, readPartition } from '../ops/shards/partition.ts'
import { thisHost } from '../ops/transact/transact.ts'
import { checkFolderName } from '../store/names.ts'
import type { StreamStore } from '../store/store.ts'
import { InvalidValue, LeasectlError } from '../stream/errors.ts'
import { JOURNAL_OPERATIONS } from '../stream/journal/operations.ts'
import {
  callback,
  flag,
  inField,
  isObject,
  listOf,
  milliseconds,
  nonEmptyText,
  objectOf,
  type Read,
  signal as readAbortSignal,
  required,
  requiredText,
  whole,
  word,
  wrong,
} from '../stream/values.ts'
import { readCommand, type SagaCommand, type StreamCommand } from '../subscriptions/commands/command.ts'
import { executeCommands } from '../subscriptions/commands/execute.ts'
import { runSubscription } from '../subscriptions/engine.ts'
import { DEFAULT_SHARDS } from '../subscriptions/subscription.ts'
import type { Delivery, DeliveryResult, Handled, Handler, OnPoison, SubscriptionSpec } from '../subscriptions/types.ts'
import { CLOCKS_DIFFER_MS } from '../util/clock.ts'
import { defined } from '../util/defined.ts'
import type { WorkResult } from '../worker/types.ts'
import { checkStore } from './checks.ts'

/** Options of `subscribe`. All processes of a subscription need the same filters and the same number of shards. */
export interface SubscriptionOptions {
  /** Name of the subscription, under which its position is kept: letters, digits, `.`, `_` and `-`. */
  readonly as: string
  /** Globs of the streams: `orders/**`. Default: all. */
  readonly match?: string | readonly string[]
  /** Globs of streams to leave out. */
  readonly notMatch?: string | readonly string[]
  /** Only these operations: `complete`, `cancel`, `foreign`. */
  readonly ops?: readonly string[]
  /** Only transactions that change an event of one of these names. */
  readonly eventNames?: readonly string[]
  /** Only the transaction with which a stream ends. */
  readonly doneOnly?: boolean
  /** Where a new subscription begins; no time to come. Default `now`. */
  readonly from?: 'start' | 'now' | Date
  /** Number of streams at a time. Default 32. */
  readonly concurrency?: number
  /** Time between two polls, ms. Default 1 000. */
  readonly intervalMs?: number
  /** How often a transaction is tried before its stream is parked. Default 8, within a quarter of an hour. */
  readonly tries?: number
  /** After the last try: the stream is parked until someone decides, or the transaction is left out. Default `park`. */
  readonly onPoison?: OnPoison
  /** Number of shards of a new subscription, which its processes share, 1 to 256. Default 8. */
  readonly shards?: number
  /** Only streams of this partition; `shards` must be a multiple of their number. */
  readonly partition?: Partition
  /** Actor of the commands. Default: the name of the subscription and the host. */
  readonly by?: string
  /** Drains: after its abort nothing more is handed over, and `subscribe` ends when the running handlers have ended. */
  readonly drain?: AbortSignal
  /** Ends `subscribe`, and aborts the signal of the running handlers: what they have not handled comes again. */
  readonly signal?: AbortSignal
  /** Called for everything that happens. It must not throw. */
  readonly observe?: (event: SubscriptionEvent) => void
}

/** An event of a subscription. */
export type SubscriptionEvent =
  /** The handler has ended, and its commands are executed unless it failed. */
  | {
      readonly kind: 'delivery'
      readonly transaction: SubscribedTransaction
      /**
       * `waiting`: tried again. `parked`: not tried again until someone decides. `skipped`: left out after the last try. `stopped`:
       * left to the next process. `lost`: the shard belongs to another process, which delivers it again.
       */
      readonly outcome: 'handled' | 'waiting' | 'parked' | 'skipped' | 'stopped' | 'lost'
      /** Failed tries so far. */
      readonly tries: number
      /** Why it was not handled. */
      readonly why?: string
      /** When a waiting stream is tried again, epoch ms. */
      readonly nextMs?: number
    }
  /** The shards that this process has now. */
  | { readonly kind: 'shards'; readonly held: readonly number[]; readonly count: number }
  /** Something does not work, and is tried again; once until it works. */
  | { readonly kind: 'trouble'; readonly what: string; readonly text: string; readonly cause?: unknown }
  | { readonly kind: 'recovered'; readonly what: string }

/** A transaction of a stream, as a subscription hands it over. */
export interface SubscribedTransaction extends JournalEntry {
  readonly stream: string
  /** The incarnation of the stream. */
  readonly born: string
  /** `{born}@{version}`: the same each time the transaction is delivered. */
  readonly deliveryId: string
  /** The stream ended with it. */
  readonly done: boolean
  /** How often it has been delivered, from 1. */
  readonly attempt: number
}

/** What a handler can do. */
export interface SubscriptionContext {
  /**
   * Sends a command to a stream. It is executed after the handler has succeeded, once, however often the transaction is
   * delivered. At most 100 in a delivery. @throws InvalidValue for an invalid command
   */
  send(command: StreamCommand): Promise<undefined>
  /** Aborts if the handler must stop; the transaction comes again. */
  readonly signal: AbortSignal
}

/**
 * Handles a transaction. An error fails it: it is tried again, and in the end its stream is parked. `transient()`, returned or
 * thrown, puts it off. Anything else means that it is handled.
 */
export type SubscriptionHandler = (
  transaction: SubscribedTransaction,
  context: SubscriptionContext,
) => Promise<WorkResult | undefined> | WorkResult | undefined

const globs: Read<string | readonly string[]> = (given, field) => {
  const list = typeof given === 'string' ? [given] : listOf(nonEmptyText)(given, field)
  for (const pattern of list) inField(field, () => globOf(nonEmptyText(pattern, field)))
  return list
}

const name: Read<string> = (given, field) => {
  const read = nonEmptyText(given, field)
  inField(field, () => checkFolderName(read, 'a subscription'))
  return read
}

const startPoint: Read<'start' | 'now' | Date> = (given, field) => {
  if (given instanceof Date && !Number.isNaN(given.getTime())) return given
  if (given === 'start' || given === 'now') return given
  throw wrong(field, given, "'start', 'now' or a Date")
}

const readOptions = objectOf<SubscriptionOptions>({
  as: required(name),
  match: globs,
  notMatch: globs,
  ops: listOf(word(JOURNAL_OPERATIONS)),
  eventNames: listOf(requiredText),
  doneOnly: flag,
  from: startPoint,
  concurrency: whole(1),
  intervalMs: milliseconds(1, 2 ** 31 - 1),
  tries: whole(1),
  onPoison: word(['park', 'skip']),
  shards: whole(1, 256),
  partition: readPartition,
  by: requiredText,
  drain: readAbortSignal,
  signal: readAbortSignal,
  observe: callback,
})

const DEFAULT_CONCURRENCY = 32
const DEFAULT_INTERVAL_MS = 1_000

/**
 * Hands every transaction of every matching stream to `handler`: in order for each stream, one at a time, streams side by side,
 * from where the subscription of this name stopped. A transaction is handed over again only if the process dies between
 * the end of the handler and the write of the position.
 *
 * ```ts
 * await subscribe(store, { as: 'billing', match: 'orders/**', drain }, async (transaction, { send }) => {
 *   if (transaction.done) await send({ do: 'init', stream: `invoices/${transaction.stream}`, root: 'Invoice' })
 * })
 * ```
 *
 * Processes of one name share its streams; other names are other groups, each of which sees everything.
 *
 * @returns when `drain` or `signal` aborts, after the position is written
 * @throws InvalidValue for invalid options, and if the subscription exists with other filters; BadDocument or
 * StoreIncompatible if its document is damaged, or from a newer leasectl; the store's faults except `StoreUnreachable`, whose
 * end is waited for
 */
export async function subscribe(
  store: StreamStore,
  options: SubscriptionOptions,
  handler: SubscriptionHandler,
): Promise<void> {
  checkStore(store)
  const given = readOptions(options, 'options')
  callback(handler, 'handler')
  const { as, from, by = `${as}@${thisHost()}`, drain, signal, partition, tries, onPoison, observe } = given
  const abort = signal ?? new AbortController().signal
  const ends = drain === undefined ? abort : AbortSignal.any([abort, drain])
  const run = {
    spec: specOf(given),
    handler: handlerOf(store, handler, by),
    by,
    concurrency: given.concurrency ?? DEFAULT_CONCURRENCY,
    intervalMs: given.intervalMs ?? DEFAULT_INTERVAL_MS,
    abort,
    ...defined({ partition, tries, onPoison, fromMs: fromMsOf(from, store.nowMs()) }),
    ...(observe === undefined ? {} : { observer: observerOf(observe) }),
  }
  try {
    await runSubscription(store, run, ends)
  } catch (error) {
    // It was aborted before it had begun.
    if (!ends.aborted || error !== ends.reason) throw error
  }
}

function specOf({ as, match, notMatch, ops, eventNames, doneOnly, shards }: SubscriptionOptions): SubscriptionSpec {
  return {
    name: as,
    match: listIn(match),
    notMatch: listIn(notMatch),
    ops: ops ?? [],
    eventNames: eventNames ?? [],
    doneOnly: doneOnly ?? false,
    shards: shards ?? DEFAULT_SHARDS,
  }
}

function listIn(given: string | readonly string[] = []): readonly string[] {
  return typeof given === 'string' ? [given] : given
}

function fromMsOf(from: SubscriptionOptions['from'], nowMs: number): number | undefined {
  if (!(from instanceof Date)) return from === 'start' ? 0 : undefined
  if (from.getTime() > nowMs + CLOCKS_DIFFER_MS) throw new InvalidValue('from is in the future')
  return Math.max(0, from.getTime())
}

function handlerOf(store: StreamStore, handle: SubscriptionHandler, by: string): Handler {
  return async (delivery, signal) => {
    const commands: SagaCommand[] = []
    let isOver = false
    const send = async (command: StreamCommand): Promise<undefined> => {
      if (isOver) throw new TypeError('send() was called after the handler had ended: await it in the handler')
      commands.push(readCommand(command, 'command'))
    }
    let handled: Handled
    try {
      handled = handledBy(await handle(transactionOf(delivery), { send, signal }))
    } catch (error) {
      handled = signal.aborted ? { kind: 'stopped' } : failedBy(error)
    } finally {
      isOver = true
    }
    if (handled.kind !== 'handled' || commands.length === 0) return handled
    return executeCommands(store, delivery, commands, { by, signal })
  }
}

function handledBy(result: unknown): Handled {
  if (!isObject(result) || !('op' in result) || result.op === 'complete') return { kind: 'handled' }
  if (result.op === 'fail') return failedBy(result)
  throw wrong('the result of the handler', result, 'transient(), fail() or nothing')
}

/** An error, or what `transient()` and `fail()` make. */
function failedBy(thrown: unknown): Handled {
  if (isObject(thrown) && thrown.op === 'fail') {
    const why = typeof thrown.msg === 'string' && thrown.msg !== '' ? thrown.msg : 'the handler failed'
    return { kind: thrown.transient === true ? 'transient' : 'failed', why }
  }
  if (!(thrown instanceof Error)) return { kind: 'failed', why: String(thrown) }
  return {
    kind: 'failed',
    why: thrown instanceof LeasectlError ? `${thrown.message} [${thrown.code}]` : String(thrown),
  }
}

function transactionOf({ stream, born, id, done, attempt, transaction }: Delivery): SubscribedTransaction {
  return { ...transaction, stream, born, deliveryId: id, done, attempt }
}

function observerOf(observe: NonNullable<SubscriptionOptions['observe']>) {
  return {
    delivered: ({ delivery, handled, outcome, tries, nextMs }: DeliveryResult) => {
      const why = 'why' in handled ? handled.why : undefined
      observe({ kind: 'delivery', transaction: transactionOf(delivery), outcome, tries, ...defined({ why, nextMs }) })
    },
    shards: (held: readonly number[], count: number) => observe({ kind: 'shards', held, count }),
    troubled: ({ what, text, cause }: { readonly what: string; readonly text: string; readonly cause?: unknown }) =>
      observe({ kind: 'trouble', what, text, ...defined({ cause }) }),
    recovered: (what: string) => observe({ kind: 'recovered', what }),
  }
}
