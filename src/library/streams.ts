import { randomUUID } from 'node:crypto'
import { type FollowItem, follow as followFrom } from '../ops/follow/follow.ts'
import { readStream as read, type StreamView } from '../ops/read-stream.ts'
import { type EditOutcome, edit } from '../ops/transact/edit.ts'
import { type TransactOptions, type TransactOutcome, transact as transactAs } from '../ops/transact/transact.ts'
import type { LeaseView, ListQuery, StreamStore } from '../store/store.ts'
import { sumOf } from '../stream/fingerprint.ts'
import type { Precondition } from '../stream/operations/apply.ts'
import type { EventSpec, Operation } from '../stream/operations/operation.ts'
import { checkCommandId } from '../stream/text.ts'
import {
  callback,
  flag,
  inField,
  milliseconds,
  objectOf,
  type Read,
  required,
  requiredText,
  signal,
  storedText,
  text,
  uuid,
  whole,
  word,
} from '../stream/values.ts'
import type { SelectedValue } from '../stream/xpath/xpath.ts'
import { checkReadable, checkTarget, reason, waitMs, write } from './checks.ts'
import { StreamEditor } from './editor.ts'
import { StreamNotFound } from './errors.ts'
import { readOperation } from './operations.ts'
import { EventReader, StreamReader } from './reader.ts'
import { type EventInput, readEvent, SUCCESSORS, type SuccessorSpecs, type Successors } from './specs.ts'
import { type XPath, xpath } from './xpath.ts'

/** Whatever takes a signal only. */
export interface SignalOption {
  /** Ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

export const readSignal = objectOf<SignalOption>({ signal })

/** A stream as it stood when it was read. */
export class StoredStream extends StreamReader<EventReader> {
  /** The store's mark of this state; another after each write. */
  readonly etag: string
  /** The lease as others see it. */
  readonly lease: LeaseView
  /** When the store last wrote it, epoch ms by the store's clock. */
  readonly modifiedMs: number
  /** When it was read, epoch ms by the store's clock. */
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

  /** The state that was read: a change with it is refused (`changed`) unless the stream still stands so. Heartbeats do not count. */
  get pin(): Required<Precondition> {
    const { version, born, events } = this.#view.document
    return { ifVersion: version, ifBorn: born, ifSum: sumOf(events) }
  }

  /**
   * The events an XPath expression selects, in the order of the document: `await stream.select("./Event[@status='init']")`.
   * With an expression that was read before (`xpath`) it is synchronous.
   *
   * @throws InvalidValue for what is no XPath, and if it selects values
   */
  override select(expression: string): Promise<readonly EventReader[]>
  override select(xpath: XPath): readonly EventReader[]
  override select(expression: string | XPath): Promise<readonly EventReader[]> | readonly EventReader[] {
    if (typeof expression !== 'string') return super.select(expression)
    return xpath(expression).then(read => super.select(read))
  }

  /** The same, at least one. @throws EventNotFound if it selects none; InvalidValue as `select` does */
  override mustSelect(expression: string): Promise<readonly [EventReader, ...EventReader[]]>
  override mustSelect(xpath: XPath): readonly [EventReader, ...EventReader[]]
  override mustSelect(expression: string | XPath) {
    if (typeof expression !== 'string') return super.mustSelect(expression)
    return xpath(expression).then(read => super.mustSelect(read))
  }

  /**
   * The values of an XPath expression: `await stream.values('count(./Event)')`.
   *
   * @throws InvalidValue for what is no XPath, and if it selects events
   */
  override values(expression: string): Promise<readonly SelectedValue[]>
  override values(xpath: XPath): readonly SelectedValue[]
  override values(expression: string | XPath) {
    if (typeof expression !== 'string') return super.values(expression)
    return xpath(expression).then(read => super.values(read))
  }
}

/**
 * Reads a stream as it stands. Takes no lease, changes nothing.
 *
 * @returns `undefined` if there is none
 * @throws BadName no stream can have this name; BadDocument it cannot be read as an event stream; the store's faults
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
 * Reads a stream that has to be there.
 *
 * @throws StreamNotFound; BadName no stream can have this name; BadDocument it cannot be read as an event stream; the store's faults
 */
export async function mustReadStream(
  store: StreamStore,
  name: string,
  options: SignalOption = {},
): Promise<StoredStream> {
  const stream = await readStream(store, name, options)
  if (stream === undefined) throw new StreamNotFound(name)
  return stream
}

/** How a stream is changed: by whom, why, and how long to wait for it. */
export interface ChangeStreamOptions extends Omit<TransactOptions, 'commandId'> {
  /**
   * Makes a repetition safe: what was done under an id is not done again, the first result comes back. Take one that follows
   * from what causes the change, as the id of a message. 1–196 characters of `A–Z a–z 0–9 . _ : / @ + % -`. Default: a fresh
   * one for each call, which makes the tries of one call safe.
   */
  readonly commandId?: string
}

const commandId: Read<string> = (given, field) => {
  inField(field, () => checkCommandId(text(given, field)))
  return text(given, field)
}

const readChange = objectOf<ChangeStreamOptions>({
  by: required(requiredText),
  why: reason,
  commandId,
  leaseWaitMs: waitMs,
  leaseId: uuid,
  write,
  afterWrite: callback,
  purpose: storedText(),
  stopWaiting: signal,
  signal,
  ifVersion: whole(0),
  ifBorn: text,
  ifSum: text,
})

/** A stream that is to be created. */
export interface NewStream extends Omit<Successors, 'next'> {
  /** Its first event. Default `Start`. */
  readonly root?: EventInput
  /** The root stays `init`: nothing in the stream is worked or due until the root is started. */
  readonly hold?: boolean
}

const { forks, join } = SUCCESSORS

const readNewStream = objectOf<{
  readonly root?: EventSpec
  readonly forks?: SuccessorSpecs['forks']
  readonly join?: EventSpec
  readonly hold?: boolean
}>({ root: readEvent, forks, join, hold: flag })

/**
 * Changes a stream in one write: whatever steps `change` takes land together or not at all. It sees the stream as it
 * stands while others are kept away, and what its own steps made of it.
 *
 * ```ts
 * const outcome = await changeStream(store, 'orders/4711', { by: 'shop' }, stream => {
 *   const search = stream.mustFind('01.00')
 *   if (search.isOpen) search.complete('12 results')
 *   stream.mustFind('02.00').advance({ forks: ['Search', 'Search'], join: 'Merge' })
 * })
 * ```
 *
 * `change` must be synchronous, and do nothing but look and take steps: it is called again, with the state of then, where
 * somebody else was faster or an answer was lost. At most 100 steps, fewer in a stream of thousands of events. The steps have
 * the command ids `ID/1`, `ID/2` …; was `ID/1` done before, `change` is not called.
 *
 * @returns done with a result for each step, refused (by the first step that is not legal; nothing was written), missing, held,
 * lost or unknown
 * @throws what `change` throws, as EventNotFound: nothing was written; InvalidValue a text or id that can never be right, an
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
 * Creates a stream: its root and, if asked, a first fork with a join.
 *
 * @returns done; refused with `exists` if there is one already, unless it was made under the same command id; unknown
 * @throws InvalidValue a text or id that can never be right; the store's faults
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
 * One operation on a stream: read, applied, written once. It lands whole or not at all. Operations on the same stream that
 * are asked for at the same time in this process are written together.
 *
 * @returns done, refused, missing, held, lost or unknown
 * @throws InvalidValue a text or id that can never be right; BadDocument the document cannot be read (it stays as it is); the
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

function withCommandId(options: ChangeStreamOptions): TransactOptions {
  return { commandId: randomUUID(), ...readChange(options, 'options') }
}

/** From where, and how often, a stream is followed. */
export interface FollowOptions extends SignalOption {
  /** Only transactions after this version. Default 0: from the beginning. */
  readonly fromVersion?: number
  /** The life of the stream that `fromVersion` counts in, its `born`; without it, the one that is met first. */
  readonly born?: string
  /** How often it is looked, ms. Default 1 000. */
  readonly intervalMs?: number
}

/** Timers take no more: a longer time would be none. */
const LONGEST_PAUSE_MS = 2 ** 31 - 1

const readFollow = objectOf<FollowOptions>({
  fromVersion: whole(0),
  born: text,
  intervalMs: milliseconds(0, LONGEST_PAUSE_MS),
  signal,
})

/**
 * The transactions of one stream in order, without a gap: the journal is complete, so whatever happened between two looks is
 * in it. Goes on when the stream is done (a retry may reopen it) and ends when the signal aborts, or the loop breaks.
 *
 * @throws InvalidValue for what can never be right; BadName, BadDocument and the store's faults but `StoreUnreachable`: an outage is an item
 */
export function follow(store: StreamStore, name: string, options: FollowOptions = {}): AsyncGenerator<FollowItem> {
  checkReadable(store, name)
  return followFrom(store, name, { fromVersion: 0, intervalMs: 1_000, ...readFollow(options, 'options') })
}

/** A store that closes itself at the end of its block: `await using store = await openStore('sqlite:orders.db')`. */
export interface OpenedStore extends StreamStore, AsyncDisposable {}

const readQuery = objectOf<ListQuery>({
  prefix: text,
  after: text,
  order: word(['name', 'due', 'any']),
  limit: whole(0),
  skip: callback,
  signal,
})

/** The same store, with what `await using` asks of it; a listing knows what it is asked for. */
export function disposable(store: StreamStore): OpenedStore {
  const list = store.list.bind(store)
  return Object.assign(store, {
    list: (query: ListQuery) => list(readQuery(query, 'options')),
    [Symbol.asyncDispose]: () => store.close(),
  })
}
