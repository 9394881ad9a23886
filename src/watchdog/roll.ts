import { ownText } from '../ops/own-text.ts'
import type { Sightings } from './plan.ts'

/** What is kept of each stream from look to look. */
export interface Kept {
  /** Status of the root; `unreadable` and `not-started` where there is none; `''` as long as nobody looked. */
  readonly status: string
  readonly openEvents: number
  readonly version: number
  /** When its first limit ends, and when it has to be looked at, epoch ms; `Infinity` for never, `-Infinity` for now. */
  readonly dueMs: number
  readonly nextLookMs: number
}

/** What begins to be kept of a stream nobody has looked at. */
const FIRST_ROOM = 1_024
const NO_SIGHTINGS: Sightings = new Map()
const MAX_STATUSES = 50
const OTHER = 'other'
const NEVER = Number.POSITIVE_INFINITY

/**
 * The streams a watchdog knows. It may be a million of them, so what is kept of each lies in columns: some 150 bytes a
 * stream instead of 400 in objects. Of an ETag 52 bits of hash are kept: two that differ look alike once in 10^15.
 */
export class Roll {
  readonly #rows = new Map<string, number>()
  #names: (string | undefined)[] = []
  readonly #free: number[] = []
  #marks = new Float64Array(FIRST_ROOM)
  #due = new Float64Array(FIRST_ROOM)
  #nextLook = new Float64Array(FIRST_ROOM)
  #knownSince = new Float64Array(FIRST_ROOM)
  #version = new Float64Array(FIRST_ROOM)
  #open = new Uint32Array(FIRST_ROOM)
  #look = new Uint32Array(FIRST_ROOM)
  #status = new Uint16Array(FIRST_ROOM)
  /** Statuses by their numbers: five, and what foreign writers invent. */
  readonly #statuses: string[] = ['', OTHER]
  readonly #sightings = new Map<number, Sightings>()
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
    for (const [row, name] of this.#names.entries()) {
      if (name !== undefined && this.#look[row] !== this.#sweep) this.remove(name)
    }
  }

  /** True if it stands as it was met last; then it is met again, and nothing else need be known of it. */
  isUnmoved(name: string, etag: string): boolean {
    const row = this.#rows.get(name)
    if (row === undefined || this.#marks[row] !== markOf(etag)) return false
    this.#look[row] = this.#sweep
    return true
  }

  /**
   * A stream that is new or moved. @param kept absent: its document has to be read
   * @param atMs of a clock that only goes forward
   */
  met(name: string, etag: string, kept: Kept | undefined, atMs: number): void {
    const row = this.#rows.get(name) ?? this.#newRow(name)
    this.#marks[row] = markOf(etag)
    this.#knownSince[row] = atMs
    this.#look[row] = this.#sweep
    if (kept !== undefined) this.#put(row, kept)
    else this.#nextLook[row] = Number.NEGATIVE_INFINITY
  }

  /** What a look at the document itself found. `etag`: of what was read. */
  looked(name: string, etag: string, kept: Kept, sightings: Sightings, atMs: number): void {
    const row = this.#rows.get(name)
    if (row === undefined) return
    if (this.#marks[row] !== markOf(etag)) this.#knownSince[row] = atMs
    this.#marks[row] = markOf(etag)
    this.#put(row, kept)
    if (sightings.size > 0) this.#sightings.set(row, sightings)
    else this.#sightings.delete(row)
  }

  /** Events of it were ended: until the next sweep meets it. */
  changed(name: string, endedEvents: number): void {
    const row = this.#rows.get(name)
    if (row === undefined) return
    this.#marks[row] = 0
    this.#open[row] = Math.max(0, (this.#open[row] ?? 0) - endedEvents)
  }

  /** It has to be looked at again at that time, epoch ms: what was decided of it was not done. */
  postpone(name: string, dueMs: number, nextLookMs: number): void {
    const row = this.#rows.get(name)
    if (row === undefined) return
    this.#due[row] = Math.min(this.#due[row] ?? dueMs, dueMs)
    this.#nextLook[row] = Math.min(this.#nextLook[row] ?? nextLookMs, nextLookMs)
  }

  /** Somebody else looks after it for now. */
  leave(name: string, nextLookMs: number): void {
    const row = this.#rows.get(name)
    if (row !== undefined) this.#nextLook[row] = nextLookMs
  }

  /** An event past its limit was told of: nothing more is to be done about it. */
  told(name: string, event: string): void {
    const row = this.#rows.get(name) ?? -1
    const sighting = this.#sightings.get(row)?.get(event)
    if (sighting === undefined) return
    this.#sightings.set(row, new Map(this.#sightings.get(row)).set(event, { ...sighting, isTold: true }))
  }

  statusOf(name: string): string {
    return this.#statuses[this.#status[this.#rows.get(name) ?? -1] ?? 0] ?? ''
  }

  remove(name: string): void {
    const row = this.#rows.get(name)
    if (row === undefined) return
    this.#rows.delete(name)
    this.#names[row] = undefined
    this.#nextLook[row] = NEVER
    this.#sightings.delete(row)
    this.#free.push(row)
  }

  /** The version at the last look; `undefined` if there was none. */
  versionOf(name: string): number | undefined {
    const row = this.#rows.get(name)
    return row === undefined || this.#status[row] === 0 ? undefined : this.#version[row]
  }

  /** Since when a document with this ETag is known, by the clock that only goes forward. */
  knownSinceMs(name: string, etag: string): number | undefined {
    const row = this.#rows.get(name)
    return row !== undefined && this.#marks[row] === markOf(etag) ? this.#knownSince[row] : undefined
  }

  sightingsOf(name: string): Sightings {
    return this.#sightings.get(this.#rows.get(name) ?? -1) ?? NO_SIGHTINGS
  }

  /** Names of the streams to be looked at by that time, epoch ms. */
  toLookAt(nowMs: number): string[] {
    return this.#names.filter((name, row) => name !== undefined && (this.#nextLook[row] ?? 0) <= nowMs) as string[]
  }

  /** When the first stream has to be looked at, epoch ms. */
  soonestLookMs(): number {
    let soonestMs = NEVER
    for (let row = 0; row < this.#names.length; row++) soonestMs = Math.min(soonestMs, this.#nextLook[row] ?? soonestMs)
    return soonestMs
  }

  /** Shows all that is kept, without making anything of it: there may be a million. */
  visit(see: (name: string, status: string, openEvents: number, dueMs: number) => void): void {
    for (let row = 0; row < this.#names.length; row++) {
      const name = this.#names[row]
      if (name === undefined) continue
      see(name, this.#statuses[this.#status[row] ?? 0] ?? '', this.#open[row] ?? 0, this.#due[row] ?? NEVER)
    }
  }

  #put(row: number, { status, openEvents, version, dueMs, nextLookMs }: Kept): void {
    this.#status[row] = this.#numberOf(status)
    this.#open[row] = openEvents
    this.#version[row] = version
    this.#due[row] = dueMs
    this.#nextLook[row] = nextLookMs
  }

  #newRow(name: string): number {
    const row = this.#free.pop() ?? this.#names.length
    if (row >= this.#marks.length) this.#grow()
    // cut out of a page, the name would keep all of it
    const own = ownText(name)
    this.#rows.set(own, row)
    this.#names[row] = own
    this.#status[row] = 0
    this.#version[row] = 0
    this.#open[row] = 0
    this.#due[row] = NEVER
    this.#nextLook[row] = NEVER
    return row
  }

  #grow(): void {
    const room = this.#marks.length * 2
    this.#marks = grown(this.#marks, new Float64Array(room))
    this.#due = grown(this.#due, new Float64Array(room))
    this.#nextLook = grown(this.#nextLook, new Float64Array(room))
    this.#knownSince = grown(this.#knownSince, new Float64Array(room))
    this.#version = grown(this.#version, new Float64Array(room))
    this.#open = grown(this.#open, new Uint32Array(room))
    this.#look = grown(this.#look, new Uint32Array(room))
    this.#status = grown(this.#status, new Uint16Array(room))
  }

  #numberOf(status: string): number {
    const known = this.#statuses.indexOf(status)
    if (known >= 0) return known
    // a store of strangers may have a status of its own in each stream
    if (this.#statuses.length > MAX_STATUSES) return this.#statuses.indexOf(OTHER)
    return this.#statuses.push(status) - 1
  }
}

function grown<Column extends Float64Array | Uint32Array | Uint16Array>(from: Column, to: Column): Column {
  to.set(from)
  return to
}

/** Two FNV-1a hashes of 26 bits; never 0, which no ETag has. */
function markOf(etag: string): number {
  let a = 0x811c9dc5
  let b = 0x01000193
  for (let at = 0; at < etag.length; at++) {
    const unit = etag.charCodeAt(at)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit, 0x5bd1e995)
  }
  return (a >>> 6) * 0x4000000 + (b >>> 6) + 1
}
