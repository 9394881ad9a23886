import type { StreamDocument } from '../document.ts'
import {
  type EventAttributes,
  isFinal,
  type LcAttributeName,
  newEvent,
  type Status,
  type StreamEvent,
} from '../event.ts'
import { EventStream, shareLinks } from '../event-stream.ts'
import { type ChangeCause, type JournalChange, parseJournal, type Transaction } from '../journal/journal.ts'
import type { TimeReader } from '../time/deadlines.ts'

/** A patch of an event: attributes to set, and those of ours to set or, with `undefined`, to remove. */
interface Patch {
  readonly attributes?: Partial<EventAttributes>
  readonly lc?: { readonly [Name in LcAttributeName]?: string | undefined }
}

/** In `lc:msg`: there was no `msg`. Empty attributes are not written, and without it a text of ours would stay for good. */
const NO_MESSAGE = ' '

/** Lists of events in which nothing is left to settle, whenever that is looked at; they stay as they are. */
const SETTLED = new WeakSet<readonly StreamEvent[]>()

/** What else a journal line says of a change. */
type ChangeDetail = Pick<JournalChange, 'owner' | 'attempt' | 'attr'>

/**
 * The working copy of one transaction: the operation changes it step by step, each step is recorded for the journal.
 * It becomes a new document at the end or is thrown away; the document it was made from never changes.
 */
export class Draft {
  /** The store's clock, epoch ms: claims and limits are judged by it, even where `lc:at` is ahead. */
  readonly nowMs: number
  /** The time of everything this transaction stamps: never before `lc:at`, unless that lies far ahead. */
  readonly now: string
  /** The version this transaction will have: the fencing token of a claim it makes. */
  readonly version: number
  readonly readTime: TimeReader
  readonly changes: JournalChange[] = []
  readonly added: string[] = []
  /** A change without a journal line, as an error summary on a final event. */
  touched = false
  /** The journal's reason unless the author gives one: the message of a failure, or a result that `WithError` replaced. */
  reason = ''
  stream: EventStream
  /** How many steps have been made; some of them without a line in the journal. */
  steps = 0
  #events: StreamEvent[]
  #tail: string
  readonly #document: StreamDocument
  #transactions: readonly Transaction[] | undefined
  /** After how many steps nothing was left to settle. */
  #settledAt: number | undefined

  constructor(document: StreamDocument, context: { nowMs: number; now: string; readTime: TimeReader }) {
    this.#document = document
    this.#events = [...document.events]
    this.#tail = document.tail
    this.stream = EventStream.of(document.events).withStates(this.#events)
    this.nowMs = context.nowMs
    this.now = context.now
    this.version = document.version + 1
    this.readTime = context.readTime
    if (SETTLED.has(document.events)) this.#settledAt = 0
  }

  /** Whether it is known that nothing is left to close, to release or to sum up. */
  get isSettled(): boolean {
    return this.#settledAt === this.steps
  }

  /** Nothing is left to settle, as it stands now. */
  markSettled(): void {
    this.#settledAt = this.steps
  }

  /** The history so far. Parsed when first asked for: few operations need it. */
  get transactions(): readonly Transaction[] {
    this.#transactions ??= parseJournal(this.#document.journal, this.#document.prefix)
    return this.#transactions
  }

  /** The event at a position; positions come from the stream, so there is one. */
  at(position: number): StreamEvent {
    const event = this.#events[position]
    if (event === undefined) throw new RangeError(`no event at position ${position}`)
    return event
  }

  /** Changes attributes and nothing else: no status, no journal line. */
  patch(position: number, patch: Patch): void {
    const event = this.at(position)
    const lc: { [Name in LcAttributeName]?: string } = { ...event.lc }
    for (const name in patch.lc) {
      const value = patch.lc[name as LcAttributeName]
      if (value === undefined) delete lc[name as LcAttributeName]
      else lc[name as LcAttributeName] = value
    }
    this.#events[position] = { ...event, ...patch.attributes, lc }
    this.steps += 1
  }

  /**
   * Gives the event a status, stamps it and records the change. An end removes the claim's `until` and keeps owner
   * and fence, so that one sees who did it.
   */
  setStatus(position: number, to: Status, how: ChangeCause, detail: ChangeDetail = {}): void {
    const event = this.at(position)
    this.patch(position, {
      attributes: { status: to, timestamp: this.now },
      lc: isFinal({ status: to }) ? { until: undefined } : {},
    })
    this.changes.push({ event: event.id, from: event.status, to, how, ...detail })
  }

  /** Ends the event as aborted or canceled. What `msg` was before comes back with a retry. */
  endFailed(position: number, to: 'aborted' | 'canceled', how: ChangeCause, text?: string): void {
    this.setMessage(position, text)
    this.setStatus(position, to, how)
  }

  /** Sets `msg` to a progress, result or error text. What it was before the first of them stays in `lc:msg`. */
  setMessage(position: number, text: string | undefined): void {
    const { msg, lc } = this.at(position)
    if (text === undefined || text === '' || text === msg) return
    this.patch(position, { attributes: { msg: text }, lc: { msg: lc.msg ?? (msg === '' ? NO_MESSAGE : msg) } })
  }

  /** Brings back the `msg` an event had before our texts: it may be a reference to what the next worker has to read. */
  restoreMessage(position: number): void {
    const kept = this.at(position).lc.msg
    if (kept === undefined) return
    this.patch(position, { attributes: { msg: kept === NO_MESSAGE ? '' : kept }, lc: { msg: undefined } })
  }

  /** Removes the claim: nobody works on the event. */
  dropClaim(position: number): void {
    this.patch(position, { lc: { owner: undefined, fence: undefined, until: undefined, claimed: undefined } })
  }

  /** Adds an event at the end, with what followed the last one kept in its place, and stamps it. */
  add(attributes: Partial<EventAttributes>, lc: StreamEvent['lc'] = {}): void {
    const event = newEvent({ ...attributes, created: this.now, timestamp: this.now }, lc)
    this.#events.push({ ...event, before: this.#tail })
    this.steps += 1
    this.#tail = ''
    this.stream = new EventStream(this.#events)
    this.added.push(event.id)
    this.changes.push({ event: event.id, from: '', to: event.status, how: 'add' })
  }

  /** The document with the events as they stand now; version, journal and times are the transaction's to set. */
  finish(): StreamDocument {
    shareLinks(this.#document.events, this.#events)
    if (this.isSettled) SETTLED.add(this.#events)
    return { ...this.#document, events: this.#events, tail: this.#tail }
  }
}
