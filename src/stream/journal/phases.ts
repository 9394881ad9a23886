import { isFinal, isGated, isWaitingJoin, type StreamEvent } from '../event.ts'
import { EventStream, linkEvents } from '../event-stream.ts'
import type { TimeReader } from '../time/dates.ts'
import type { JournalChange, Transaction } from './journal.ts'

/**
 * A phase of an event: *ready* to be claimed, *running* at a worker, *waiting* for its successors or for the branches
 * it joins, *gated* until other events have ended, a signal comes, or a time: also the pause before a retry. *unrecorded* is the time before leasectl knew the event: it existed, but its phases were not recorded.
 */
export type Phase = 'ready' | 'running' | 'waiting' | 'gated' | 'unrecorded'

/** A period in one phase, epoch ms. */
export interface Period {
  readonly phase: Phase
  readonly fromMs: number
  /** `undefined` while the phase lasts. */
  readonly toMs: number | undefined
}

/** The phases and ends of an event. Retries make several ends. */
export interface EventHistory {
  /** In order, without empty periods; there is none between an end and a retry. */
  readonly spans: readonly Period[]
  readonly ends: readonly { readonly atMs: number; readonly status: string }[]
  /** A foreign writer added the event, so that its phases until it was found are not recorded. */
  readonly foundLate: boolean
}

/**
 * The phases of all events, by id, from the transactions that changed them. For events without a transaction, and for
 * the time before a document was adopted, only `created` and `timestamp` are known.
 *
 * @param transactions oldest first, unrecorded foreign writes included
 */
export function phasesOf(
  events: readonly StreamEvent[],
  transactions: readonly Transaction[],
  time: TimeReader,
): ReadonlyMap<string, EventHistory> {
  const replay = new Replay(events, time)
  for (const transaction of transactions) replay.take(transaction)
  return replay.finish()
}

interface Run {
  status: string
  /** A worker holds the event, with or without a claim. */
  worked: boolean
  joinWaits: boolean
  /** Its gate is closed by more than a join. */
  gated: boolean
  /** Number of open successors; missing ids count as open. */
  open: number
  span: { phase: Phase; fromMs: number } | undefined
  readonly spans: Period[]
  readonly ends: { atMs: number; status: string }[]
  foundLate: boolean
}

class Replay {
  readonly #events: readonly StreamEvent[]
  readonly #time: TimeReader
  readonly #links
  readonly #runs = new Map<string, Run>()
  #nowMs = 0

  constructor(events: readonly StreamEvent[], time: TimeReader) {
    this.#events = events
    this.#time = time
    this.#links = linkEvents(events)
  }

  /** Only the state after all changes of a transaction counts: it takes effect as a whole. */
  take({ at, op, changes }: Transaction): void {
    this.#nowMs = Math.max(this.#nowMs, this.#time(at) ?? this.#nowMs)
    const foreign = op === 'adopt' || op === 'foreign'
    const touched = new Set<number>()
    for (const change of changes) {
      const position = this.#links.position.get(change.event)
      if (position === undefined || change.attr !== undefined) continue
      const before = isOpen(this.#runs.get(change.event))
      this.#apply(position, change, op)
      touched.add(position)
      const after = isOpen(this.#runs.get(change.event))
      if (before === after) continue
      for (const above of this.#links.predecessors[position] ?? []) {
        this.#countOpen(above, after ? 1 : -1)
        touched.add(above)
      }
    }
    for (const position of touched) this.#move(position, foreign)
  }

  finish(): ReadonlyMap<string, EventHistory> {
    this.#takeUnknown()
    for (const { span, spans } of this.#runs.values()) if (span !== undefined) spans.push({ ...span, toMs: undefined })
    return this.#runs
  }

  #apply(position: number, { event: id, to, how, owner, lc }: JournalChange, op: string): void {
    const run = this.#runOf(id, position)
    const foreign = op === 'adopt' || op === 'foreign'
    run.status = to === '' && how !== 'add' ? REMOVED : to
    run.worked = foreign ? to === 'inprocess' : owner !== undefined
    // Only the release shows that a join of a foreign writer had been waiting.
    if (how === 'join' && to === 'init' && run.span !== undefined) run.span.phase = 'waiting'
    const declared = how === 'add' && to === 'inprocess' && (op === 'init' || op === 'advance') && position !== 0
    // A join that was canceled while it waited goes on waiting when it is retried by name.
    const waitsOn = to === 'inprocess' && (how === 'join' || (op === 'retry' && how === 'target' && position !== 0))
    run.joinWaits = declared || waitsOn || (foreign && this.#joinsNow(position))
    run.gated = to === 'inprocess' && lc?.wait !== undefined && lc.join === undefined
  }

  #joinsNow(position: number): boolean {
    const event = this.#events[position]
    return event !== undefined && isWaitingJoin(event)
  }

  #countOpen(position: number, by: 1 | -1): void {
    const event = this.#events[position]
    if (event !== undefined) this.#runOf(event.id, position).open += by
  }

  #runOf(id: string, position: number): Run {
    const known = this.#runs.get(id)
    if (known !== undefined) return known
    const open = this.#links.missing.get(position)?.length ?? 0
    const nothing = {
      status: REMOVED,
      worked: false,
      joinWaits: false,
      gated: false,
      span: undefined,
      foundLate: false,
    }
    const run: Run = { ...nothing, open, spans: [], ends: [] }
    this.#runs.set(id, run)
    return run
  }

  /** Ends the current period if the phase has changed, and begins the next. */
  #move(position: number, foreign: boolean): void {
    const event = this.#events[position]
    const run = event && this.#runs.get(event.id)
    if (event === undefined || run === undefined) return
    const isNew = run.spans.length === 0 && run.span === undefined && run.ends.length === 0
    if (isNew && foreign && run.status !== REMOVED && this.#before(event, run)) return
    const phase = phaseOf(run)
    if (run.span?.phase === phase) return
    const wasOpen = run.span !== undefined || isNew
    const atMs = foreign && isFinal(run) ? this.#endedMs(event, run, run.span?.fromMs ?? 0) : this.#nowMs
    if (run.span !== undefined && run.span.fromMs < atMs) run.spans.push({ ...run.span, toMs: atMs })
    run.span = phase === undefined ? undefined : { phase, fromMs: atMs }
    if (wasOpen && isFinal(run)) run.ends.push({ atMs, status: run.status })
  }

  /** When the event ended. A foreign end is found late; its time is in `timestamp` until the event is reopened. */
  #endedMs(event: StreamEvent, { status }: Run, leastMs: number): number {
    const ms = status === event.status ? this.#time(event.timestamp) : undefined
    return ms === undefined ? this.#nowMs : Math.max(leastMs, Math.min(ms, this.#nowMs))
  }

  /** Records the time before a foreign event was found. Returns true if it had ended by then. */
  #before(event: StreamEvent, run: Run): boolean {
    run.foundLate = true
    const createdMs = this.#time(event.created)
    const final = isFinal(run)
    const toMs = final ? this.#endedMs(event, run, 0) : this.#nowMs
    if (createdMs !== undefined && createdMs < toMs) run.spans.push({ phase: 'unrecorded', fromMs: createdMs, toMs })
    if (final) run.ends.push({ atMs: toMs, status: run.status })
    return final
  }

  /** Adds the events without a transaction, as in a document that was never ours. */
  #takeUnknown(): void {
    const stream = new EventStream(this.#events)
    this.#events.forEach((event, position) => {
      if (!stream.counts(position) || (this.#runs.get(event.id)?.status ?? REMOVED) !== REMOVED) return
      const fromMs = this.#time(event.created) ?? this.#time(event.timestamp)
      if (fromMs === undefined) return
      const run = this.#runOf(event.id, position)
      const toMs = Math.max(fromMs, this.#time(event.timestamp) ?? fromMs)
      run.foundLate = true
      run.status = event.status
      run.joinWaits = isWaitingJoin(event)
      run.gated = isGated(event) && !run.joinWaits
      run.worked = event.status !== 'init'
      run.open = stream.openSuccessors(event) ? 1 : 0
      const phase = phaseOf(run)
      const sure = phase === 'ready' ? fromMs : toMs
      if (fromMs < sure) run.spans.push({ phase: 'unrecorded', fromMs, toMs: sure })
      if (phase === undefined) run.ends.push({ atMs: toMs, status: event.status })
      else run.span = { phase, fromMs: sure }
    })
  }
}

/** Used as the status of an event that does not exist. */
const REMOVED = '\0removed'

function isOpen(run: Run | undefined): boolean {
  return run !== undefined && run.status !== REMOVED && !isFinal(run)
}

function phaseOf(run: Run): Phase | undefined {
  if (!isOpen(run)) return undefined
  if (run.gated) return 'gated'
  if (run.joinWaits || run.open > 0) return 'waiting'
  return run.worked ? 'running' : 'ready'
}

/** When an event was created, started and ended: epoch ms, in ascending order. */
export interface EventSpan {
  readonly event: StreamEvent
  /** When it was added; `undefined` if the time is unreadable. */
  readonly createdMs: number | undefined
  /** When work on it first began, from the history; `undefined` if it never began or the start was not recorded. */
  readonly startedMs: number | undefined
  /** When it ended; `undefined` for an open event. */
  readonly endedMs: number | undefined
  /** The changes of the event itself, oldest first. */
  readonly steps: readonly EventStep[]
}

/** One change of an event, with its transaction. */
export interface EventStep {
  /** Epoch ms; `undefined` if the entry's time is unreadable. */
  readonly atMs: number | undefined
  readonly transaction: Transaction
  readonly change: JournalChange
}

/** The span of every event, in document order; of events with the same id only the first. */
export function eventSpans(
  stream: EventStream,
  transactions: readonly Transaction[],
  read: TimeReader,
): readonly EventSpan[] {
  const steps = stepsByEvent(transactions, read)
  return stream.events
    .filter((_, at) => stream.counts(at))
    .map(event => spanOf(event, steps.get(event.id) ?? [], stream.isRoot(event), read))
}

function spanOf(event: StreamEvent, steps: readonly EventStep[], isRoot: boolean, read: TimeReader): EventSpan {
  const createdMs = read(event.created)
  const startedMs = notBefore(
    createdMs,
    steps.find(({ transaction, change }) => begins(transaction, change, isRoot))?.atMs,
  )
  const endedMs = isFinal(event) ? notBefore(startedMs ?? createdMs, read(event.timestamp)) : undefined
  return { event, createdMs, startedMs, endedMs, steps }
}

/**
 * Whether a change starts the work on an event. A join is `inprocess` while it waits for its branches, when it is added
 * and after a retry: no worker has it then. An event found at the adoption of a document had started before.
 */
function begins({ op }: Transaction, { from, to, how, attr }: JournalChange, isRoot: boolean): boolean {
  if (to !== 'inprocess' || from === to || attr !== undefined || op === 'adopt') return false
  return isRoot || (how !== 'add' && how !== 'join')
}

/** Keeps times in order although the clocks of writers differ. */
function notBefore(earliestMs: number | undefined, ms: number | undefined): number | undefined {
  return ms === undefined || earliestMs === undefined ? ms : Math.max(earliestMs, ms)
}

function stepsByEvent(transactions: readonly Transaction[], read: TimeReader): ReadonlyMap<string, EventStep[]> {
  const steps = new Map<string, EventStep[]>()
  for (const transaction of transactions) {
    const atMs = read(transaction.at)
    for (const change of transaction.changes) {
      const step = { atMs, transaction, change }
      const known = steps.get(change.event)
      if (known === undefined) steps.set(change.event, [step])
      else known.push(step)
    }
  }
  return steps
}
