import { randomUUID } from 'node:crypto'
import type { ShardPart } from '../../ops/shards/quota.ts'
import { openShards, type Shards } from '../../ops/shards/shards.ts'
import { damaged } from '../../ops/system-fields.ts'
import { comparePositions, LOG_START, type LogPosition } from '../../store/block-log.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { machineTiming, type Timing } from '../../util/clock.ts'
import { checkpointFolder, checkpointText, NO_CHECKPOINT, parseCheckpoint, readCheckpoint } from '../checkpoint.ts'
import { type Inbox, partitionLog } from '../inbox.ts'
import { lossOf } from '../last-line.ts'
import { MOST_PARTITIONS } from '../record.ts'
import { isPassing } from './checkpoint-writer.ts'
import { ConcurrencyLimit, RateLimit } from './limits.ts'
import { type DrainActivity, type DrainShared, PartitionDrain } from './partition.ts'
import { trimDrained } from './trim.ts'
import type { DrainEvent, DrainReport } from './types.ts'
import type { DrainWork } from './work.ts'

export interface DrainOptions {
  readonly inbox: Inbox
  readonly work: DrainWork
  /** Actor, `user@host`. */
  readonly by: string
  /** Records at a time, at most. */
  readonly concurrency: number
  /** Records a second, at most. */
  readonly rate?: number | undefined
  /** A checkpoint of a partition is written after so many records. Default 1 000. */
  readonly checkpointEvery?: number | undefined
  /** A checkpoint of a partition is written at the latest after this time, ms. Default 1 000. */
  readonly checkpointIntervalMs?: number | undefined
  /** A dead letter blocks its key: the later records of the key wait behind it. */
  readonly strictOrder?: boolean | undefined
  /** Only these partitions of the inbox. */
  readonly part?: ShardPart | undefined
  /** Ends once all that was there at the beginning is drained, by whomever. */
  readonly once?: boolean | undefined
  /** Drained records older than this are removed, ms. Without it all are kept. */
  readonly keepMs?: number | undefined
  readonly observe?: ((event: DrainEvent) => void) | undefined
  readonly timing?: Timing | undefined
  /** How long a dead drain keeps its partitions, seconds. Default 15. */
  readonly leaseS?: number | undefined
  /** A fresh UUID at each call. */
  readonly newId?: (() => string) | undefined
}

/** Bytes of records in hand, at most, of all partitions. */
const WINDOW_BYTES = 8 * 1024 * 1024
/** Of one partition, at least and at most. */
const PARTITION_BYTES = { least: 128 * 1024, most: 2 * 1024 * 1024 } as const
/** Interval of checks for partitions, ms. */
const TICK_MS = 100
/** Interval of checks for the checkpoints of others, ms. */
const OTHERS_MS = 1_000
const TRIM_EVERY_MS = 60_000
/** A checkpoint that cannot be read now is read again after this time, ms. */
const READ_AGAIN_MS = 1_000

/**
 * Drains an inbox until the signal aborts, or with `once` until it is empty: each record has its effect once. Ends after the
 * records being worked on, with its checkpoints written and its partitions released. Any number of drains share the
 * partitions; those of one that died are drained on by others once its leases have expired.
 *
 * @param store that of the inbox
 * @throws BadDocument, StoreIncompatible: a checkpoint cannot be read; the store's faults but `StoreUnreachable` and
 * `StoreFull`, which are waited for
 */
export async function drain(store: StreamStore, options: DrainOptions, signal: AbortSignal): Promise<DrainReport> {
  return new DrainRun(store, options, signal).run()
}

class DrainRun {
  readonly #store: StreamStore
  readonly #options: DrainOptions
  readonly #timing: Timing
  readonly #ended = new AbortController()
  readonly #signal: AbortSignal
  readonly #shards: Shards
  readonly #shared: DrainShared
  readonly #held = new Map<number, { readonly drain: PartitionDrain; readonly run: Promise<void> }>()
  /** Drains of partitions that were lost, until what they work on has ended. */
  readonly #leaving = new Set<Promise<void>>()
  readonly #starting = new Set<number>()
  readonly #notBeforeMs = new Map<number, number>()
  readonly #counts = { done: 0, duplicates: 0, dead: 0 }
  #fault: { readonly error: unknown } | undefined
  readonly #troubled = new Set<DrainActivity>()
  readonly #trimmed = new Map<number, LogPosition>()
  #nextTrimMs: number
  #trimming: Promise<void> | undefined

  constructor(store: StreamStore, options: DrainOptions, signal: AbortSignal) {
    const { inbox, by, part, timing = machineTiming, leaseS, newId = randomUUID, concurrency, rate } = options
    this.#store = store
    this.#options = options
    this.#timing = timing
    this.#signal = AbortSignal.any([signal, this.#ended.signal])
    this.#nextTrimMs = timing.monotonicMs()
    const count = inbox.partitions
    this.#shards = openShards(store, {
      ...{ folder: checkpointFolder(inbox), role: 'inbox-drain', content: checkpointText(NO_CHECKPOINT) },
      ...{ count, most: MOST_PARTITIONS, part, by, timing, newId, ...(leaseS !== undefined && { leaseS }) },
      changed: held => {
        if (!this.#signal.aborted) this.#report({ kind: 'partitions', held, count })
      },
      troubled: error => this.#trouble('sharing', error),
      recovered: () => this.#trouble('sharing', undefined),
    })
    const share = Math.floor(WINDOW_BYTES / (count / (part?.count ?? 1)))
    this.#shared = {
      ...{ store, inbox, by, timing, work: options.work },
      limit: new ConcurrencyLimit(concurrency, timing),
      strictOrder: options.strictOrder ?? false,
      rate: rate === undefined ? undefined : new RateLimit(rate, timing),
      checkpointEvery: options.checkpointEvery ?? 1_000,
      checkpointIntervalMs: options.checkpointIntervalMs ?? 1_000,
      windowBytes: Math.max(PARTITION_BYTES.least, Math.min(PARTITION_BYTES.most, share)),
      report: event => this.#report(event),
      trouble: (of, error) => this.#trouble(of, error),
      fail: error => this.#fail(error),
    }
  }

  async run(): Promise<DrainReport> {
    const releasing = new AbortController()
    const sharing = this.#shards.run(releasing.signal)
    const ending = this.#options.once ? this.#endOnceDrained() : undefined
    try {
      while (!this.#signal.aborted) {
        await this.#takeOver()
        this.#trimIfDue()
        await this.#timing.pause(TICK_MS, this.#signal)
      }
    } catch (error) {
      this.#fail(error)
    }
    for (const { drain } of this.#held.values()) drain.stop()
    await Promise.all([...[...this.#held.values()].map(({ run }) => run), ...this.#leaving])
    if (this.#fault === undefined) await this.#trimLast()
    releasing.abort()
    await Promise.all([sharing, ending])
    if (this.#fault !== undefined) throw this.#fault.error
    return { ...this.#counts }
  }

  /** Starts the partitions that this drain has now, and gives up those that it has no more. */
  async #takeOver(): Promise<void> {
    for (const [number, { drain, run }] of this.#held) {
      if (this.#shards.leaseIdOf(number) === drain.leaseId) continue
      drain.lose()
      this.#held.delete(number)
      this.#leaving.add(run)
      void run.then(() => this.#leaving.delete(run))
    }
    const nowMs = this.#timing.monotonicMs()
    for (const number of this.#shards.held()) {
      const isDue = nowMs >= (this.#notBeforeMs.get(number) ?? 0)
      if (this.#held.has(number) || this.#starting.has(number) || !isDue) continue
      this.#starting.add(number)
      void this.#start(number)
        .catch(error => this.#fail(error))
        .finally(() => this.#starting.delete(number))
    }
  }

  async #start(number: number): Promise<void> {
    const leaseId = this.#shards.leaseIdOf(number)
    if (leaseId === undefined) return
    const name = this.#shards.nameOf(number)
    try {
      const stored = await this.#store.read(name, this.#signal)
      const checkpoint = stored === undefined ? NO_CHECKPOINT : parseCheckpoint(name, textOf(stored.body))
      const log = partitionLog(this.#store, this.#options.inbox, number)
      // What is put up to there would never be drained.
      const loss = await lossOf(log, checkpoint, await log.extent(this.#signal, checkpoint), this.#signal)
      if (loss !== undefined) throw damaged(name, loss)
      if (this.#signal.aborted || this.#shards.leaseIdOf(number) !== leaseId) return
      const isHeld = () => this.#shards.leaseIdOf(number) === leaseId
      const drain = new PartitionDrain(this.#shared, number, { name, leaseId, isHeld }, checkpoint)
      this.#held.set(number, { drain, run: drain.run() })
    } catch (error) {
      if (this.#signal.aborted) return
      if (!(error instanceof StoreUnreachable)) throw error
      this.#trouble('reading', error)
      this.#notBeforeMs.set(number, this.#timing.monotonicMs() + READ_AGAIN_MS)
    }
  }

  /** Ends the run when everything that is there now is drained. */
  async #endOnceDrained(): Promise<void> {
    const left = new Map<number, LogPosition>()
    await this.#shards.ready
    try {
      for (const number of this.#own()) {
        const extent = await this.#patiently(() => partitionLog(this.#store, this.#options.inbox, number).extent())
        if (extent !== undefined) left.set(number, extent.end)
      }
      while (left.size > 0 && !this.#signal.aborted) {
        for (const [number, end] of left) if (await this.#isDrainedTo(number, end)) left.delete(number)
        const others = [...left.keys()].every(number => this.#shards.leaseIdOf(number) === undefined)
        if (left.size > 0) await this.#timing.pause(others ? OTHERS_MS : TICK_MS, this.#signal)
      }
    } catch (error) {
      if (!this.#signal.aborted) this.#fail(error)
    }
    this.#ended.abort()
  }

  async #isDrainedTo(number: number, end: LogPosition): Promise<boolean> {
    const held = this.#held.get(number)
    // Dead letters that were retried may wait for it.
    if (held === undefined && this.#shards.leaseIdOf(number) !== undefined) return false
    if (held?.drain.isGoingOn) return false
    if (held !== undefined) return (await held.drain.catchUp()) || comparePositions(held.drain.written, end) >= 0
    const checkpoint = await this.#patiently(() => readCheckpoint(this.#store, this.#options.inbox, number))
    return checkpoint !== undefined && comparePositions(checkpoint, end) >= 0
  }

  /** The partitions of this drain's part. */
  #own(): number[] {
    const { inbox, part = { index: 0, count: 1 } } = this.#options
    const all = Array.from({ length: inbox.partitions }, (_, number) => number)
    return all.filter(number => number % part.count === part.index)
  }

  async #patiently<Result>(read: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        const result = await read()
        this.#trouble('reading', undefined)
        return result
      } catch (error) {
        if (!(error instanceof StoreUnreachable) || this.#signal.aborted) throw error
        this.#trouble('reading', error)
        await this.#timing.pause(READ_AGAIN_MS, this.#signal)
      }
    }
  }

  #trimIfDue(): void {
    const nowMs = this.#timing.monotonicMs()
    if (this.#options.keepMs === undefined || nowMs < this.#nextTrimMs) return
    this.#nextTrimMs = nowMs + TRIM_EVERY_MS
    this.#trimming ??= this.#trim()
      .catch(error => this.#fail(error))
      .finally(() => {
        this.#trimming = undefined
      })
  }

  async #trimLast(): Promise<void> {
    await this.#trimming
    if (this.#options.keepMs !== undefined && this.#options.once) await this.#trim(this.#own())
  }

  /** Of the partitions of this drain; the last time, of all of its part. */
  async #trim(numbers: Iterable<number> = this.#held.keys()): Promise<void> {
    const { inbox, keepMs = 0 } = this.#options
    const beforeMs = this.#store.nowMs() - keepMs
    for (const number of numbers) {
      try {
        const drained = this.#held.get(number)?.drain.written ?? (await readCheckpoint(this.#store, inbox, number))
        const start = this.#trimmed.get(number) ?? LOG_START
        const log = partitionLog(this.#store, inbox, number)
        if (drained !== undefined) this.#trimmed.set(number, await trimDrained(log, { start, drained, beforeMs }))
        this.#trouble('trimming', undefined)
      } catch (error) {
        if (!isPassing(error)) throw error
        this.#trouble('trimming', error)
      }
    }
  }

  #report(event: DrainEvent): void {
    if (event.kind === 'dead') this.#counts.dead += 1
    else if (event.kind === 'done' && event.outcome === 'duplicate') this.#counts.duplicates += 1
    else if (event.kind === 'done') this.#counts.done += 1
    this.#options.observe?.(event)
  }

  /** A store without room is still read, so that each activity recovers by itself; a write shows that all works. Told once. */
  #trouble(of: DrainActivity, error: unknown): void {
    const before = this.#troubled.size
    if (error !== undefined) this.#troubled.add(of)
    else if (of === 'writing') this.#troubled.clear()
    else this.#troubled.delete(of)
    if ((before === 0) === (this.#troubled.size === 0)) return
    this.#report(before === 0 ? { kind: 'interrupted', error } : { kind: 'resumed' })
  }

  #fail(error: unknown): void {
    this.#fault ??= { error }
    this.#ended.abort()
  }
}

function textOf(body: Uint8Array): string {
  return new TextDecoder().decode(body)
}
