import type { DocumentView, SeenTransaction } from '../ops/read-stream.ts'
import type { Status, StreamEvent } from '../stream/event.ts'
import { type OpenWork, openEvents, openWork } from '../stream/ready-events.ts'
import { text } from '../stream/values.ts'
import type { SelectedValue } from '../stream/xpath/xpath.ts'
import { EventNotFound } from './errors.ts'
import type { EventReader, EventSource } from './reader.ts'
import { readXPath, type XPath } from './xpath.ts'

/** A stream, to be looked at: its events and what they amount to. Of a stream that is changed, each answer is that of the moment. */
export class StreamReader<Event extends EventReader = EventReader> {
  /** Name of the stream, as `orders/4711`. */
  readonly name: string
  readonly #source: EventSource<Event>
  #work: { readonly view: DocumentView; readonly open: OpenWork } | undefined

  /** @internal */
  constructor(name: string, view: () => DocumentView, make: (id: string, source: EventSource<Event>) => Event) {
    this.name = name
    const made = new Map<string, Event>()
    const source: EventSource<Event> = {
      get view() {
        return view()
      },
      eventAt(position) {
        const id = view().stream.at(position)?.id
        if (id === undefined) return undefined
        const event = made.get(id) ?? make(id, source)
        made.set(id, event)
        return event
      },
      isReady: event => this.#open().ready.includes(event),
    }
    this.#source = source
  }

  /** How many transactions it has seen. */
  get version(): number {
    return this.#view.document.version
  }
  /** The UUID of this stream's life: another one that has its name later has another. `''` where only others wrote. */
  get born(): string {
    return this.#view.document.born
  }
  /** The root's; `''` for a document without events. */
  get status(): Status | (string & {}) {
    return this.#view.stream.root?.status ?? ''
  }
  /** The root is final. */
  get isDone(): boolean {
    return this.#view.stream.done
  }
  /** The root is still `init`: nothing in the stream is worked or due until it is started. */
  get isHeld(): boolean {
    return this.#view.stream.held
  }
  /** Something below the root was aborted or canceled, and the root closed all the same. */
  get hasErrors(): boolean {
    return this.#view.stream.root?.lc.outcome === 'errors'
  }

  /** The first event. @throws EventNotFound in a document without events */
  get root(): Event {
    const root = this.#source.eventAt(0)
    if (root === undefined) throw new EventNotFound(this.name, 'in it')
    return root
  }
  /** All of them, in the order of the document. */
  get events(): readonly Event[] {
    const { stream } = this.#view
    return this.#at(stream.events.flatMap((_, position) => (stream.counts(position) ? [position] : [])))
  }
  /** Open events that nothing below keeps open. Joins that wait for their branches wait themselves: they are not among them. */
  get waitingOn(): readonly Event[] {
    return this.isDone ? [] : this.#found(this.#open().leaves)
  }
  /** Events that can be started. */
  get ready(): readonly Event[] {
    return this.#found(this.#open().ready)
  }
  /** Its transactions, oldest first; last, if there is one, what somebody else wrote and no transaction has recorded yet. */
  get history(): readonly SeenTransaction[] {
    return this.#view.transactions()
  }

  /** The event with this id. */
  find(id: string): Event | undefined {
    return this.#source.eventAt(this.#view.stream.positionOf(text(id, 'id')))
  }
  /** The event with this id. @throws EventNotFound */
  mustFind(id: string): Event {
    const event = this.find(id)
    if (event === undefined) throw new EventNotFound(this.name, id)
    return event
  }

  /** The events an expression selects, in the order of the document. @throws InvalidValue if it selects values */
  select(xpath: XPath): readonly Event[] {
    return this.#at(readXPath(xpath).positionsIn(this.#view.document))
  }
  /** The same, at least one. @throws EventNotFound if it selects none; InvalidValue if it selects values */
  mustSelect(xpath: XPath): readonly [Event, ...Event[]] {
    const [first, ...others] = this.select(xpath)
    if (first === undefined) throw new EventNotFound(this.name, xpath.expression)
    return [first, ...others]
  }
  /** The values of an expression such as `count(./Event)` or `./Event/@key`. @throws InvalidValue if it selects events */
  values(xpath: XPath): readonly SelectedValue[] {
    return readXPath(xpath).valuesIn(this.#view.document)
  }

  get #view(): DocumentView {
    return this.#source.view
  }

  #open(): OpenWork {
    const view = this.#view
    if (this.#work?.view !== view) this.#work = { view, open: openWork(view.stream, openEvents(view.stream)) }
    return this.#work.open
  }

  #found(events: readonly StreamEvent[]): readonly Event[] {
    return this.#at(events.map(({ id }) => this.#view.stream.positionOf(id)))
  }

  #at(positions: readonly number[]): readonly Event[] {
    return positions.flatMap(position => this.#source.eventAt(position) ?? [])
  }
}
