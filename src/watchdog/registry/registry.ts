import type { Moment } from '../observation-gaps.ts'
import type { Sightings } from '../plan.ts'
import { Columns, markOf, NO_VERSION, Rows, Statuses } from './columns.ts'
import { Agenda } from './schedule.ts'
import { Setbacks, Silences, ToldMoves } from './side-tables.ts'

/** What is kept of a stream from look to look. */
export interface Kept {
  /** Status of the root; `unreadable` and `not-started` where there is none; `''` as long as nobody looked. */
  readonly status: string
  readonly openEvents: number
  /** When its first limit ends, and when it has to be looked at, epoch ms; `Infinity` for never. */
  readonly dueMs: number
  readonly nextLookMs: number
}

const NO_SIGHTINGS: Sightings = new Map()
const NEVER = Number.POSITIVE_INFINITY

/** The streams a watchdog knows. There may be a million of them: what few of them have is kept beside the columns. */
export class Roll {
  readonly #rows = new Rows()
  readonly #columns = new Columns()
  readonly #statuses = new Statuses()
  readonly #sightings = new Map<number, Sightings>()
  readonly agenda = new Agenda(this.#rows, this.#columns)
  readonly moves = new ToldMoves(this.#rows, this.#columns)
  readonly silences = new Silences(this.#rows)
  readonly setbacks = new Setbacks(this.#rows)
  #sweep = 0

  get size(): number {
    return this.#rows.size
  }

  /** Begins a sweep: who is not met in it is gone. */
  beginSweep(): void {
    this.#sweep += 1
  }

  /** Forgets streams that the sweep did not meet. Only after one that came to its end. */
  endSweep(): void {
    for (let row = 0; row < this.#rows.end; row++) {
      const name = this.#rows.nameOf(row)
      if (name !== undefined && this.#columns.sweep[row] !== this.#sweep) this.remove(name)
    }
  }

  /** True if it stands as it was met last; then it is met again, and nothing else need be known of it. */
  isUnmoved(name: string, etag: string): boolean {
    const row = this.#rows.at(name)
    if (row === undefined || this.#columns.mark[row] !== markOf(etag)) return false
    this.#columns.sweep[row] = this.#sweep
    return true
  }

  /**
   * A stream that a sweep found new or moved, or whose move nobody was told of.
   * @param kept absent: its document has to be read
   */
  met(name: string, etag: string, kept: Kept | undefined, { nowMs, atMs }: Moment): void {
    const row = this.#rows.at(name) ?? this.#newRow(name)
    this.#columns.sweep[row] = this.#sweep
    if (this.#moved(row, etag, atMs) && kept !== undefined) {
      this.#put(row, kept)
      // None of its events is past its limit now. Were they kept, what has ended would fill the memory.
      if (kept.dueMs > nowMs) this.#forgetEvents(row)
    }
    if (kept === undefined) this.agenda.atOnce(row)
  }

  /** What a look at the document itself found. `etag`: of what was read. */
  looked(name: string, etag: string, kept: Kept, sightings: Sightings, atMs: number): void {
    const row = this.#rows.at(name)
    if (row === undefined) return
    this.#moved(row, etag, atMs)
    this.#put(row, kept)
    if (sightings.size > 0) this.#sightings.set(row, sightings)
    else this.#sightings.delete(row)
  }

  /** Its document cannot be had or made sense of, for now. */
  fail(name: string, status: string, nextLookMs: number): void {
    const row = this.#rows.at(name)
    if (row !== undefined) this.#columns.status[row] = this.#statuses.numberOf(status)
    this.agenda.leave(name, nextLookMs)
  }

  /** The store's clock was set back to `nowMs`: what it showed before counts no more. */
  wasSetBack(nowMs: number): void {
    this.agenda.wasSetBack()
    this.silences.wasSetBack(nowMs)
  }

  /** Events of it were ended: until the next sweep meets it. */
  changed(name: string, endedEvents: number): void {
    const row = this.#rows.at(name)
    if (row === undefined) return
    this.#columns.mark[row] = 0
    this.#columns.open[row] = Math.max(0, (this.#columns.open[row] ?? 0) - endedEvents)
  }

  /** An event past its limit was told of: nothing more is to be done about it. */
  told(name: string, event: string): void {
    const row = this.#rows.at(name) ?? -1
    const sighting = this.#sightings.get(row)?.get(event)
    if (sighting === undefined) return
    this.#sightings.set(row, new Map(this.#sightings.get(row)).set(event, { ...sighting, isTold: true }))
  }

  statusOf(name: string): string {
    return this.#statuses.nameOf(this.#columns.status[this.#rows.at(name) ?? -1] ?? 0)
  }

  remove(name: string): void {
    const row = this.#rows.remove(name)
    if (row === undefined) return
    this.agenda.set(row, NEVER, NEVER)
    this.#forgetEvents(row)
  }

  /** Since when a document with this ETag is known, by the clock that only goes forward. */
  knownSinceMs(name: string, etag: string): number | undefined {
    const row = this.#rows.at(name)
    return row !== undefined && this.#columns.mark[row] === markOf(etag) ? this.#columns.knownSince[row] : undefined
  }

  /** What earlier looks kept of its events past their limits. */
  sightingsOf(name: string): Sightings {
    return this.#sightings.get(this.#rows.at(name) ?? -1) ?? NO_SIGHTINGS
  }

  /** Some stream that is none of these. @param random in [0, 1) */
  other(than: ReadonlySet<string>, random: number): string | undefined {
    const { end } = this.#rows
    const first = Math.floor(random * end)
    for (let at = 0; at < end; at++) {
      const name = this.#rows.nameOf((first + at) % end)
      if (name !== undefined && !than.has(name)) return name
    }
    return undefined
  }

  /** Shows all that is kept, without making anything of it: there may be a million. */
  visit(see: (name: string, status: string, openEvents: number, dueMs: number) => void): void {
    const { status, open, due } = this.#columns
    for (let row = 0; row < this.#rows.end; row++) {
      const name = this.#rows.nameOf(row)
      if (name === undefined) continue
      see(name, this.#statuses.nameOf(status[row] ?? 0), open[row] ?? 0, due[row] ?? NEVER)
    }
  }

  #forgetEvents(row: number): void {
    this.#sightings.delete(row)
    this.silences.forget(row)
    this.setbacks.forget(row)
  }

  /** False if the ETag is the one that is known. */
  #moved(row: number, etag: string, atMs: number): boolean {
    const mark = markOf(etag)
    if (this.#columns.mark[row] === mark) return false
    this.#columns.mark[row] = mark
    this.#columns.knownSince[row] = atMs
    this.#columns.isTold[row] = 0
    return true
  }

  #put(row: number, { status, openEvents, dueMs, nextLookMs }: Kept): void {
    this.#columns.status[row] = this.#statuses.numberOf(status)
    this.#columns.open[row] = openEvents
    this.agenda.set(row, dueMs, nextLookMs)
  }

  #newRow(name: string): number {
    const row = this.#rows.add(name)
    this.#columns.fit(row + 1)
    this.#columns.mark[row] = 0
    this.#columns.toldVersion[row] = NO_VERSION
    this.#put(row, { status: '', openEvents: 0, dueMs: NEVER, nextLookMs: NEVER })
    return row
  }
}
