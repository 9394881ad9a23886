import { changeSystemDocument, readSystemDocument } from '../../ops/system-documents.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { BoundedMap } from '../../util/bounded-map.ts'
import type { Timing } from '../../util/clock.ts'
import { shardOf } from '../shards/quota.ts'

/** How far it has come is written when it has come so much further, and so much where nothing was delivered meanwhile. */
const WRITE_EVERY_MS = 10_000
const WRITE_IDLE_EVERY_MS = 5 * 60_000
/** What cannot be known is taken to be so long ago. */
const UNKNOWN_MS = 60 * 60_000
/** Of very many deliveries the latest are noted. */
const MAX_NOTED = 500
const READ_TRIES = 6
const LONGEST_PAUSE_MS = 10_000

export interface ProgressOptions {
  /** By the key of the hook. */
  readonly memories: ReadonlyMap<string, WatermarkStore>
  /** Learns what others have told, as `toldKey` has it. */
  readonly told: DeliveredIds
  readonly timing: Timing
  /** The store's clock. */
  readonly nowMs: () => number
  readonly onTrouble: (message: string, error: unknown) => void
  /** Of so many shards it has none until it is told which; without it all of the store is its. */
  readonly shards?: number | undefined
  /** The watchdog ends: a store that does not answer is not waited for. */
  readonly signal: AbortSignal
}

/**
 * How far each hook has come in each shard of the store. A shard that is taken over goes on where its last watchdog noted
 * that it was: what that one did not deliver any more is delivered now.
 */
export class HookProgress {
  readonly #options: ProgressOptions
  /** By key, then by shard: from when on it is to be told, epoch ms. */
  readonly #since = new Map<string, Map<number, number>>()
  /** By key: what was delivered and is not noted yet. */
  readonly #ended = new Map<string, string[]>()
  /** Shards, and from when on they are ours. */
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

  /** Which shards are this watchdog's. Does not wait: a lease may have to be renewed meanwhile. */
  take(held: readonly number[], total: number): void {
    // those who take over what is let go of begin there
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

  /** Resolves once it is known how far all has come. */
  async ready(): Promise<void> {
    if (this.#loading === undefined && this.#options.shards === undefined) this.take([0], 1)
    await this.#loading
  }

  /** From when on a hook is to be told of a stream, epoch ms. */
  sinceMs(key: string, stream: string): number {
    const nowMs = this.#options.nowMs()
    // a clock that was set back must not make news look old
    return Math.min(this.#since.get(key)?.get(this.#shard(stream)) ?? nowMs, nowMs)
  }

  /** The same of the hook that is furthest back. */
  earliestMs(stream: string): number {
    return Math.min(...[...this.#since.keys()].map(key => this.sinceMs(key, stream)))
  }

  /** All that a sweep found, and those before it, is delivered. @param startedMs of the sweep, epoch ms */
  reached(startedMs: number): void {
    if (startedMs === this.#doneMs) return
    this.#doneMs = startedMs
    const everyMs = this.#touchedMs > this.#writtenMs ? WRITE_EVERY_MS : WRITE_IDLE_EVERY_MS
    if (startedMs - this.#writtenMs >= everyMs) this.#write()
  }

  /** A delivery has ended: it is not to be told again after a restart. */
  ended(key: string, deliveryId: string): void {
    this.#touchedMs = this.#options.nowMs()
    const ended = this.#ended.get(key)
    ended?.push(shortId(deliveryId))
    if (ended !== undefined && ended.length > MAX_NOTED) ended.shift()
  }

  /** Writes down how far it has come; waits for it. */
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
    if (typeof marks === 'object') for (const id of marks.told) this.#options.told.add(toldKey(key, id))
    for (const shard of shards) {
      const mark = marks === 'unknown' ? now - UNKNOWN_MS : marks && markOf(marks, shard, total)
      // a clock that was wrong may have noted a time to come
      since?.set(shard, Math.min(mark ?? now, now))
    }
    // the very first start: should this watchdog die before its first sweep is through, the next one begins here
    if (marks === undefined) await this.#writeOne(key, memory, new Map(shards.map(shard => [shard, now])), total)
  }

  async #read(memory: WatermarkStore): Promise<Watermark | undefined | 'unknown'> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await memory.read()
      } catch (error) {
        if (this.#options.signal.aborted) return 'unknown'
        if (!(error instanceof StoreUnreachable) || tries >= READ_TRIES) {
          this.#options.onTrouble('how far hooks have come cannot be read: the last hour is told again', error)
          return 'unknown'
        }
        await this.#options.timing.pause(Math.min(1_000 * 2 ** (tries - 1), LONGEST_PAUSE_MS), this.#options.signal)
      }
    }
  }

  #write(): void {
    const doneMs = this.#doneMs ?? 0
    if (this.#writing !== undefined) return
    // a shard that was taken while the sweep went on was not swept whole
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
        this.#options.onTrouble('how far hooks have come cannot be noted: a restart tells more again', error)
      this.#isFailing = true
      return false
    }
  }
}

/** How far a hook has come. */
export interface Watermark {
  /** Up to when all was delivered, epoch ms by the store's clock, for each shard of the store; `undefined`: not known. */
  readonly since: readonly (number | undefined)[]
  /** What was delivered last, in short; some of it is later than that, or in the margin before. */
  readonly told: readonly string[]
}

/** What is new of it. */
export interface MarkNews {
  readonly total: number
  /** By shard. */
  readonly since: ReadonlyMap<number, number>
  readonly told: readonly string[]
}

const API_VERSION = 'leasectl/v1'
const KIND = 'watchdog-hook'
/** So much of what was delivered is kept: some 10 KiB. */
const MAX_TOLD = 500

/** `undefined` for a text that is none of ours. */
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

/** The mark of a shard. Where the store was divided otherwise, or nobody had the shard yet, the earliest of all. */
export function markOf({ since }: Watermark, shard: number, total: number): number | undefined {
  return (since.length === total ? since[shard] : undefined) ?? earliest(since)
}

/** What is known after some shards got on. Whoever delivered it, it is delivered: marks never go back. */
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

/** Where the progress of one hook is kept, so that nothing is lost while nobody watches. */
export interface WatermarkStore {
  /** `undefined`: nothing is known, or what is there cannot be read. @throws the store's faults */
  read(): Promise<Watermark | undefined>
  /** Notes how far it has come. False: not now, somebody else is at it. @throws the store's faults */
  write(news: MarkNews): Promise<boolean>
}

/** The progress of hooks in the store itself, by their keys: whichever machine goes on finds it there. */
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

/** The deliveries handed on last, as `toldKey` has them: none is handed on twice. */
export class DeliveredIds {
  readonly #keys: BoundedMap<string, true>

  constructor(limit: number) {
    this.#keys = new BoundedMap(limit)
  }

  /** False if it is there already; then it becomes the newest. */
  add(key: string): boolean {
    const isNew = !this.#keys.has(key)
    this.#keys.set(key, true)
    return isNew
  }
}

/** A delivery of a hook in short, 64 bits of its id: whether it was told already. */
export function toldKey(key: string, shortId: string): string {
  return `${key} ${shortId}`
}

/** Of `done-0123456789abcdef0123456789abcdef` the first half of the number. */
export function shortId(deliveryId: string): string {
  return deliveryId.slice(-32, -16)
}
