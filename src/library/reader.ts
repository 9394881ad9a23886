import { type DocumentView, type JournalEntry, resultsFor } from '../ops/read-stream.ts'
import type { EventData } from '../stream/data.ts'
import type { StreamOutcome } from '../stream/event.ts'
import {
  attemptOf,
  fenceOf,
  isFailed,
  isFinal,
  isGated,
  isSuperseded,
  type Status,
  type StreamEvent,
} from '../stream/event.ts'
import { type OpenEvents, openEvents, openWork } from '../stream/event-stream.ts'
import { type WaitsFor, waitsFor } from '../stream/gate.ts'
import type { KeptSignal } from '../stream/signal.ts'
import { outcomeOf } from '../stream/summarize.ts'
import { type Suspension, suspensionOf } from '../stream/suspension.ts'
import { claimEndMs, claimRuns, dueMs } from '../stream/time/deadlines.ts'
import type { UpstreamResult } from '../stream/upstream-results.ts'
import { text } from '../stream/values.ts'
import type { SelectedValue } from '../stream/xpath/xpath.ts'
import { EventNotFound } from './errors.ts'
import { readXPath, type XPath } from './xpath.ts'

/** The parts of a stream that its events need. */
export interface EventSource<Event> {
  readonly view: DocumentView
  eventAt(position: number): Event | undefined
  isReady(event: StreamEvent): boolean
}

/**
 * One event of a stream. A text is `''` if the attribute is absent. The properties of an `EventEditor` reflect all steps so
 * far.
 */
export class EventReader {
  /** Position in the tree of threads: `00` is the root, `01.00` the first step of thread 01. */
  readonly id: string
  readonly #source: EventSource<EventReader>

  /** @internal */
  constructor(id: string, source: EventSource<EventReader>) {
    this.id = id
    this.#source = source
  }

  /** The event as it is in the document, with all attributes, including those of other programs. */
  get raw(): StreamEvent {
    const { stream } = this.#source.view
    const event = stream.find(this.id)
    // No operation removes an event.
    if (event === undefined) throw new Error(`the event ${this.id} is gone`)
    return event
  }

  get name(): string {
    return this.raw.name
  }
  /** One of five statuses, or another text that a foreign program wrote; any other text counts as open. */
  get status(): Status | (string & {}) {
    return this.raw.status
  }
  get topic(): string {
    return this.raw.topic
  }
  get key(): string {
    return this.raw.key
  }
  /** A short result, progress or error text, or a reference to the input of the worker. */
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
  /** The timeout as written in the document: a .NET TimeSpan, an ISO 8601 duration, or a date and time. */
  get timeout(): string {
    return this.raw.timeout
  }

  /** Time at which the event was added, epoch ms; `undefined` if missing or unreadable. */
  get createdMs(): number | undefined {
    return this.#timeOf(this.raw.created)
  }
  /** Time of the last change or heartbeat, epoch ms; `undefined` if missing or unreadable. */
  get touchedMs(): number | undefined {
    return this.#timeOf(this.raw.timestamp)
  }
  /** Deadline of its timeout, epoch ms, in the future or past; `undefined` without one. */
  get dueMs(): number | undefined {
    const { stream, time } = this.#source.view
    return dueMs(stream, this.raw, time)
  }

  /** Owner of the last claim. */
  get owner(): string | undefined {
    return this.raw.lc.owner
  }
  /** The fencing token of the last claim. */
  get fence(): number | undefined {
    return fenceOf(this.raw)
  }
  /** Number of the attempt; the first is 1. */
  get attempt(): number {
    return attemptOf(this.raw)
  }
  /** End of the last claim, epoch ms, in the future or past. */
  get claimEndMs(): number | undefined {
    return claimEndMs(this.raw)
  }

  /** Whether it is the first event of the stream, whose status is the status of the stream. */
  get isRoot(): boolean {
    return this.#source.view.stream.isRoot(this.raw)
  }
  /** Whether it is completed, aborted or canceled: only a retry changes it. */
  get isFinal(): boolean {
    return isFinal(this.raw)
  }
  /** Not final. */
  get isOpen(): boolean {
    return !this.isFinal
  }
  /** Whether it is aborted or canceled. */
  get isFailed(): boolean {
    return isFailed(this.raw)
  }
  /** Whether a worker has claimed it and the claim has not expired. */
  get isClaimed(): boolean {
    return claimRuns(this.raw, this.#source.view.nowMs)
  }
  /** Whether it can be started: it is `init` and not waiting, no event above it has ended, and the stream is not on hold. */
  get isReady(): boolean {
    return this.#source.isReady(this.raw)
  }
  /** Whether it is open and waits for other events: a join for its branches, a parent for its successors. */
  get isWaiting(): boolean {
    return this.isOpen && (isGated(this.raw) || this.#source.view.stream.openSuccessors(this.raw))
  }
  /** What keeps it from being started although it is open: other events, a signal, a time; `undefined` without. */
  get waitsFor(): WaitsFor | undefined {
    return waitsFor(this.raw)
  }
  /** Whether a retry has replaced it; it then no longer affects the stream. */
  get isSuperseded(): boolean {
    return isSuperseded(this.raw)
  }
  /** Whether it completed although an event below it was aborted or canceled. */
  get hasErrors(): boolean {
    return this.raw.lc.outcome === 'errors'
  }

  /** The event that it follows; `undefined` for the root. */
  get parent(): this | undefined {
    const { stream } = this.#source.view
    return this.#events(stream.predecessorPositions(stream.positionOf(this.id)))[0]
  }
  /** Its direct successors in order of creation, without superseded ones. */
  get successors(): readonly this[] {
    const { stream } = this.#source.view
    return this.#events(stream.successorPositions(stream.positionOf(this.id)))
  }
  /** What the event works on: media type, size and hash. `readData` reads the content. */
  get input(): EventData | undefined {
    return this.raw.input
  }
  /** What the event produced. */
  get result(): EventData | undefined {
    return this.raw.result
  }
  /**
   * The results of earlier events that it works with, in the order of their ids: a join sees those of its branches, any other
   * event that of the event it follows.
   */
  get inputs(): readonly UpstreamResult[] {
    return resultsFor(this.#source.view, this.raw)
  }
  /** The transactions that changed it, oldest first. */
  get history(): readonly JournalEntry[] {
    return this.#source.view.transactions().filter(({ changes }) => changes.some(({ event }) => event === this.id))
  }

  #events(positions: readonly number[]): this[] {
    // The source creates events of one class only.
    return positions.flatMap(position => (this.#source.eventAt(position) as this | undefined) ?? [])
  }

  #timeOf(text: string): number | undefined {
    return text === '' ? undefined : this.#source.view.time(text)
  }
}

/** Read access to a stream: its events and its overall state. The properties of a `StreamEditor` reflect all steps so far. */
export class StreamReader<Event extends EventReader = EventReader> {
  /** Name of the stream, such as `orders/4711`. */
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

  /** Number of transactions. */
  get version(): number {
    return this.#view.document.version
  }
  /** The incarnation id, a UUID: a stream recreated under the same name has another. `''` if only foreign programs wrote it. */
  get born(): string {
    return this.#view.document.born
  }
  /** Status of the root; `''` in a document without events. */
  get status(): Status | (string & {}) {
    return this.#view.stream.root?.status ?? ''
  }
  /** Whether the root is final. */
  get isDone(): boolean {
    return this.#view.stream.done
  }
  /** Whether the stream is on hold: the root is still `init`, and nothing runs or expires until it is started. */
  get isHeld(): boolean {
    return this.#view.stream.held
  }
  /** Since when, by whom and why the open stream is suspended; `undefined` if it is not. */
  get suspension(): Suspension | undefined {
    return suspensionOf(this.#view.stream)
  }
  /** Signals that came before an event waited for them, oldest first. */
  get signals(): readonly KeptSignal[] {
    return this.#view.document.signals
  }
  /**
   * What the failures of the stream have meant for the whole of it, by its policy: `errors`, `blocked`, `compensating`, `compensated`
   * or `compensation-failed`; `undefined` without any.
   */
  get outcome(): StreamOutcome | undefined {
    const { stream } = this.#view
    const hasErrors = stream.events.some(
      (event, at) => at > 0 && stream.counts(at) && !isSuperseded(event) && isFailed(event),
    )
    return outcomeOf(stream, hasErrors) || undefined
  }
  /** Whether the root completed although an event below it was aborted or canceled. */
  get hasErrors(): boolean {
    return this.#view.stream.root?.lc.outcome === 'errors'
  }

  /** The first event. @throws EventNotFound in a document without events */
  get root(): Event {
    const root = this.#source.eventAt(0)
    if (root === undefined) throw new EventNotFound(this.name, 'in it')
    return root
  }
  /** All events, in document order. Of events with the same id only the first counts. */
  get events(): readonly Event[] {
    const { stream } = this.#view
    return this.#at(stream.events.flatMap((_, position) => (stream.counts(position) ? [position] : [])))
  }
  /** The open events that the stream waits for: those without open successors, except joins that wait for their branches. */
  get waitingOn(): readonly Event[] {
    return this.isDone ? [] : this.#found(this.#open().leaves)
  }
  /** Events that can be started. */
  get ready(): readonly Event[] {
    return this.#found(this.#open().ready)
  }
  /** Its transactions, oldest first. The last may be provisional: a foreign write that no transaction has recorded yet. */
  get history(): readonly JournalEntry[] {
    return this.#view.transactions()
  }

  /** The event with this id; `undefined` if there is none. */
  find(id: string): Event | undefined {
    return this.#source.eventAt(this.#view.stream.positionOf(text(id, 'id')))
  }
  /** The event with this id. @throws EventNotFound */
  mustFind(id: string): Event {
    const event = this.find(id)
    if (event === undefined) throw new EventNotFound(this.name, id)
    return event
  }

  /** The events that the expression selects, in document order. @throws InvalidValue if it selects values */
  select(xpath: XPath): readonly Event[] {
    return this.#at(readXPath(xpath).positionsIn(this.#view.document))
  }
  /** As `select`, with at least one event. @throws EventNotFound if it selects none; InvalidValue if it selects values */
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
