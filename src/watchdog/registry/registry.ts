import { ChangedStreams, etagHash } from '../../ops/watch/changed-streams.ts'
import { cutList } from '../../stream/summary.ts'
import { ownText } from '../../util/strings.ts'
import type { ObservationTime } from '../observation-gaps.ts'
import type { Observations } from '../plan.ts'
import { KnownStream, type WatchedState } from './known-stream.ts'
import type { PendingKind } from './pending-work.ts'

const MAX_STATUSES = 50
const OTHER = 'other'
/** Limit for the shared kinds of pending work. */
const MAX_KINDS = 1_000

/** The streams known to a watchdog: some 200 bytes each. */
export class StreamRegistry {
  readonly #streams = new ChangedStreams<KnownStream>()
  /** Shared status strings. Foreign writers invent some; each of their streams may have another one. */
  readonly #statuses = new Map([
    ['', ''],
    [OTHER, OTHER],
  ])
  readonly #kinds = new Map<string, PendingKind>()
  #pass = 0

  get size(): number {
    return this.#streams.size
  }

  get(name: string): KnownStream | undefined {
    return this.#streams.get(name)
  }

  values(): Iterable<KnownStream> {
    return this.#streams.values()
  }

  beginSweep(): void {
    this.#streams.begin()
  }

  /** True if a sweep can skip the row. @param needsRow requests the row of an unchanged stream nevertheless */
  skip(name: string, etag: string, needsRow: (stream: KnownStream) => boolean): boolean {
    return this.#streams.skip(name, etagHash(etag), needsRow)
  }

  /** A sweep took the row of a stream. @param state absent: its document has to be read */
  sawRow(name: string, etag: string, state: WatchedState | undefined, now: ObservationTime): KnownStream {
    const stream = this.#streams.get(name) ?? new KnownStream(ownText(name))
    stream.recordRow(etag, state && this.#shared(state), now)
    this.#streams.take(stream)
    return stream
  }

  /** Forgets streams that the sweep did not find. Only after a completed sweep. */
  endSweep(): void {
    this.#streams.end()
  }

  recordInspection(
    stream: KnownStream,
    etag: string,
    state: WatchedState,
    observations: Observations,
    atMs: number,
  ): void {
    stream.recordInspection(etag, this.#shared(state), observations, atMs)
  }

  forget(name: string): void {
    this.#streams.forget(name)
  }

  /** Starts executing decisions: streams that fail from now on failed later than all before. */
  beginPass(): void {
    this.#pass += 1
  }

  /** Records whether the changes of a stream failed in this pass. */
  recordOutcome(name: string, hasFailed: boolean): void {
    const stream = this.#streams.get(name)
    if (stream !== undefined) stream.failedInPass = hasFailed ? this.#pass : 0
  }

  /** Streams due for inspection, those that waited longest first. */
  dueForInspection(nowMs: number): KnownStream[] {
    const due: KnownStream[] = []
    for (const stream of this.#streams.values()) if (stream.nextInspectionMs <= nowMs) due.push(stream)
    return due.sort((a, b) => (a.nextInspectionMs === b.nextInspectionMs ? 0 : a.nextInspectionMs - b.nextInspectionMs))
  }

  /** When the next stream is due for inspection, epoch ms; `Infinity` for never. */
  nextInspectionMs(): number {
    let nextMs = Number.POSITIVE_INFINITY
    for (const stream of this.#streams.values()) nextMs = Math.min(nextMs, stream.nextInspectionMs)
    return nextMs
  }

  /** Events that the circuit breaker holds back, in streams that were not inspected since. */
  heldEvents(owns: (name: string) => boolean): number {
    let events = 0
    for (const { name, heldEvents } of this.#streams.values()) if (heldEvents > 0 && owns(name)) events += heldEvents
    return events
  }

  /** A random stream that is not in the set. @param random in [0, 1) */
  another(than: ReadonlySet<string>, random: number): string | undefined {
    const names = [...this.#streams.values()].map(({ name }) => name).filter(name => !than.has(name))
    return names[Math.floor(random * names.length)]
  }

  /** The state with shared texts. Beyond some fifty statuses the status is `other`. */
  #shared(state: WatchedState): WatchedState {
    const { status, work } = state
    return {
      ...state,
      status: this.#statuses.get(status) ?? this.#addStatus(status),
      work: work && { ...work, kind: this.#sharedKind(work.kind) },
    }
  }

  /** Beyond a thousand kinds only the number of the ready events is kept. */
  #sharedKind({ hasFailed, isSuspended, ready }: PendingKind): PendingKind {
    const key = `${hasFailed} ${isSuspended} ${ready.join(',')}`
    const known = this.#kinds.get(key)
    if (known !== undefined) return known
    if (this.#kinds.size >= MAX_KINDS) return { hasFailed, isSuspended, ready: cutList(ready, 0, item => item.length) }
    const own = { hasFailed, isSuspended, ready: ready.map(ownText) }
    this.#kinds.set(ownText(key), own)
    return own
  }

  #addStatus(status: string): string {
    if (this.#statuses.size > MAX_STATUSES) return OTHER
    const own = ownText(status)
    this.#statuses.set(own, own)
    return own
  }
}
