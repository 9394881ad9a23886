import type { ForeignAttribute, StreamEvent } from './event.ts'
import type { KeptSignal } from './signal.ts'

/** A parsed stream: its events and the XML around them. Immutable: a change makes a new document. */
export interface StreamDocument {
  /** Qualified name of the document element; `EventStream` for new documents. */
  readonly element: string
  /** Attributes of the document element that are not ours, all namespace declarations included. */
  readonly attributes: readonly ForeignAttribute[]
  /** The prefix bound to `urn:leasectl:v1` at the document element, or the free one that writing will bind. */
  readonly prefix: string
  /** `lc:v`, the version: the number of transactions; 0 when absent or unreadable. */
  readonly version: number
  /** `lc:born`, the UUID of this incarnation of the stream; `''` when absent. */
  readonly born: string
  /** `lc:sum` as read, `''` when absent. A difference from `sumOf(events)` is a foreign write. Every write renews it. */
  readonly sum: string
  /** `lc:at`, the time of the last write as ISO text; `''` when absent. */
  readonly at: string
  /** `lc:dates`: how ambiguous old date texts of this document are read; `''` when undecided. */
  readonly dates: '' | 'mdy' | 'dmy'
  /** Comments and processing instructions before the document element, raw. */
  readonly prolog: string
  /** Comments and processing instructions after the document element, raw. */
  readonly epilog: string
  /** Events in document order. The first one is the root. */
  readonly events: readonly StreamEvent[]
  /** Signals that came before an event waited for them, oldest first. */
  readonly signals: readonly KeptSignal[]
  /** Raw XML after the last event, signals and journal excluded. */
  readonly tail: string
  /** Raw content of the journal element, from its first entry to its last, as it stands in the text; `''` when there is no journal. */
  readonly journal: string
}

/** The empty document that `init` starts from. */
export const EMPTY_DOCUMENT: StreamDocument = Object.freeze({
  element: 'EventStream',
  attributes: [],
  prefix: 'lc',
  version: 0,
  born: '',
  sum: '',
  at: '',
  dates: '',
  prolog: '',
  epilog: '',
  events: [],
  signals: [],
  tail: '',
  journal: '',
})
