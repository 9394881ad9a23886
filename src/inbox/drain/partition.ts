import { systemSummary } from '../../ops/system-documents.ts'
import { thisHost } from '../../ops/transact/transact.ts'
import { type BlockLog, comparePositions, type LogPosition } from '../../store/block-log.ts'
import { StoreClosed, StoreFull, StoreUnreachable } from '../../store/errors.ts'
import type { ChangeOutcome, StreamStore } from '../../store/store.ts'
import { InvalidValue } from '../../stream/errors.ts'
import type { Timing } from '../../util/clock.ts'
import { RateMeter } from '../../util/rate-meter.ts'
import { type Checkpoint, checkpointText } from '../checkpoint.ts'
import { type Inbox, partitionLog } from '../inbox.ts'
import { DeadLettersUnknown, deadLetter, writeDeadLetter } from './dead-letters.ts'
import type { ConcurrencyLimit, RateLimit } from './limits.ts'
import { linesIn, type PartitionLine, type ReadRecord, readRecord } from './line.ts'
import type { DrainEvent } from './types.ts'
import { type DrainWork, type RecordOutcome, recordCommandId } from './work.ts'

/** What the partitions of one drain share. */
export interface DrainShared {
  readonly store: StreamStore
  readonly inbox: Inbox
  readonly work: DrainWork
  readonly by: string
  readonly limit: ConcurrencyLimit
  readonly rate: RateLimit | undefined
  /** A checkpoint is written after so many records. */
  readonly checkpointEvery: number
  /** A checkpoint is written at the latest after this time, ms. */
  readonly checkpointIntervalMs: number
  /** Bytes of records in hand, at most, of one partition. */
  readonly windowBytes: number
  readonly timing: Timing
  readonly report: (event: DrainEvent) => void
  /** The store does not answer, or answers again (`undefined`). */
  readonly trouble: (error: unknown) => void
  /** Ends the drain with a fault. */
  readonly fail: (error: unknown) => void
}

/** The lease under which the partition is drained. */
export interface PartitionLease {
  /** The document of the checkpoint. */
  readonly name: string
  readonly leaseId: string
  /** False once another drain may have it. */
  readonly isHeld: () => boolean
}

/** Bytes of one read. */
const READ_BYTES = 128 * 1024
/** Records in hand, at most, of one partition. */
const MOST_RECORDS = 10_000
/** Pauses between reads without new records, ms: doubled from the first to the last. */
const POLL = { firstMs: 25, mostMs: 1_000 } as const
/** Pauses before a record is tried again, ms. */
const AGAIN = { firstMs: 100, mostMs: 5_000 } as const
/** A stream that is leased for so long makes its record a dead letter, ms. */
const GIVES_UP_MS = 5 * 60_000

/** A line in hand. */
interface Entry {
  readonly line: PartitionLine
  isDone: boolean
  isDead: boolean
}

/**
 * Drains one partition: reads ahead, works on records of different keys side by side and on those of one key in their order,
 * and writes how far all is done.
 */
export class PartitionDrain {
  readonly number: number
  readonly #shared: DrainShared
  readonly #lease: PartitionLease
  readonly #log: BlockLog
  readonly #signal: AbortSignal
  readonly #keys = new Map<string, Promise<void>>()
  readonly #stopping = new AbortController()
  #entries: Entry[] = []
  /** Entries before this one are done and counted. */
  #first = 0
  #bytes = 0
  #checkpoint: Checkpoint
  /** Done since the last line whose position is known. */
  #sinceKnown = { records: 0, dead: 0 }
  #read: LogPosition
  #written: LogPosition
  #unwritten = 0
  #writing: Promise<void> | undefined
  #isLost = false
  #isCaughtUp = false
  readonly #rate = new RateMeter()
  #room = Promise.withResolvers<void>()

  constructor(shared: DrainShared, number: number, lease: PartitionLease, checkpoint: Checkpoint) {
    this.#shared = shared
    this.number = number
    this.#lease = lease
    this.#log = partitionLog(shared.store, shared.inbox, number)
    this.#checkpoint = checkpoint
    this.#read = checkpoint
    this.#written = checkpoint
    this.#signal = this.#stopping.signal
  }

  get leaseId(): string {
    return this.#lease.leaseId
  }

  /** Below it all is done, and that is written. */
  get written(): LogPosition {
    return this.#written
  }

  /** All that was there when it was last read is done and written. */
  get isCaughtUp(): boolean {
    return this.#isCaughtUp && this.#inHand === 0 && comparePositions(this.#written, this.#read) >= 0
  }

  get #inHand(): number {
    return this.#entries.length - this.#first
  }

  /** The lease is lost: nothing more is begun or written. */
  lose(): void {
    this.#isLost = true
    this.#end()
  }

  /** Ends after what is being worked on, with its checkpoint written. */
  stop(): void {
    this.#end()
  }

  #end(): void {
    this.#stopping.abort()
    this.#room.resolve()
  }

  /** Runs until `lose` or `stop`; faults go to `fail`. */
  async run(): Promise<void> {
    try {
      await Promise.all([this.#keepReading(), this.#keepWriting()])
      await Promise.all(this.#keys.values())
      await this.#writing
      await this.#write()
    } catch (error) {
      this.#shared.fail(error)
    }
  }

  get #isActive(): boolean {
    return !this.#isLost && !this.#signal.aborted && this.#lease.isHeld()
  }

  async #keepReading(): Promise<void> {
    let pauseMs: number = POLL.firstMs
    while (this.#isActive) {
      const lines = await this.#readMore()
      if (lines > 0) {
        pauseMs = POLL.firstMs
        await this.#waitForRoom()
      } else {
        await this.#shared.timing.pause(pauseMs, this.#signal)
        pauseMs = Math.min(2 * pauseMs, POLL.mostMs)
      }
    }
  }

  /** @returns the number of lines; 0 also if the store does not answer */
  async #readMore(): Promise<number> {
    try {
      const from = this.#read
      const chunk = await this.#log.read(from, READ_BYTES)
      this.#shared.trouble(undefined)
      const lines = linesIn(chunk, from)
      if (lines.length > 0) this.#read = chunk.next
      this.#isCaughtUp = lines.length === 0
      for (const line of lines) this.#take(line)
      return lines.length
    } catch (error) {
      if (!(error instanceof StoreUnreachable) || error instanceof StoreClosed) throw error
      this.#shared.trouble(error)
      return 0
    }
  }

  async #waitForRoom(): Promise<void> {
    while (this.#isActive && (this.#inHand >= MOST_RECORDS || this.#bytes >= this.#shared.windowBytes)) {
      this.#room = Promise.withResolvers()
      await this.#room.promise
    }
  }

  #take(line: PartitionLine): void {
    const entry: Entry = { line, isDone: false, isDead: false }
    this.#entries.push(entry)
    this.#bytes += line.bytes
    const read = recordOrFault(line.text)
    const key = read instanceof InvalidValue ? '' : read.record.key
    const before = this.#keys.get(key)
    const handle = () => (read instanceof InvalidValue ? this.#bury(entry, deadLine(read)) : this.#handle(entry, read))
    const handled = (before === undefined ? handle() : before.then(handle)).catch(this.#shared.fail)
    this.#keys.set(key, handled)
    void handled.then(() => {
      if (this.#keys.get(key) === handled) this.#keys.delete(key)
    })
  }

  async #handle(entry: Entry, read: ReadRecord): Promise<void> {
    const { inbox, timing, store, rate } = this.#shared
    const { id, notBefore } = read.record
    const earlyMs = notBefore === undefined ? 0 : Date.parse(notBefore) - store.nowMs()
    if (earlyMs > 0) await timing.pause(earlyMs, this.#signal)
    const commandId = recordCommandId(inbox.name, id)
    const sinceMs = timing.monotonicMs()
    for (let pauseMs: number = AGAIN.firstMs; this.#isActive; pauseMs = Math.min(2 * pauseMs, AGAIN.mostMs)) {
      await rate?.turn(this.#signal)
      const outcome = await this.#attempt(read, commandId)
      if (outcome === undefined) return
      if (outcome.kind === 'dead') return this.#bury(entry, outcome, read)
      if (outcome.kind !== 'again') return this.#done(entry, outcome, read)
      const { code, why } = outcome
      const isOver = !outcome.isOverload && timing.monotonicMs() - sinceMs >= GIVES_UP_MS
      if (isOver) return this.#bury(entry, { kind: 'dead', code, why }, read)
      this.#shared.report({ kind: 'again', partition: this.number, id, code, why })
      await timing.pause(pauseMs * (0.5 + timing.random() / 2), this.#signal)
    }
  }

  /** `undefined` if the drain ended before its turn. */
  async #attempt(read: ReadRecord, commandId: string): Promise<RecordOutcome | undefined> {
    const { limit, timing, work } = this.#shared
    await limit.enter()
    const startedMs = timing.monotonicMs()
    let isOverload = false
    try {
      if (!this.#isActive) return undefined
      const outcome = await work.apply(read, commandId)
      isOverload = outcome.kind === 'again' && outcome.isOverload
      return outcome
    } finally {
      limit.leave(startedMs, isOverload)
    }
  }

  async #bury(
    entry: Entry,
    { code, why, stream = '' }: Extract<RecordOutcome, { kind: 'dead' }>,
    read?: ReadRecord,
  ): Promise<void> {
    const { store, inbox, by, timing, trouble, report } = this.#shared
    const { id = '', key = '' } = read?.record ?? {}
    const fields = { partition: this.number, id, key, stream, code, why, by, atMs: store.nowMs() }
    const letter = deadLetter(entry.line.text, fields)
    for (let pauseMs: number = AGAIN.firstMs; this.#isActive; pauseMs = Math.min(2 * pauseMs, AGAIN.mostMs)) {
      try {
        await writeDeadLetter(store, inbox, letter)
        entry.isDead = true
        report({ kind: 'dead', letter })
        this.#settle(entry)
        return
      } catch (error) {
        if (!isPassing(error)) throw error
        trouble(error)
        await timing.pause(pauseMs, this.#signal)
      }
    }
  }

  #done(
    entry: Entry,
    { kind, stream }: Extract<RecordOutcome, { kind: 'created' | 'appended' | 'duplicate' }>,
    { record: { id, key } }: ReadRecord,
  ): void {
    this.#shared.report({ kind: 'done', outcome: kind, partition: this.number, id, key, stream })
    this.#settle(entry)
  }

  /** Moves the checkpoint over all entries at the beginning that are done. */
  #settle(entry: Entry): void {
    entry.isDone = true
    for (let next = this.#entries[this.#first]; next?.isDone; next = this.#entries[this.#first]) {
      const { line, isDead } = next
      this.#first += 1
      this.#bytes -= line.bytes
      this.#unwritten += 1
      this.#rate.count(this.#shared.timing.monotonicMs())
      const { records, dead } = this.#sinceKnown
      this.#sinceKnown = { records: records + 1, dead: dead + (isDead ? 1 : 0) }
      if (line.end !== undefined) this.#moveTo(line.end)
    }
    if (this.#first > 1_000) {
      this.#entries = this.#entries.slice(this.#first)
      this.#first = 0
    }
    if (this.#unwritten >= this.#shared.checkpointEvery) void this.#write().catch(this.#shared.fail)
    this.#room.resolve()
  }

  #moveTo({ segment, offset }: LogPosition): void {
    const { records, dead } = this.#checkpoint
    const since = this.#sinceKnown
    this.#checkpoint = {
      ...this.#checkpoint,
      segment,
      offset,
      records: records + since.records,
      dead: dead + since.dead,
    }
    this.#sinceKnown = { records: 0, dead: 0 }
  }

  async #keepWriting(): Promise<void> {
    const { timing, checkpointIntervalMs } = this.#shared
    while (!this.#signal.aborted && !this.#isLost) {
      await timing.pause(checkpointIntervalMs, this.#signal)
      if (!this.#lease.isHeld()) return this.lose()
      await this.#write()
    }
  }

  async #write(): Promise<void> {
    this.#writing ??= this.#writeOnce().finally(() => {
      this.#writing = undefined
    })
    await this.#writing
  }

  async #writeOnce(): Promise<void> {
    const { store, by, inbox, timing, trouble } = this.#shared
    if (this.#isLost || !this.#lease.isHeld()) return
    if (comparePositions(this.#checkpoint, this.#written) <= 0) return
    const rate = Math.round(this.#rate.perSecond(timing.monotonicMs()) * 100) / 100
    const checkpoint = { ...this.#checkpoint, rate, by, host: thisHost(), atMs: store.nowMs() }
    this.#unwritten = 0
    const body = Buffer.from(checkpointText(checkpoint))
    const purpose = `drain of the inbox ${inbox.name}, partition ${this.number}`
    const holder = { by, host: thisHost(), pid: process.pid, purpose, sinceMs: store.nowMs() }
    const { name, leaseId } = this.#lease
    try {
      // Called again after a lost answer, it writes the same once more.
      const outcome = await store.update(name, () => ({ kind: 'put', body, summary: systemSummary(store, by) }), {
        ...{ leaseId, holder, waitMs: 0, deadlineMs: 5_000 },
      })
      this.#wrote(outcome, checkpoint)
    } catch (error) {
      if (!isPassing(error)) throw error
      trouble(error)
    }
  }

  #wrote({ kind }: ChangeOutcome, checkpoint: Checkpoint): void {
    if (kind === 'committed' || kind === 'left') this.#written = checkpoint
    // Another drain goes on from what was written before.
    else if (kind !== 'unknown') this.lose()
  }
}

function recordOrFault(line: string): ReadRecord | InvalidValue {
  try {
    return readRecord(line)
  } catch (error) {
    if (error instanceof InvalidValue) return error
    throw error
  }
}

function deadLine({ code, message }: InvalidValue): Extract<RecordOutcome, { kind: 'dead' }> {
  return { kind: 'dead', code, why: message }
}

function isPassing(error: unknown): boolean {
  if (error instanceof StoreClosed) return false
  return error instanceof StoreUnreachable || error instanceof StoreFull || error instanceof DeadLettersUnknown
}
