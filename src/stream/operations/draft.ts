import { type DataKind, type EventData, withoutBytes } from '../data.ts'
import type { StreamDocument } from '../document.ts'
import {
  type EventAttributes,
  isFinal,
  type LcAttributeName,
  newEvent,
  type Status,
  type StreamEvent,
} from '../event.ts'
import { EventStream, listMemoOf, shareLinks } from '../event-stream.ts'
import { type ChangeCause, type JournalChange, parseJournal, type Transaction } from '../journal/journal.ts'
import type { KeptSignal } from '../signal.ts'
import type { TimeReader } from '../time/deadlines.ts'

/** A patch of an event: attributes to set, and `lc` attributes to set or, with `undefined`, to remove. */
interface Patch {
  readonly attributes?: Partial<EventAttributes>
  readonly lc?: { readonly [Name in LcAttributeName]?: string | undefined }
}

/** Value of `lc:msg` for an event without `msg`: an empty attribute would not be written. */
const NO_MESSAGE = ' '

/** The attributes that end with the event. */
const ENDED = { until: undefined, suspended: undefined, suspendedBy: undefined, info: undefined } as const

/** Further fields of a change in the journal. */
type ChangeDetail = Pick<JournalChange, 'owner' | 'attempt' | 'attr' | 'lc'>

/**
 * The working copy of one transaction: the operation changes it step by step, and each step is recorded for the
 * journal. It ends as a new document or is discarded; the original document never changes.
 */
export class Draft {
  /** The store's clock, epoch ms. Claims and deadlines are compared with it, even if `lc:at` is ahead. */
  readonly nowMs: number
  /** The time that this transaction stamps: never before `lc:at`, unless that is far ahead. */
  readonly now: string
  /** The version this transaction will have: the fencing token of a claim it makes. */
  readonly version: number
  readonly readTime: TimeReader
  readonly changes: JournalChange[] = []
  readonly added: string[] = []
  /** The draft has a change without a journal line, such as an error summary on a final event. */
  isDirty = false
  /** The journal's reason unless the author gives one: the message of a failure, or a result that `WithError` replaced. */
  reason = ''
  /** The command id of the operation: what it draws at random comes from there. */
  commandId = ''
  /** Signals that no event waits for yet, oldest first. */
  signals: readonly KeptSignal[]
  stream: EventStream
  /** Number of steps, those without a journal line included. */
  steps = 0
  #events: StreamEvent[]
  #tail: string
  readonly #document: StreamDocument
  #transactions: readonly Transaction[] | undefined
  /** The number of steps after which nothing was left to settle. */
  #settledAt: number | undefined

  constructor(document: StreamDocument, context: { nowMs: number; now: string; readTime: TimeReader }) {
    this.#document = document
    this.#events = [...document.events]
    this.#tail = document.tail
    this.signals = document.signals
    this.stream = EventStream.of(document.events).withStates(this.#events)
    this.nowMs = context.nowMs
    this.now = context.now
    this.version = document.version + 1
    this.readTime = context.readTime
    if (listMemoOf(document.events).isSettled) this.#settledAt = 0
  }

  /** Whether a pass has found nothing left to close, release or summarize. */
  get isSettled(): boolean {
    return this.#settledAt === this.steps
  }

  /** Records that nothing is left to settle in the current state. */
  markSettled(): void {
    this.#settledAt = this.steps
  }

  /** The journal so far, parsed on first use: few operations need it. */
  get transactions(): readonly Transaction[] {
    this.#transactions ??= parseJournal(this.#document.journal, this.#document.prefix)
    return this.#transactions
  }

  /** The event at a position of the stream. @throws RangeError for any other position */
  at(position: number): StreamEvent {
    const event = this.#events[position]
    if (event === undefined) throw new RangeError(`no event at position ${position}`)
    return event
  }

  /** Changes attributes only: no status, no journal line. */
  patch(position: number, patch: Patch): void {
    const event = this.at(position)
    const lc: { [Name in LcAttributeName]?: string } = { ...event.lc }
    for (const name in patch.lc) {
      const value = patch.lc[name as LcAttributeName]
      if (value === undefined) delete lc[name as LcAttributeName]
      else lc[name as LcAttributeName] = value
    }
    // Earlier pauses do not count for a limit that begins anew.
    if (patch.lc?.opened !== undefined) delete lc.paused
    this.#events[position] = { ...event, ...patch.attributes, lc }
    this.steps += 1
  }

  /**
   * Sets the status, stamps the event and records the change. A final status removes the claim's `until` and keeps
   * owner and fence, which show who ended it. The end of the root ends a suspension.
   */
  setStatus(position: number, to: Status, how: ChangeCause, detail: ChangeDetail = {}): void {
    const event = this.at(position)
    this.patch(position, {
      attributes: { status: to, timestamp: this.now },
      lc: isFinal({ status: to }) ? ENDED : {},
    })
    this.changes.push({ event: event.id, from: event.status, to, how, ...detail })
  }

  /** Ends the event as aborted or canceled. A retry restores the earlier `msg`. */
  endFailed(position: number, to: 'aborted' | 'canceled', how: ChangeCause, text?: string): void {
    this.setMessage(position, text)
    this.setStatus(position, to, how)
  }

  /** Cancels every open event below, children before parents. Returns their number. */
  cancelBelow(position: number): number {
    const open = this.stream.descendantPositions(position).filter(at => !isFinal(this.at(at)))
    for (const at of open) this.endFailed(at, 'canceled', 'cascade')
    return open.length
  }

  /** Sets `msg` to a progress, result or error text. `lc:msg` keeps the original one. */
  setMessage(position: number, text: string | undefined): void {
    const { msg, lc } = this.at(position)
    if (text === undefined || text === '' || text === msg) return
    this.patch(position, { attributes: { msg: text }, lc: { msg: lc.msg ?? (msg === '' ? NO_MESSAGE : msg) } })
  }

  /** Restores the original `msg`: it may be a reference that the next worker has to read. */
  restoreMessage(position: number): void {
    const kept = this.at(position).lc.msg
    if (kept === undefined) return
    this.patch(position, { attributes: { msg: kept === NO_MESSAGE ? '' : kept }, lc: { msg: undefined } })
  }

  /** Gives the event its input or result in place of an earlier one; `undefined` leaves it. No journal line. */
  attach(position: number, kind: DataKind, data: EventData | undefined): void {
    if (data === undefined) return
    this.#events[position] = { ...this.at(position), [kind]: withoutBytes(data) }
    this.steps += 1
  }

  /** Removes the result of an attempt that is over. */
  dropResult(position: number): void {
    const { result, ...event } = this.at(position)
    if (result === undefined) return
    this.#events[position] = event
    this.steps += 1
  }

  /** Removes the claim. */
  dropClaim(position: number): void {
    this.patch(position, { lc: { owner: undefined, fence: undefined, until: undefined, claimed: undefined } })
  }

  /** Adds a stamped event at the end. The raw XML behind the last event stays in its place. */
  add(attributes: Partial<EventAttributes>, lc: StreamEvent['lc'] = {}, input?: EventData): void {
    const data = input && { input: withoutBytes(input) }
    const event = newEvent({ ...attributes, created: this.now, timestamp: this.now }, lc, data)
    this.#events.push({ ...event, before: this.#tail })
    this.steps += 1
    this.#tail = ''
    this.stream = new EventStream(this.#events)
    this.added.push(event.id)
    // `set` changes it later without leaving the value in the journal.
    const { onDue: _, ...known } = lc
    this.changes.push({
      event: event.id,
      from: '',
      to: event.status,
      how: 'add',
      ...(Object.keys(known).length === 0 ? {} : { lc: known }),
    })
  }

  /** The document with the current events. The transaction sets version, journal and times. */
  finish(): StreamDocument {
    shareLinks(this.#document.events, this.#events)
    if (this.isSettled) listMemoOf(this.#events).isSettled = true
    return { ...this.#document, events: this.#events, signals: this.signals, tail: this.#tail }
  }
}
