import { StoreUnreachable } from '../../store/errors.ts'
import { machineTiming, type Timing } from '../../util/clock.ts'
import type { Inbox } from '../inbox.ts'
import type { NewRecord } from '../record.ts'
import { type InboxWriterOptions, MOST_BYTES, type RecordWriter } from '../writer.ts'
import { passes, Region, type RegionInbox } from './region.ts'

/** Where a record is durable; of one that is in a single region the other may get it later. */
export type PutPlace = 'both' | 'first' | 'second'

/**
 * One of the regions is away, while the other takes records; or it takes them again. `refuses`: it answers, but takes none until
 * somebody mends that, as when it has no such inbox, or one with other partitions.
 */
export type RegionEvent =
  | {
      readonly kind: 'away'
      readonly place: 'first' | 'second'
      readonly error: unknown
      readonly refuses: boolean
    }
  | { readonly kind: 'back'; readonly place: 'first' | 'second' }

export interface RegionsWriterOptions extends Omit<InboxWriterOptions, 'notBeforeMs'> {
  /** Copies in the second region are not drained before so many ms have passed. */
  readonly preferMs: number
  /** How long a record that is durable in one region waits for the other, ms. Default 1 000. */
  readonly patienceMs?: number
  readonly observe?: (event: RegionEvent) => void
}

export const DEFAULT_PREFER_MS = 15_000
const PATIENCE_MS = 1_000
/** Without `again`: a record is sent at most so many times. */
const MOST_SENDS = 4

/** What became of a record in a region. */
type Fate = 'none' | 'pending' | 'durable' | 'failed'
type Place = Exclude<PutPlace, 'both'>
const OTHER = { first: 'second', second: 'first' } as const

/** A record that is not answered yet. */
interface Entry extends Record<Place, Fate> {
  readonly record: NewRecord
  readonly bytes: number
  readonly answer: PromiseWithResolvers<PutPlace>
  sends: number
  /** Since when it is durable in one region, ms of the monotonic clock. */
  durableMs: number
}

/**
 * Puts each record into the inboxes of two regions. Durable in one is success: a region that fails, or keeps records
 * waiting, is away until it answers again, and meanwhile nobody waits for it. In each region the records of a key keep the
 * order in which they were put; one that was away misses those that were answered meanwhile.
 */
export class RegionsWriter implements RecordWriter<PutPlace> {
  readonly #options: RegionsWriterOptions
  readonly #timing: Timing
  readonly #patienceMs: number
  readonly #regions: Readonly<Record<Place, Region>>
  readonly #late: Readonly<Record<Place, Set<Entry>>> = { first: new Set(), second: new Set() }
  readonly #isTimed: Record<Place, boolean> = { first: false, second: false }
  readonly #isWatched: Record<Place, boolean> = { first: false, second: false }
  readonly #closing = new AbortController()
  readonly #signal: AbortSignal
  /** In the order in which they were put. */
  readonly #open = new Set<Entry>()
  #bytes = 0
  #isRescuing = false
  #changed: PromiseWithResolvers<void> | undefined
  /** Records by where they were durable when they were answered. */
  readonly counts: Record<PutPlace, number> = { both: 0, first: 0, second: 0 }

  constructor(
    regions: readonly [RegionInbox, RegionInbox],
    expected: Pick<Inbox, 'name' | 'partitions'>,
    options: RegionsWriterOptions,
  ) {
    const {
      again: _,
      observe: __,
      preferMs,
      patienceMs = PATIENCE_MS,
      timing = machineTiming,
      signal,
      ...rest
    } = options
    this.#options = options
    this.#timing = timing
    this.#patienceMs = patienceMs
    this.#signal = AbortSignal.any([this.#closing.signal, ...(signal ? [signal] : [])])
    const common = { ...rest, timing, signal: this.#signal }
    this.#regions = {
      first: new Region(regions[0], expected, common),
      second: new Region(regions[1], expected, { ...common, notBeforeMs: preferMs }),
    }
    for (const place of PLACES) if (this.#regions[place].isAway) this.#tellAway(place)
  }

  get isFull(): boolean {
    return this.#bytes >= (this.#options.mostBytes ?? MOST_BYTES) || PLACES.some(place => this.#regions[place].isFull)
  }

  async room(): Promise<void> {
    while (this.isFull) {
      this.#changed ??= Promise.withResolvers()
      await this.#changed.promise
    }
  }

  /**
   * Resolves once the record is durable in both regions, or in one while the other is away, with where.
   * @throws InvalidValue; the fault of a region if both fail
   */
  put(record: NewRecord): Promise<PutPlace> {
    const answer = Promise.withResolvers<PutPlace>()
    const bytes = record.json.length + 100
    const entry: Entry = { record, bytes, answer, first: 'none', second: 'none', sends: 0, durableMs: 0 }
    this.#open.add(entry)
    this.#bytes += bytes
    for (const place of PLACES) {
      if (this.#regions[place].isAway) this.#watch(place)
      else this.#send(entry, place)
    }
    if (isStranded(entry)) void this.#rescue()
    return answer.promise
  }

  /** Whether a region is away, or refuses records. */
  isAway(place: 'first' | 'second'): boolean {
    return this.#regions[place].isAway
  }

  /** Stops looking after a region that is away, and what is still being sent to it. Records not answered fail. */
  close(): void {
    this.#closing.abort()
  }

  #send(entry: Entry, place: Place): void {
    const { writer } = this.#regions[place]
    if (writer === undefined) return
    entry[place] = 'pending'
    entry.sends += 1
    writer.put(entry.record).then(
      () => this.#landed(entry, place),
      error => this.#failed(entry, place, error),
    )
  }

  #landed(entry: Entry, place: Place): void {
    entry[place] = 'durable'
    const region = this.#regions[place]
    // Slow, not failed: all that it was sent is there.
    if (region.isAway && region.isSlow && region.writer?.bytes === 0) this.#cameBack(place)
    if (region.told !== undefined && !region.isAway) this.#tellBack(place)
    if (!this.#open.has(entry)) return
    const other = OTHER[place]
    if (entry[other] !== 'pending' || this.#regions[other].isAway) {
      this.#settle(entry)
      return
    }
    entry.durableMs = this.#timing.monotonicMs()
    this.#late[other].add(entry)
    void this.#timeLate(other)
  }

  #failed(entry: Entry, place: Place, error: unknown): void {
    entry[place] = 'failed'
    this.#away(place, error)
    if (!this.#open.has(entry)) return
    if (entry[OTHER[place]] === 'durable') this.#settle(entry)
    else if (isStranded(entry)) void this.#rescue()
    this.#notifyRoom()
  }

  #settle(entry: Entry): void {
    const place = entry.first !== 'durable' ? 'second' : entry.second !== 'durable' ? 'first' : 'both'
    this.#close(entry)
    this.counts[place] += 1
    entry.answer.resolve(place)
  }

  #reject(entry: Entry, error: unknown): void {
    this.#close(entry)
    entry.answer.reject(error)
  }

  #close(entry: Entry): void {
    this.#open.delete(entry)
    this.#bytes -= entry.bytes
    for (const place of PLACES) this.#late[place].delete(entry)
    this.#notifyRoom()
  }

  #notifyRoom(): void {
    this.#changed?.resolve()
    this.#changed = undefined
  }

  /** From now on nobody waits for this region. */
  #away(place: Place, error: unknown): void {
    const region = this.#regions[place]
    if (region.isAway) return
    region.isAway = true
    region.isSlow = error instanceof TooSlow
    region.fault = error
    this.#tellAway(place)
    for (const entry of [...this.#late[place]]) this.#settle(entry)
    this.#notifyRoom()
    this.#watch(place)
  }

  /** All that is not answered goes to it too, in its order, before what is put from now on. */
  #cameBack(place: Place): void {
    const region = this.#regions[place]
    region.isAway = false
    const most = this.#options.again === undefined ? MOST_SENDS : Number.POSITIVE_INFINITY
    for (const entry of this.#open)
      if ((entry[place] === 'none' || entry[place] === 'failed') && entry.sends < most) this.#send(entry, place)
  }

  /**
   * Told once, until it has taken something again, and again if it turns out to refuse records; nothing is told of a second region
   * while the first is away too.
   */
  #tellAway(place: Place): void {
    const [region, other] = [this.#regions[place], this.#regions[OTHER[place]]]
    if (!region.isNews || other.isAway || this.#signal.aborted) return
    region.told = { fault: region.fault }
    this.#options.observe?.({ kind: 'away', place, error: region.fault, refuses: region.refuses })
  }

  #tellBack(place: Place): void {
    this.#regions[place].told = undefined
    this.#options.observe?.({ kind: 'back', place })
    const other = OTHER[place]
    if (this.#regions[other].isAway) this.#tellAway(other)
  }

  /** A region that keeps records waiting is away. */
  async #timeLate(place: Place): Promise<void> {
    if (this.#isTimed[place]) return
    this.#isTimed[place] = true
    while (!this.#signal.aborted) {
      const [oldest] = this.#late[place]
      if (oldest === undefined) break
      const leftMs = oldest.durableMs + this.#patienceMs - this.#timing.monotonicMs()
      if (leftMs > 0) await this.#timing.pause(leftMs, this.#signal)
      else this.#away(place, new TooSlow('it keeps records waiting'))
    }
    this.#isTimed[place] = false
  }

  /** Looks after a region that is away, as long as there is something to put. */
  async #watch(place: Place): Promise<void> {
    const region = this.#regions[place]
    if (this.#isWatched[place]) return
    this.#isWatched[place] = true
    do {
      await this.#timing.pause(region.nextPauseMs(this.#timing.monotonicMs()), this.#signal)
      if (region.isAway && !this.#signal.aborted) await this.#look(place)
    } while (region.isAway && this.#open.size > 0 && !this.#signal.aborted)
    this.#isWatched[place] = false
  }

  async #look(place: Place): Promise<void> {
    const region = this.#regions[place]
    await region.look(this.#signal, () => this.#cameBack(place))
    if (region.isAway) this.#tellAway(place)
  }

  /** While both regions are away: waits and looks again, as `again` says. */
  async #rescue(): Promise<void> {
    if (this.#isRescuing) return
    this.#isRescuing = true
    while (this.#stranded().length > 0) await this.#rescueOnce()
    this.#isRescuing = false
  }

  async #rescueOnce(): Promise<void> {
    const { again } = this.#options
    const looks = () => PLACES.map(place => this.#look(place))
    if (this.#signal.aborted) return this.#rejectStranded(() => true)
    if (again === undefined) {
      this.#rejectStranded(({ sends }) => sends > 0)
      const waiting = new Set(this.#stranded())
      if (waiting.size === 0) return
      await Promise.all(looks())
      return this.#rejectStranded(entry => waiting.has(entry))
    }
    if (await again(this.#fault())) await Promise.race(looks())
    else this.#rejectStranded(() => true)
  }

  #rejectStranded(which: (entry: Entry) => boolean): void {
    for (const entry of this.#stranded().filter(which)) this.#reject(entry, this.#fault())
  }

  #stranded(): Entry[] {
    return [...this.#open].filter(isStranded)
  }

  /** The one that is worth waiting for, if one is. */
  #fault(): unknown {
    const { first, second } = this.#regions
    return passes(first.fault) || !passes(second.fault) ? first.fault : second.fault
  }
}

/** It may still take what it was sent. */
class TooSlow extends StoreUnreachable {}

const PLACES = ['first', 'second'] as const

function isStranded({ first, second }: Entry): boolean {
  return [first, second].every(fate => fate === 'none' || fate === 'failed')
}
