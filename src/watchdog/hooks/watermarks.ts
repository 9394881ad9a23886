import { shardOf } from '../../ops/shards/quota.ts'
import { changeSystemDocument, readSystemDocument } from '../../ops/system-documents.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { BoundedMap } from '../../util/bounded-map.ts'
import type { Timing } from '../../util/clock.ts'

/** The watermark is written after this much progress, and less often if nothing was delivered meanwhile. */
const WRITE_EVERY_MS = 10_000
const WRITE_IDLE_EVERY_MS = 5 * 60_000
/** Age of the assumed watermark if the real one cannot be read. */
const UNKNOWN_MS = 60 * 60_000
/** Limit for delivery ids that wait to be written; the latest are kept. */
const MAX_NOTED = 500
const READ_TRIES = 6
const LONGEST_PAUSE_MS = 10_000

export interface ProgressOptions {
  /** Watermark stores by the key of the hook. */
  readonly memories: ReadonlyMap<string, WatermarkStore>
  /** Receives the ids that other watchdogs delivered, as built by `toldKey`. */
  readonly told: DeliveredIds
  readonly timing: Timing
  /** The store's clock. */
  readonly nowMs: () => number
  readonly onTrouble: (message: string, error: unknown) => void
  /** The watchdog holds none of this number of shards until they are assigned; without it, it holds the whole store. */
  readonly shards?: number | undefined
  /** Aborts when the watchdog stops: a store that does not answer is not waited for. */
  readonly signal: AbortSignal
}

/**
 * The watermark of each hook in each shard of the store. A shard that is taken over continues at the watermark of its
 * last watchdog, so deliveries that one left are made now.
 */
export class HookProgress {
  readonly #options: ProgressOptions
  /** By key, then by shard: events since this time are to be delivered, epoch ms. */
  readonly #since = new Map<string, Map<number, number>>()
  /** By key: delivered ids that are not written yet. */
  readonly #ended = new Map<string, string[]>()
  /** The shards held, and since when. */
  #held = new Map<number, number>()
  #total = 1
  #loading: Promise<void> | undefined
  #writing: Promise<void> | undefined
  #writtenMs = 0
  #doneMs: number | undefined
  #isFailing = false
  #touchedMs = 0

  constructor(options: ProgressOptions) {
    this.#options = options
    for (const key of options.memories.keys()) {
      this.#since.set(key, new Map())
      this.#ended.set(key, [])
    }
  }

  /** Sets the shards of this watchdog. Does not wait, since a lease may have to be renewed meanwhile. */
  take(held: readonly number[], total: number): void {
    // The next owners of released shards start at this watermark.
    if ((this.#doneMs ?? 0) > this.#writtenMs) this.#write()
    const known = total === this.#total ? this.#held : new Map<number, number>()
    this.#total = total
    this.#held = new Map(held.map(shard => [shard, known.get(shard) ?? this.#options.nowMs()]))
    const taken = held.filter(shard => !known.has(shard))
    const before = this.#loading
    this.#loading = (async () => {
      await before
      await Promise.all([...this.#options.memories].map(each => this.#load(each, taken, total)))
    })()
  }

  /** Resolves once all watermarks are loaded. */
  async ready(): Promise<void> {
    if (this.#loading === undefined && this.#options.shards === undefined) this.take([0], 1)
    await this.#loading
  }

  /** A hook receives events of a stream since this time, epoch ms. */
  sinceMs(key: string, stream: string): number {
    const nowMs = this.#options.nowMs()
    // A clock that was set back must not make new events look old.
    return Math.min(this.#since.get(key)?.get(this.#shard(stream)) ?? nowMs, nowMs)
  }

  /** The earliest such time among all hooks. */
  earliestMs(stream: string): number {
    return Math.min(...[...this.#since.keys()].map(key => this.sinceMs(key, stream)))
  }

  /** Everything found by a sweep and those before it is delivered. @param startedMs start of the sweep, epoch ms */
  reached(startedMs: number): void {
    if (startedMs === this.#doneMs) return
    this.#doneMs = startedMs
    const everyMs = this.#touchedMs > this.#writtenMs ? WRITE_EVERY_MS : WRITE_IDLE_EVERY_MS
    if (startedMs - this.#writtenMs >= everyMs) this.#write()
  }

  /** A delivery ended: it must not be repeated after a restart. */
  ended(key: string, deliveryId: string): void {
    this.#touchedMs = this.#options.nowMs()
    const ended = this.#ended.get(key)
    ended?.push(shortId(deliveryId))
    if (ended !== undefined && ended.length > MAX_NOTED) ended.shift()
  }

  /** Writes the watermarks and waits for it. */
  async flush(): Promise<void> {
    await this.#writing
    const hasNews = (this.#doneMs ?? 0) > this.#writtenMs || [...this.#ended.values()].some(ids => ids.length > 0)
    if (hasNews) this.#write()
    await this.#writing
  }

  #shard(stream: string): number {
    return this.#total === 1 ? 0 : shardOf(stream, this.#total)
  }

  async #load([key, memory]: [string, WatermarkStore], shards: readonly number[], total: number): Promise<void> {
    const { nowMs } = this.#options
    const marks = await this.#read(memory)
    const now = nowMs()
    const since = this.#since.get(key)
    if (typeof marks === 'object') for (const id of marks.told) this.#options.told.add(deliveryKey(key, id))
    for (const shard of shards) {
      const mark = marks === 'unknown' ? now - UNKNOWN_MS : marks && markOf(marks, shard, total)
      // A wrong clock may have written a time in the future.
      since?.set(shard, Math.min(mark ?? now, now))
    }
    // The very first start: if this watchdog dies during its first sweep, the next one starts here.
    if (marks === undefined) await this.#writeOne(key, memory, new Map(shards.map(shard => [shard, now])), total)
  }

  async #read(memory: WatermarkStore): Promise<Watermark | undefined | 'unknown'> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await memory.read()
      } catch (error) {
        if (this.#options.signal.aborted) return 'unknown'
        if (!(error instanceof StoreUnreachable) || tries >= READ_TRIES) {
          this.#options.onTrouble(
            'the watermark of hooks cannot be read: events of the last hour may be delivered again',
            error,
          )
          return 'unknown'
        }
        await this.#options.timing.pause(Math.min(1_000 * 2 ** (tries - 1), LONGEST_PAUSE_MS), this.#options.signal)
      }
    }
  }

  #write(): void {
    const doneMs = this.#doneMs ?? 0
    if (this.#writing !== undefined) return
    // A shard taken during the sweep was not swept completely.
    const shards = [...this.#held].filter(([, fromMs]) => fromMs <= doneMs)
    const since = new Map(shards.map(([shard]) => [shard, doneMs]))
    const total = this.#total
    this.#writing = (async () => {
      const memories = [...this.#options.memories]
      const written = await Promise.all(memories.map(([key, memory]) => this.#writeOne(key, memory, since, total)))
      if (written.every(Boolean)) this.#writtenMs = doneMs
      this.#writing = undefined
    })()
  }

  async #writeOne(
    key: string,
    memory: WatermarkStore,
    since: ReadonlyMap<number, number>,
    total: number,
  ): Promise<boolean> {
    const ended = this.#ended.get(key) ?? []
    const told = [...ended]
    if (since.size === 0 && told.length === 0) return true
    try {
      const isWritten = await memory.write({ total, since, told })
      if (isWritten)
        this.#ended.set(
          key,
          ended.filter(id => !told.includes(id)),
        )
      this.#isFailing = false
      return isWritten
    } catch (error) {
      if (!this.#isFailing)
        this.#options.onTrouble('the watermark of hooks cannot be written: a restart may repeat more deliveries', error)
      this.#isFailing = true
      return false
    }
  }
}

/** Progress of a hook. */
export interface Watermark {
  /**
   * Up to when everything is delivered, epoch ms by the store's clock, for each shard of the store; `undefined`:
   * unknown.
   */
  readonly since: readonly (number | undefined)[]
  /** Short ids of the last deliveries; some are after the watermark, or in the margin before it. */
  readonly told: readonly string[]
}

/** New progress of a hook. */
export interface MarkNews {
  readonly total: number
  /** By shard. */
  readonly since: ReadonlyMap<number, number>
  readonly told: readonly string[]
}

const API_VERSION = 'leasectl/v1'
const KIND = 'watchdog-hook'
/** Limit for the stored delivery ids, some 10 KiB. */
const MAX_TOLD = 500

/** `undefined` if the text is not a watermark document. */
export function parseMarks(text: string): Watermark | undefined {
  const fields = fieldsOf(text)
  if (!Array.isArray(fields?.since) || fields.since.length === 0) return undefined
  const since: readonly unknown[] = fields.since
  const told: readonly unknown[] = Array.isArray(fields.told) ? fields.told : []
  return {
    since: since.map(ms => (Number.isSafeInteger(ms) ? Number(ms) : undefined)),
    told: told.filter(id => typeof id === 'string'),
  }
}

export function marksText({ since, told }: Watermark): string {
  const fields = { apiVersion: API_VERSION, kind: KIND, since: since.map(ms => ms ?? null), told }
  return `${JSON.stringify(fields)}\n`
}

/** The watermark of a shard; the earliest of all if the number of shards differs or the shard has none yet. */
export function markOf({ since }: Watermark, shard: number, total: number): number | undefined {
  return (since.length === total ? since[shard] : undefined) ?? earliest(since)
}

/** Adds the progress of some shards. Watermarks never move back: what any watchdog delivered is delivered. */
export function withNews(old: Watermark | undefined, { total, since, told }: MarkNews): Watermark {
  const marks = Array.from({ length: total }, (_, shard) => {
    const before = old === undefined ? undefined : markOf(old, shard, total)
    const now = since.get(shard)
    return now === undefined || (before !== undefined && before > now) ? before : now
  })
  const own = new Set(told)
  const others = (old?.told ?? []).filter(id => !own.has(id))
  return { since: marks, told: [...others, ...own].slice(-MAX_TOLD) }
}

function earliest(since: Watermark['since']): number | undefined {
  const known = since.filter(ms => ms !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

function fieldsOf(text: string): { readonly since?: unknown; readonly told?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Stores the watermark of one hook, so that no event is lost while no watchdog runs. */
export interface WatermarkStore {
  /** `undefined`: no watermark, or an unreadable one. @throws the store's faults */
  read(): Promise<Watermark | undefined>
  /** Writes progress. False: another watchdog is writing; try again later. @throws the store's faults */
  write(news: MarkNews): Promise<boolean>
}

/** Watermarks in the store itself, by the keys of hooks: the next watchdog finds them on any machine. */
export function hookMemory(store: StreamStore, by: string): (key: string) => WatermarkStore {
  return key => {
    const name = `.leasectl/watchdog/hooks/${key}`
    return {
      async read() {
        const text = await readSystemDocument(store, name)
        return text === undefined ? undefined : parseMarks(text)
      },
      async write(news) {
        const change = (text: string | undefined) =>
          marksText(withNews(text === undefined ? undefined : parseMarks(text), news))
        const outcome = await changeSystemDocument(store, name, change, { by, purpose: 'watchdog: progress of a hook' })
        return outcome === 'written' || outcome === 'left'
      },
    }
  }
}

/** Ids of the last deliveries, as built by `toldKey`, to avoid duplicates. */
export class DeliveredIds {
  readonly #keys: BoundedMap<string, true>

  constructor(limit: number) {
    this.#keys = new BoundedMap(limit)
  }

  /** False if the id is already known; it then becomes the newest. */
  add(key: string): boolean {
    const isNew = !this.#keys.has(key)
    this.#keys.set(key, true)
    return isNew
  }
}

/** Key of a delivery to a hook, with 64 bits of its id. */
export function deliveryKey(key: string, shortId: string): string {
  return `${key} ${shortId}`
}

/** The first half of the number in `done-0123456789abcdef0123456789abcdef`. */
export function shortId(deliveryId: string): string {
  return deliveryId.slice(-32, -16)
}
