import { randomUUID } from 'node:crypto'
import { type FollowItem, follow as followFrom } from '../ops/follow/follow.ts'
import { readOperation } from '../ops/operation-input.ts'
import { readStream as read, type StreamView } from '../ops/read-stream.ts'
import { type EditOutcome, edit } from '../ops/transact/edit.ts'
import { rewriteStream as rewrite } from '../ops/transact/rewrite.ts'
import { type TransactOptions, type TransactOutcome, transact as transactAs } from '../ops/transact/transact.ts'
import type { LeaseView, ListQuery, StreamStore } from '../store/store.ts'
import { sumOf } from '../stream/fingerprint.ts'
import type { Precondition } from '../stream/operations/apply.ts'
import type { Operation } from '../stream/operations/operation.ts'
import { type NewStream, readNewStream } from '../stream/specs.ts'
import {
  callback,
  flag,
  isObject,
  milliseconds,
  objectOf,
  signal as readAbortSignal,
  required,
  requiredText,
  storedText,
  text,
  uuid,
  whole,
  word,
  wrong,
} from '../stream/values.ts'
import type { SelectedValue } from '../stream/xpath/xpath.ts'
import { defined } from '../util/defined.ts'
import { checkReadable, checkTarget, commandId, reason, waitMs, write } from './checks.ts'
import { readDetails, type SignalDetails, StreamEditor } from './editor.ts'
import { StreamNotFound } from './errors.ts'
import { EventReader, StreamReader } from './reader.ts'
import { readSignal, type SignalOption } from './signal.ts'
import { type XPath, xpath } from './xpath.ts'

/** A stream as of the time of reading. */
export class StoredStream extends StreamReader<EventReader> {
  /** Identifies this state of the stream in the store; every write sets a new one. */
  readonly etag: string
  /** The lease as others see it. */
  readonly lease: LeaseView
  /** Time of the last write, epoch ms by the store's clock. */
  readonly modifiedMs: number
  /** Time of reading, epoch ms by the store's clock. */
  readonly readMs: number
  readonly #view: StreamView

  /** @internal */
  constructor(view: StreamView) {
    super(
      view.name,
      () => view,
      (id, source) => new EventReader(id, source),
    )
    this.#view = view
    this.etag = view.stored.etag
    this.lease = view.stored.lease
    this.modifiedMs = view.stored.modifiedMs
    this.readMs = view.nowMs
  }

  /**
   * Precondition for a change of exactly this state: the change is refused (`changed`) if the stream has changed since.
   * Heartbeats do not count as changes.
   */
  get pin(): Required<Precondition> {
    const { version, born, events } = this.#view.document
    return { ifVersion: version, ifBorn: born, ifSum: sumOf(events) }
  }

  /**
   * The events that an XPath expression selects, in document order: `await stream.select("./Event[@status='init']")`.
   * Synchronous for a parsed expression (`xpath`).
   *
   * @throws InvalidValue for an invalid expression, and if it selects values
   */
  override select(expression: string): Promise<readonly EventReader[]>
  override select(xpath: XPath): readonly EventReader[]
  override select(expression: string | XPath): Promise<readonly EventReader[]> | readonly EventReader[] {
    if (typeof expression !== 'string') return super.select(expression)
    return xpath(expression).then(read => super.select(read))
  }

  /** As `select`, with at least one event. @throws EventNotFound if it selects none; InvalidValue as `select` */
  override mustSelect(expression: string): Promise<readonly [EventReader, ...EventReader[]]>
  override mustSelect(xpath: XPath): readonly [EventReader, ...EventReader[]]
  override mustSelect(expression: string | XPath) {
    if (typeof expression !== 'string') return super.mustSelect(expression)
    return xpath(expression).then(read => super.mustSelect(read))
  }

  /**
   * The values of an XPath expression: `await stream.values('count(./Event)')`. Synchronous for a parsed expression (`xpath`).
   *
   * @throws InvalidValue for an invalid expression, and if it selects events
   */
  override values(expression: string): Promise<readonly SelectedValue[]>
  override values(xpath: XPath): readonly SelectedValue[]
  override values(expression: string | XPath) {
    if (typeof expression !== 'string') return super.values(expression)
    return xpath(expression).then(read => super.values(read))
  }
}

/**
 * Reads the current state of a stream. It takes no lease and changes nothing.
 *
 * @returns `undefined` if the stream does not exist
 * @throws BadName if the name is not valid for a stream; BadDocument if the document is not a readable event stream; the
 * store's faults
 */
export async function readStream(
  store: StreamStore,
  name: string,
  options: SignalOption = {},
): Promise<StoredStream | undefined> {
  checkReadable(store, name)
  const view = await read(store, name, readSignal(options, 'options').signal)
  return view && new StoredStream(view)
}

/**
 * Reads the current state of a stream that must exist.
 *
 * @throws StreamNotFound; BadName if the name is not valid for a stream; BadDocument if the document is not a readable event
 * stream; the store's faults
 */
export async function mustReadStream(
  store: StreamStore,
  name: string,
  options: SignalOption = {},
): Promise<StoredStream> {
  const stream = await readStream(store, name, options)
  if (stream === undefined) throw new StreamNotFound(name, store.address)
  return stream
}

/** Options of a change: actor, reason, waits, preconditions. */
export interface ChangeStreamOptions extends Omit<TransactOptions, 'commandId'> {
  /**
   * Idempotency key: a change with the same id is applied once, and repeating it returns the first result. Derive it from
   * the cause of the change, such as the id of a message. 1–196 characters of `A–Z a–z 0–9 . _ : / @ + % -`. Default: a fresh id
   * per call, which makes the attempts of one call safe.
   */
  readonly commandId?: string
}

const readChange = objectOf<ChangeStreamOptions>({
  by: required(requiredText),
  why: reason,
  commandId,
  leaseWaitMs: waitMs,
  leaseId: uuid,
  write,
  afterWrite: callback,
  onLeaseAttempt: callback,
  purpose: storedText(),
  stopWaiting: readAbortSignal,
  signal: readAbortSignal,
  ifVersion: whole(0),
  ifBorn: text,
  ifSum: text,
})

/**
 * Changes a stream in one write: all steps of `change` are applied together or not at all. `change` sees the current state,
 * protected from concurrent writes, and the effect of its own steps.
 *
 * ```ts
 * const outcome = await changeStream(store, 'orders/4711', { by: 'shop' }, stream => {
 *   const search = stream.mustFind('01.00')
 *   if (search.isOpen) search.complete('12 results')
 *   stream.mustFind('02.00').advance({ forks: ['Search', 'Search'], join: 'Merge' })
 * })
 * ```
 *
 * `change` must be synchronous and have no side effects but its steps: it is called again with a fresh state if another writer
 * was faster or an answer was lost. It may take at most 100 steps, fewer in a stream of thousands of events. The steps have
 * the command ids `ID/1`, `ID/2` …; if `ID/1` was applied before, `change` is not called.
 *
 * @returns `done` with a result for each step; `refused` with the first step that was refused, and nothing was written;
 * `missing`, `held`, `lost` or `unknown`
 * @throws errors of `change`, such as EventNotFound: nothing was written; InvalidValue for an invalid text or id and for an
 * asynchronous `change`; BadDocument and the store's faults
 */
export async function changeStream(
  store: StreamStore,
  name: string,
  options: ChangeStreamOptions,
  change: (stream: StreamEditor) => void,
): Promise<EditOutcome> {
  checkTarget(store, name)
  const given = { purpose: 'change', ...withCommandId(options) }
  callback(change, 'change')
  return edit(store, name, given, editing => change(new StreamEditor(name, editing)))
}

/**
 * Creates a stream: its root and, optionally, first forks with a join.
 *
 * @returns `done`; `refused` with `exists` if the stream exists, unless it was created with the same command id; `unknown`
 * @throws InvalidValue for an invalid text or id; the store's faults
 */
export async function createStream(
  store: StreamStore,
  name: string,
  options: ChangeStreamOptions,
  stream: NewStream = {},
): Promise<TransactOutcome> {
  checkTarget(store, name)
  const born = randomUUID()
  const init = {
    op: 'init',
    root: { name: 'Start' },
    forks: [],
    hold: false,
    ...readNewStream(stream, 'stream'),
    born,
  } as const
  return transactAs(store, name, init, withCommandId(options))
}

/**
 * Applies one operation to a stream in one write: wholly or not at all. Operations on the same stream that this process
 * requests at the same time share a write.
 *
 * @returns `done`, `refused`, `missing`, `held`, `lost` or `unknown`
 * @throws InvalidValue for an invalid text or id; BadDocument if the document is not readable, which leaves it unchanged; the
 * store's faults: nothing was applied
 */
export async function transact(
  store: StreamStore,
  name: string,
  operation: Operation,
  options: ChangeStreamOptions,
): Promise<TransactOutcome> {
  checkTarget(store, name)
  return transactAs(store, name, readOperation(operation, 'operation'), withCommandId(options))
}

/** Options of `rewriteStream`. */
export interface RewriteStreamOptions extends ChangeStreamOptions {
  /** The lease, which the caller holds from the reading of the document to this call: no other program writes in between. */
  readonly leaseId: string
}

/**
 * Writes a whole document over a stream, under a lease of the caller: its events and everything around them count as given,
 * while the journal, the version and the incarnation of the stored stream stay. What changed is one `foreign` entry of its
 * author. A claim that the stored stream does not have is not taken over. Use it where no operation helps: those check what
 * they change.
 *
 * ```ts
 * await leaseScope(store, 'orders/4711', { by: 'ann' }, async ({ leaseId, signal }) => {
 *   const text = Buffer.from((await store.read('orders/4711'))?.body ?? []).toString()
 *   const document = text.replace('key="nroth"', 'key="north"')
 *   return rewriteStream(store, 'orders/4711', document, { by: 'ann', why: 'wrong key', leaseId, signal })
 * })
 * ```
 *
 * @param document - The document as XML: a text, or bytes in UTF-8 or UTF-16
 * @returns as `transact`; `lost` if the lease is not held; `refused` with `not-started` if the stream has no event yet
 * @throws InvalidValue without `leaseId` and for a document without events; BadDocument if the given or the stored document is
 * not readable, which leaves it unchanged; otherwise as `transact`
 */
export async function rewriteStream(
  store: StreamStore,
  name: string,
  document: string | Uint8Array,
  options: RewriteStreamOptions,
): Promise<TransactOutcome> {
  checkTarget(store, name)
  if (typeof document !== 'string' && !(document instanceof Uint8Array)) {
    throw wrong('document', document, 'a text or a Uint8Array')
  }
  const { leaseId, ...given } = withCommandId(options)
  if (leaseId === undefined) throw wrong('options.leaseId', leaseId, 'the id of a lease that you hold')
  const body = typeof document === 'string' ? Buffer.from(document) : document
  return rewrite(store, name, body, { ...given, leaseId })
}

/**
 * Signals a stream that something happened outside: approved, paid, picked up. The event with the lowest id that waits for
 * the signal (`signal` of its specification) goes on, with `data` as its input. If none waits yet, the stream keeps it for
 * the first that will, at most 100 of them. With the same `commandId` it is given once.
 *
 * ```ts
 * await signal(store, 'orders/4711', 'paid', { by: 'bank', commandId: 'payment-31', data: '{"amount":12}' })
 * ```
 *
 * @returns as `transact`; `refused` with `already-final` or `signals-full`
 * @throws as `transact`
 */
export async function signal(
  store: StreamStore,
  name: string,
  signalName: string,
  options: ChangeStreamOptions & SignalDetails,
): Promise<TransactOutcome> {
  checkTarget(store, name)
  const { data, every, ...change } = objectOrEmpty<ChangeStreamOptions & SignalDetails>(options)
  const details = readDetails({ ...defined({ data, every }) }, 'options')
  const operation = { op: 'signal', name: requiredText(signalName, 'signalName'), ...details } as const
  return transactAs(store, name, operation, withCommandId(change as ChangeStreamOptions))
}

/** What is not an object is refused where its fields are read. */
export function objectOrEmpty<Options extends object>(given: Options): Partial<Options> {
  return isObject(given) ? given : {}
}

/** The options with a command id: a new one unless given. */
export function withCommandId(options: ChangeStreamOptions): TransactOptions {
  return { commandId: randomUUID(), ...readChange(options, 'options') }
}

/** Start and interval of `follow`. */
export interface FollowOptions extends SignalOption {
  /** Only transactions after this version. Default 0: from the beginning. */
  readonly fromVersion?: number
  /** The incarnation that `fromVersion` refers to: `born` of the stream. Default: the first one found. */
  readonly born?: string
  /** Polling interval, ms. Default 1 000. */
  readonly intervalMs?: number
}

/** The limit of timers: a longer time would fire at once. */
const LONGEST_PAUSE_MS = 2 ** 31 - 1

const readFollow = objectOf<FollowOptions>({
  fromVersion: whole(0),
  born: text,
  intervalMs: milliseconds(0, LONGEST_PAUSE_MS),
  signal: readAbortSignal,
})

/**
 * Follows the transactions of one stream in order, without gaps: the journal is complete, so it includes those between two
 * polls. It continues after the stream is done, because a retry may reopen it, and ends when the signal aborts or the
 * loop breaks.
 *
 * @throws InvalidValue for an invalid option; BadName, BadDocument and the store's faults except `StoreUnreachable`: an outage is
 * an item
 */
export function follow(store: StreamStore, name: string, options: FollowOptions = {}): AsyncGenerator<FollowItem> {
  checkReadable(store, name)
  return followFrom(store, name, { fromVersion: 0, intervalMs: 1_000, ...readFollow(options, 'options') })
}

/** A store that is closed at the end of its block: `await using store = await openStore('sqlite:orders.db')`. */
export interface OpenedStore extends StreamStore, AsyncDisposable {}

const readQuery = objectOf<ListQuery>({
  prefix: text,
  after: text,
  order: word(['name', 'due', 'any']),
  limit: whole(0),
  reserved: flag,
  skip: callback,
  signal: readAbortSignal,
})

/** The store with `Symbol.asyncDispose` for `await using`, and with validation of listing queries. */
export function disposable(store: StreamStore): OpenedStore {
  const list = store.list.bind(store)
  return Object.assign(store, {
    list: (query: ListQuery) => list(readQuery(query, 'options')),
    [Symbol.asyncDispose]: () => store.close(),
  })
}
