import type { DocumentView, JournalEntry } from '../ops/read-stream.ts'
import {
  attemptOf,
  fenceOf,
  isFailed,
  isFinal,
  isSuperseded,
  isWaitingJoin,
  type Status,
  type StreamEvent,
} from '../stream/event.ts'
import { type OpenEvents, openEvents, openWork } from '../stream/event-stream.ts'
import { claimEndMs, claimRuns, dueMs } from '../stream/time/deadlines.ts'
import { text } from '../stream/values.ts'
import type { SelectedValue } from '../stream/xpath/xpath.ts'
import { EventNotFound } from './errors.ts'
import { readXPath, type XPath } from './xpath.ts'

/** What an event asks of the stream it stands in. */
export interface EventSource<Event> {
  readonly view: DocumentView
  eventAt(position: number): Event | undefined
  isReady(event: StreamEvent): boolean
}

/**
 * One event of a stream that was read. Texts are `''` where the attribute is absent. Of an event that is changed
 * (`EventEditor`) each answer is that of the moment.
 */
export class EventReader {
  /** Place in the tree of threads: `00` is the root, `01.00` the first step of thread 01. */
  readonly id: string
  readonly #source: EventSource<EventReader>

  /** @internal */
  constructor(id: string, source: EventSource<EventReader>) {
    this.id = id
    this.#source = source
  }

  /** The event as the document has it: all attributes, those of others too. */
  get raw(): StreamEvent {
    const { stream } = this.#source.view
    const event = stream.find(this.id)
    // Events are never removed by a change of ours.
    if (event === undefined) throw new Error(`the event ${this.id} is gone`)
    return event
  }

  get name(): string {
    return this.raw.name
  }
  /** One of five, or what another writer made of it: anything else is open. */
  get status(): Status | (string & {}) {
    return this.raw.status
  }
  get topic(): string {
    return this.raw.topic
  }
  get key(): string {
    return this.raw.key
  }
  /** A short result, progress or error text, or a reference to what the worker has to read. */
  get msg(): string {
    return this.raw.msg
  }
  get ref(): string {
    return this.raw.ref
  }
  get tag(): string {
    return this.raw.tag
  }
  get trackingId(): string {
    return this.raw.trackingId
  }
  /** As written: a .NET TimeSpan, an ISO 8601 duration or a date and time. */
  get timeout(): string {
    return this.raw.timeout
  }

  /** When it was added, epoch ms; `undefined` where that is missing or unreadable. */
  get createdMs(): number | undefined {
    return this.#timeOf(this.raw.created)
  }
  /** When it was last touched, heartbeats included, epoch ms; `undefined` where that is missing or unreadable. */
  get touchedMs(): number | undefined {
    return this.#timeOf(this.raw.timestamp)
  }
  /** When its limit ends or ended, epoch ms; `undefined` for never. */
  get dueMs(): number | undefined {
    const { stream, time } = this.#source.view
    return dueMs(stream, this.raw, time)
  }

  /** Who claimed it last. */
  get owner(): string | undefined {
    return this.raw.lc.owner
  }
  /** The fencing token of the last claim. */
  get fence(): number | undefined {
    return fenceOf(this.raw)
  }
  /** 1 for the first time. */
  get attempt(): number {
    return attemptOf(this.raw)
  }
  /** When the claim ends or ended, epoch ms. */
  get claimEndMs(): number | undefined {
    return claimEndMs(this.raw)
  }

  /** The first event of the stream: its status is the stream's. */
  get isRoot(): boolean {
    return this.#source.view.stream.isRoot(this.raw)
  }
  /** Completed, aborted or canceled: only a retry changes it. */
  get isFinal(): boolean {
    return isFinal(this.raw)
  }
  /** Not final. */
  get isOpen(): boolean {
    return !this.isFinal
  }
  /** Aborted or canceled. */
  get isFailed(): boolean {
    return isFailed(this.raw)
  }
  /** A worker holds it, and its claim has not run out. */
  get isClaimed(): boolean {
    return claimRuns(this.raw, this.#source.view.nowMs)
  }
  /** It can be started: `init`, not waiting, nothing above has ended, and the stream is not held. */
  get isReady(): boolean {
    return this.#source.isReady(this.raw)
  }
  /** Open, and waiting for others: a join for its branches, a parent for its successors. */
  get isWaiting(): boolean {
    return this.isOpen && (isWaitingJoin(this.raw) || this.#source.view.stream.openSuccessors(this.raw))
  }
  /** A retry replaced it; it counts for nothing any more. */
  get isSuperseded(): boolean {
    return isSuperseded(this.raw)
  }
  /** Completed although something below it was aborted or canceled. */
  get hasErrors(): boolean {
    return this.raw.lc.outcome === 'errors'
  }

  /** The event it follows; the root has none. */
  get parent(): this | undefined {
    const { stream } = this.#source.view
    return this.#events(stream.predecessorPositions(stream.positionOf(this.id)))[0]
  }
  /** The events that follow it directly, in the order of their making, superseded ones left out. */
  get successors(): readonly this[] {
    const { stream } = this.#source.view
    return this.#events(stream.successorPositions(stream.positionOf(this.id)))
  }
  /** The transactions that changed it, oldest first. */
  get history(): readonly JournalEntry[] {
    return this.#source.view.transactions().filter(({ changes }) => changes.some(({ event }) => event === this.id))
  }

  #events(positions: readonly number[]): this[] {
    // The source makes events of one kind only.
    return positions.flatMap(position => (this.#source.eventAt(position) as this | undefined) ?? [])
  }

  #timeOf(text: string): number | undefined {
    return text === '' ? undefined : this.#source.view.time(text)
  }
}

/** A stream, to be looked at: its events and what they amount to. Of a stream that is changed, each answer is that of the moment. */
export class StreamReader<Event extends EventReader = EventReader> {
  /** Name of the stream, as `orders/4711`. */
  readonly name: string
  readonly #source: EventSource<Event>
  #work: { readonly view: DocumentView; readonly open: OpenEvents } | undefined

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
  get history(): readonly JournalEntry[] {
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

  #open(): OpenEvents {
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
