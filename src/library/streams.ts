import { readStream as read, type StreamView } from '../ops/read-stream.ts'
import type { EventStore, LeaseView } from '../store/store.ts'
import { sumOf } from '../stream/fingerprint.ts'
import type { Pin } from '../stream/precondition.ts'
import { objectOf, signal } from '../stream/values.ts'
import type { SelectedValue } from '../stream/xpath/xpath.ts'
import { checkReadable } from './checks.ts'
import { StreamNotFound } from './errors.ts'
import { EventReader } from './reader.ts'
import { StreamReader } from './stream-reader.ts'
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
  get pin(): Required<Pin> {
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
  store: EventStore,
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
  store: EventStore,
  name: string,
  options: SignalOption = {},
): Promise<StoredStream> {
  const stream = await readStream(store, name, options)
  if (stream === undefined) throw new StreamNotFound(name)
  return stream
}
