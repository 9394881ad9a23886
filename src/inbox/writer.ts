import { type AppendOutcome, type BlockLog, MAX_BLOCK_BYTES } from '../store/block-log.ts'
import type { StreamStore } from '../store/store.ts'
import { LeasectlError } from '../stream/errors.ts'
import { machineTiming, type Timing } from '../util/clock.ts'
import { type Inbox, partitionLog, partitionOf } from './inbox.ts'
import { type NewRecord, RECORD_END, recordHead } from './record.ts'

export interface InboxWriterOptions {
  /** How long a record waits for others to share its block, ms. Default 5. */
  readonly lingerMs?: number
  /** A block is appended at once when it has this size, bytes. Default 1 MiB. */
  readonly blockBytes?: number
  /** Records that may wait, bytes of all; `room` waits while there are more. Default 16 MiB. */
  readonly mostBytes?: number
  /** Copies for a second region: not to be drained before so many ms have passed. */
  readonly notBeforeMs?: number
  /**
   * Called when a block was not appended, or not answered: whether to send it again, once the promise resolves. Blocks
   * behind it wait, so their order stays. Without it records fail with their block.
   */
  readonly again?: (fault: unknown) => Promise<boolean>
  readonly timing?: Timing
  readonly signal?: AbortSignal
}

/** Puts records into an inbox, or into those of two regions. */
export interface RecordWriter<Answer = unknown> {
  /** Whether no more records should be put for now. */
  readonly isFull: boolean
  /** Waits while too much waits. */
  room(): Promise<void>
  /** Resolves once the record is durable. */
  put(record: NewRecord): Promise<Answer>
}

/** The store did not say whether records were put: put them again, under the same ids. */
export class PutUnknown extends LeasectlError {
  readonly code = 'unknown'
}

const LINGER_MS = 5
const BLOCK_BYTES = 1024 * 1024
export const MOST_BYTES = 16 * 1024 * 1024
/** Attempts of a block that is not answered. */
const ATTEMPTS = 3

/**
 * Puts records: those that come within a few milliseconds share a block of their partition, and a partition has one
 * append in flight, so the records of a key stay in order. If a block fails, the records behind it in its partition fail
 * with it: whoever puts them again, in order, keeps the order.
 */
export class InboxWriter implements RecordWriter<void> {
  readonly #store: StreamStore
  readonly #inbox: Inbox
  readonly #options: InboxWriterOptions
  readonly #mostBytes: number
  readonly #partitions = new Map<number, PartitionWriter>()
  readonly #linger: Linger
  #bytes = 0
  #roomFree: PromiseWithResolvers<void> | undefined

  constructor(store: StreamStore, inbox: Inbox, options: InboxWriterOptions = {}) {
    this.#store = store
    this.#inbox = inbox
    this.#options = options
    this.#mostBytes = options.mostBytes ?? MOST_BYTES
    this.#linger = new Linger(options)
  }

  /** Bytes that wait or are being written. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether no more records should be put for now. */
  get isFull(): boolean {
    return this.#bytes >= this.#mostBytes
  }

  /** Waits while too much waits. */
  async room(): Promise<void> {
    while (this.isFull) {
      this.#roomFree ??= Promise.withResolvers()
      await this.#roomFree.promise
    }
  }

  /**
   * Resolves once the record is durable: with its block.
   * @throws the store's faults; `PutUnknown`
   */
  put(record: NewRecord): Promise<void> {
    const { notBeforeMs } = this.#options
    const nowMs = this.#store.nowMs()
    const head = recordHead(record, nowMs, notBeforeMs === undefined ? undefined : nowMs + notBeforeMs)
    const number = partitionOf(record.key ?? record.id, this.#inbox)
    const partition = this.#partitions.get(number) ?? this.#open(number)
    const size = Buffer.byteLength(head) + (record.bytes ?? Buffer.byteLength(record.json)) + RECORD_END.length
    this.#bytes += size
    return partition.add(head, record, size)
  }

  #open(number: number): PartitionWriter {
    const log = partitionLog(this.#store, this.#inbox, number)
    const partition = new PartitionWriter(log, this.#linger, bytes => this.#settled(bytes), this.#options)
    this.#partitions.set(number, partition)
    return partition
  }

  #settled(bytes: number): void {
    this.#bytes -= bytes
    if (this.isFull) return
    this.#roomFree?.resolve()
    this.#roomFree = undefined
  }
}

/** The smallest buffer of a block, bytes. */
const FIRST_BYTES = 16 * 1024

/** Lines that are appended together. Each is encoded once, into the bytes that the store takes. */
class Block {
  readonly done = Promise.withResolvers<void>()
  /** When its first line came, on the monotonic clock. */
  readonly sinceMs: number
  readonly #mostBytes: number
  #buffer: Buffer
  #bytes = 0

  /** @param size of its first line, or of the whole block if that can be foreseen, bytes */
  constructor(size: number, mostBytes: number, sinceMs: number) {
    this.sinceMs = sinceMs
    this.#mostBytes = mostBytes
    this.#buffer = Buffer.allocUnsafe(Math.max(size, Math.min(FIRST_BYTES, mostBytes)))
  }

  get bytes(): number {
    return this.#bytes
  }

  get lines(): Uint8Array {
    return this.#buffer.subarray(0, this.#bytes)
  }

  /** @param size of the whole line, bytes; the caller keeps the sum within the limit */
  add(head: string, { json, utf8 }: NewRecord, size: number): void {
    this.#makeRoom(this.#bytes + size)
    this.#bytes += this.#buffer.write(head, this.#bytes)
    if (utf8 === undefined) this.#bytes += this.#buffer.write(json, this.#bytes)
    else {
      this.#buffer.set(utf8, this.#bytes)
      this.#bytes += utf8.length
    }
    this.#bytes += this.#buffer.write(RECORD_END, this.#bytes)
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(bytes, Math.min(2 * this.#buffer.length, this.#mostBytes)))
    larger.set(this.lines)
    this.#buffer = larger
  }
}

/** The wait for more records, which all partitions share: where a commit holds several blocks, they share that too. */
class Linger {
  readonly #timing: Timing
  readonly #signal: AbortSignal
  readonly #ms: number
  #present: Promise<void> | undefined

  constructor({ timing = machineTiming, lingerMs = LINGER_MS, signal }: InboxWriterOptions) {
    this.#timing = timing
    this.#ms = lingerMs
    this.#signal = signal ?? new AbortController().signal
  }

  get nowMs(): number {
    return this.#timing.monotonicMs()
  }

  /**
   * The end of the present wait, or of one that begins now; `undefined` for what has waited long enough, as behind an append.
   * @param sinceMs of the first record
   */
  wait(sinceMs: number): Promise<void> | undefined {
    if (this.nowMs - sinceMs >= this.#ms) return undefined
    this.#present ??= this.#timing.pause(this.#ms, this.#signal).then(() => {
      this.#present = undefined
    })
    return this.#present
  }
}

/** The blocks of one partition. */
class PartitionWriter {
  readonly #log: BlockLog
  readonly #linger: Linger
  readonly #blockBytes: number
  readonly #settled: (bytes: number) => void
  readonly #signal: AbortSignal
  readonly #again: (fault: unknown) => Promise<boolean>
  #blocks: Block[] = []
  #isWriting = false
  /** Of the last block: the next one will be about as large. */
  #lastBytes = 0
  /** Ends the wait for more records. */
  #full = Promise.withResolvers<void>()

  /** @param settled called with the bytes of a block that is durable, or has failed */
  constructor(
    log: BlockLog,
    linger: Linger,
    settled: (bytes: number) => void,
    { blockBytes = BLOCK_BYTES, signal, again }: InboxWriterOptions,
  ) {
    this.#log = log
    this.#linger = linger
    this.#settled = settled
    this.#blockBytes = Math.min(blockBytes, MAX_BLOCK_BYTES)
    this.#again = again ?? (async () => false)
    this.#signal = signal ?? new AbortController().signal
  }

  /** Resolves once the line is durable. */
  add(head: string, record: NewRecord, size: number): Promise<void> {
    let block = this.#blocks.at(-1)
    if (block === undefined || block.bytes + size > this.#blockBytes) {
      block = new Block(Math.max(size, this.#lastBytes), this.#blockBytes, this.#linger.nowMs)
      this.#blocks.push(block)
    }
    block.add(head, record, size)
    if (this.#blocks.length > 1 || block.bytes >= this.#blockBytes) this.#full.resolve()
    if (!this.#isWriting) void this.#writeAll()
    return block.done.promise
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    while (this.#blocks.length > 0) {
      await this.#gather()
      const block = this.#blocks.shift()
      if (block !== undefined) await this.#write(block)
    }
    this.#isWriting = false
  }

  /** Waits for more records, unless there is a whole block. */
  async #gather(): Promise<void> {
    const [block] = this.#blocks
    if (block === undefined || this.#blocks.length > 1) return
    this.#full = Promise.withResolvers()
    if (block.bytes >= this.#blockBytes) return
    const lingered = this.#linger.wait(block.sinceMs)
    if (lingered !== undefined) await Promise.race([lingered, this.#full.promise])
  }

  async #write(block: Block): Promise<void> {
    this.#lastBytes = block.bytes
    try {
      await this.#appendOrWait(block.lines)
      this.#settled(block.bytes)
      block.done.resolve()
    } catch (error) {
      const failed = [block, ...this.#blocks.splice(0)]
      // Whoever waits for room has to know of the failure before there is some.
      for (const { done } of failed) done.reject(error)
      for (const { bytes } of failed) this.#settled(bytes)
    }
  }

  async #appendOrWait(block: Uint8Array): Promise<void> {
    for (;;) {
      try {
        const outcome = await this.#append(block)
        if (outcome.kind === 'appended') return
        throw new PutUnknown('the store did not say whether the records were put', { cause: outcome.cause })
      } catch (error) {
        if (!(await this.#again(error))) throw error
      }
    }
  }

  /** A block that was not answered is sent again: its records may then be there twice, under the same ids. */
  async #append(block: Uint8Array): Promise<AppendOutcome> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#log.append(block, this.#signal)
      if (outcome.kind === 'appended' || attempt >= ATTEMPTS) return outcome
    }
  }
}
