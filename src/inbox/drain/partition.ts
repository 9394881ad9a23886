import { comparePositions, type LogPosition } from '../../store/block-log.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { InvalidValue } from '../../stream/errors.ts'
import type { Timing } from '../../util/clock.ts'
import type { Checkpoint } from '../checkpoint.ts'
import { type Inbox, partitionLog } from '../inbox.ts'
import { type ReadRecord, readRecord } from '../record.ts'
import { BEHIND, BlockedKeys, mayGoOn } from './blocked-keys.ts'
import { CheckpointWriter, isPassing, type PartitionLease } from './checkpoint-writer.ts'
import { type DeadLetter, deadLetter, writeDeadLetter, writeDrained } from './dead-letters.ts'
import type { ConcurrencyLimit, RateLimit } from './limits.ts'
import type { PartitionLine } from './line.ts'
import { PartitionReader } from './reader.ts'
import { type HeldLine, RecordWindow } from './record-window.ts'
import type { DrainEvent } from './types.ts'
import { type DrainWork, type RecordOutcome, recordCommandId } from './work.ts'

/** What a fault of the store can interrupt. */
export type DrainActivity = 'reading' | 'writing' | 'sharing' | 'trimming'

/** What the partitions of one drain share. */
export interface DrainShared {
  readonly store: StreamStore
  readonly inbox: Inbox
  readonly work: DrainWork
  readonly by: string
  readonly limit: ConcurrencyLimit
  readonly rate: RateLimit | undefined
  /** The later records of a key wait behind a dead letter. */
  readonly strictOrder: boolean
  /** A checkpoint is written after so many records. */
  readonly checkpointEvery: number
  /** A checkpoint is written at the latest after this time, ms. */
  readonly checkpointIntervalMs: number
  /** Bytes of records in hand, at most, of one partition. */
  readonly windowBytes: number
  readonly timing: Timing
  readonly report: (event: DrainEvent) => void
  /** The store does not answer or has no room, or this works again (`undefined`). */
  readonly trouble: (of: DrainActivity, error: unknown) => void
  /** Ends the drain with a fault. */
  readonly fail: (error: unknown) => void
}

/** Pauses between reads without new records, ms: doubled from the first to the last. */
const POLL = { firstMs: 25, mostMs: 1_000 } as const
/** Pauses before a record is tried again, ms. */
const AGAIN = { firstMs: 100, mostMs: 5_000 } as const
/** A stream that is leased for so long makes its record a dead letter, ms. */
const GIVES_UP_MS = 5 * 60_000

type DeadOutcome = Extract<RecordOutcome, { kind: 'dead' }>
type DoneOutcome = Exclude<RecordOutcome, { kind: 'dead' | 'again' }>
type FinalOutcome = DeadOutcome | DoneOutcome

const BEHIND_ANOTHER: DeadOutcome = { kind: 'dead', code: BEHIND, why: 'it waits behind a dead letter of its key' }

/**
 * Drains one partition: reads ahead, works on records of different keys side by side and on those of one key in their order,
 * and writes how far all is done.
 */
export class PartitionDrain {
  readonly number: number
  readonly #shared: DrainShared
  readonly #lease: PartitionLease
  readonly #reader: PartitionReader
  readonly #signal: AbortSignal
  readonly #keys = new Map<string, Promise<void>>()
  readonly #blocked: BlockedKeys
  /** Keys whose dead letters are being drained, and one more until they are known. */
  #goingOn = 1
  readonly #stopping = new AbortController()
  readonly #window: RecordWindow
  readonly #progress: CheckpointWriter
  #isLost = false
  #isCaughtUp = false
  #room = Promise.withResolvers<void>()

  constructor(shared: DrainShared, number: number, lease: PartitionLease, checkpoint: Checkpoint) {
    this.#shared = shared
    this.number = number
    this.#lease = lease
    const log = partitionLog(shared.store, shared.inbox, number)
    this.#reader = new PartitionReader(log, lease.name, checkpoint, shared.timing)
    this.#signal = this.#stopping.signal
    this.#blocked = new BlockedKeys(shared.store, shared.inbox, number, this.#signal)
    this.#window = new RecordWindow(shared.windowBytes)
    this.#progress = new CheckpointWriter(shared, number, lease, checkpoint)
  }

  get leaseId(): string {
    return this.#lease.leaseId
  }

  /** Below it all is done, and that is written. */
  get written(): LogPosition {
    return this.#progress.written
  }

  /** Whether dead letters that were retried are being drained. */
  get isGoingOn(): boolean {
    return this.#goingOn > 0
  }

  /** Whether all that was there when it was last read is done and written. What is done is written now if it is all. */
  async catchUp(): Promise<boolean> {
    if (!this.#isCaughtUp || !this.#window.isEmpty) return false
    await this.#write()
    return comparePositions(this.written, this.#reader.position) >= 0
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
      await this.#loadBlocked()
      await Promise.all([this.#keepReading(), this.#keepWriting()])
      await Promise.all(this.#keys.values())
      await this.#progress.idle()
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
      const lines = await this.#reader.next(this.#signal)
      this.#shared.trouble('reading', undefined)
      this.#isCaughtUp = lines.length === 0
      for (const line of lines) this.#take(line)
      return lines.length
    } catch (error) {
      if (this.#signal.aborted) return 0
      if (!(error instanceof StoreUnreachable)) throw error
      this.#shared.trouble('reading', error)
      return 0
    }
  }

  async #waitForRoom(): Promise<void> {
    while (this.#isActive && this.#window.isFull) {
      this.#room = Promise.withResolvers()
      await this.#room.promise
    }
  }

  /** A copy in the second region waits, so that the first can be the first. It holds up its key alone. */
  async #untilDue(entry: HeldLine, notBefore: string | undefined): Promise<void> {
    const { timing, store } = this.#shared
    const earlyMs = notBefore === undefined ? 0 : Date.parse(notBefore) - store.nowMs()
    if (earlyMs > 0) await timing.pause(earlyMs, this.#signal)
    this.#window.due(entry)
  }

  async #loadBlocked(): Promise<void> {
    await this.#patiently('reading', async () => this.#goOnWith(await this.#blocked.load()))
    this.#goingOn -= 1
  }

  #take(line: PartitionLine): void {
    const read = recordOrFault(line.text)
    const notBefore = read instanceof InvalidValue ? undefined : read.record.notBefore
    const waits = notBefore !== undefined && Date.parse(notBefore) > this.#shared.store.nowMs()
    const entry = this.#window.add(line, waits)
    const key = read instanceof InvalidValue ? '' : read.record.key
    this.#inTurn(key, () =>
      read instanceof InvalidValue ? this.#bury(entry, deadLine(read)) : this.#handle(entry, read),
    )
  }

  /** Does something after all that was begun of the key. */
  #inTurn(key: string, handle: () => Promise<void>): void {
    const before = this.#keys.get(key)
    const handled = (before === undefined ? handle() : before.then(handle)).catch(this.#shared.fail)
    this.#keys.set(key, handled)
    void handled.then(() => {
      if (this.#keys.get(key) === handled) this.#keys.delete(key)
    })
  }

  async #handle(entry: HeldLine, read: ReadRecord): Promise<void> {
    await this.#untilDue(entry, read.record.notBefore)
    if (this.#blocked.has(read.record.key)) return this.#bury(entry, BEHIND_ANOTHER, read)
    const outcome = await this.#work(read)
    if (outcome?.kind === 'dead') await this.#bury(entry, outcome, read)
    else if (outcome !== undefined) this.#done(outcome, read, entry)
  }

  /** `undefined` if the drain ended before. */
  async #work(read: ReadRecord): Promise<FinalOutcome | undefined> {
    const { inbox, timing, rate } = this.#shared
    const { id } = read.record
    const commandId = recordCommandId(inbox.name, id)
    const sinceMs = timing.monotonicMs()
    for (let pauseMs: number = AGAIN.firstMs; this.#isActive; pauseMs = Math.min(2 * pauseMs, AGAIN.mostMs)) {
      await rate?.turn(this.#signal)
      const outcome = await this.#attempt(read, commandId)
      if (outcome?.kind !== 'again') return outcome
      const { code, why } = outcome
      const isOver = !outcome.isOverload && timing.monotonicMs() - sinceMs >= GIVES_UP_MS
      if (isOver) return { kind: 'dead', code, why }
      this.#shared.report({ kind: 'again', partition: this.number, id, code, why })
      await timing.pause(pauseMs * (0.5 + timing.random() / 2), this.#signal)
    }
    return undefined
  }

  /** Drains the dead letters of these keys, each after what was begun of its key. */
  #goOnWith(keys: readonly string[]): void {
    for (const key of keys) {
      this.#goingOn += 1
      this.#inTurn(key, () =>
        this.#patiently('writing', () => this.#goOn(key)).finally(() => {
          this.#goingOn -= 1
        }),
      )
    }
  }

  /** Does what waits in a key, in order, up to a dead letter that blocks it. */
  async #goOn(key: string): Promise<void> {
    const { store, inbox, by } = this.#shared
    for (const letter of await this.#blocked.lettersOf(key)) {
      if (!mayGoOn(letter)) return
      const read = recordOrFault(letter.line)
      const outcome = read instanceof InvalidValue ? deadLine(read) : await this.#work(read)
      if (outcome === undefined || !this.#isActive) return
      if (outcome.kind === 'dead') return this.#keep(this.#letter(letter.line, outcome, letter))
      await writeDrained(store, inbox, letter, by)
      if (!(read instanceof InvalidValue)) this.#done(outcome, read)
    }
    this.#blocked.remove(key)
  }

  /** Repeats something while the store does not answer, until the drain of the partition ends. */
  async #patiently(activity: DrainActivity, act: () => Promise<void>): Promise<void> {
    const { timing, trouble } = this.#shared
    for (let pauseMs: number = AGAIN.firstMs; this.#isActive; pauseMs = Math.min(2 * pauseMs, AGAIN.mostMs)) {
      try {
        await act()
        return trouble(activity, undefined)
      } catch (error) {
        if (this.#signal.aborted) return
        if (!isPassing(error)) throw error
        trouble(activity, error)
        await timing.pause(pauseMs, this.#signal)
      }
    }
  }

  /** `undefined` if the drain ended before its turn. */
  async #attempt(read: ReadRecord, commandId: string): Promise<RecordOutcome | undefined> {
    const { limit, timing, work } = this.#shared
    await limit.enter()
    const startedMs = timing.monotonicMs()
    let ended: 'done' | 'again' | 'overload' = 'done'
    try {
      if (!this.#isActive) return undefined
      const outcome = await work.apply(read, commandId)
      if (outcome.kind === 'again') ended = outcome.isOverload ? 'overload' : 'again'
      return outcome
    } finally {
      limit.leave(startedMs, ended)
    }
  }

  async #bury(entry: HeldLine, outcome: DeadOutcome, read?: ReadRecord): Promise<void> {
    const letter = this.#letter(entry.line.text, outcome, read?.record)
    if (!this.#blocked.isKept(letter)) await this.#patiently('writing', () => this.#keep(letter))
    if (!this.#isActive) return
    entry.isDead = true
    this.#settle(entry)
  }

  #letter(
    line: string,
    { code, why, stream = '' }: DeadOutcome,
    { id, key }: Pick<DeadLetter, 'id' | 'key'> = { id: '', key: '' },
  ): DeadLetter {
    const { store, by, strictOrder } = this.#shared
    const blocks = key !== '' && (strictOrder || this.#blocked.has(key))
    return deadLetter(line, {
      ...{ partition: this.number, id, key, stream, code, why, by, blocks },
      atMs: store.nowMs(),
    })
  }

  async #keep(letter: DeadLetter): Promise<void> {
    const { store, inbox, report } = this.#shared
    await writeDeadLetter(store, inbox, letter)
    if (letter.blocks) this.#blocked.add(letter)
    report({ kind: 'dead', letter })
  }

  #done({ kind, stream }: DoneOutcome, { record: { id, key } }: ReadRecord, entry?: HeldLine): void {
    this.#shared.report({ kind: 'done', outcome: kind, partition: this.number, id, key, stream })
    if (entry !== undefined) this.#settle(entry)
  }

  /** Moves the checkpoint over all entries at the beginning that are done. */
  #settle(entry: HeldLine): void {
    entry.isDone = true
    for (const { line, isDead } of this.#window.takeDone()) this.#progress.pass(line, isDead)
    if (this.#progress.unwritten >= this.#shared.checkpointEvery) void this.#write().catch(this.#shared.fail)
    this.#room.resolve()
  }

  async #keepWriting(): Promise<void> {
    const { timing, checkpointIntervalMs } = this.#shared
    while (!this.#signal.aborted && !this.#isLost) {
      await timing.pause(checkpointIntervalMs, this.#signal)
      if (!this.#lease.isHeld()) return this.lose()
      await this.#write()
      await this.#lookAtBlocked()
    }
  }

  async #write(): Promise<void> {
    if (this.#isLost || !this.#lease.isHeld()) return
    if ((await this.#progress.write()) === 'lost') this.lose()
  }

  /** Goes on with keys whose dead letter was retried or dropped. */
  async #lookAtBlocked(): Promise<void> {
    try {
      this.#goOnWith(await this.#blocked.freed())
    } catch (error) {
      if (this.#signal.aborted) return
      if (!isPassing(error)) throw error
      this.#shared.trouble('reading', error)
    }
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

function deadLine({ code, message }: InvalidValue): DeadOutcome {
  return { kind: 'dead', code, why: message }
}
