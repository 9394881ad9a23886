import { type AppendOutcome, type BlockLog, MAX_BLOCK_BYTES } from '../store/block-log.ts'
import type { StreamStore } from '../store/store.ts'
import { LeasectlError } from '../stream/errors.ts'
import { machineTiming, type Timing } from '../util/clock.ts'
import { type Inbox, partitionLog, partitionOf } from './inbox.ts'
import { type NewRecord, recordLine } from './record.ts'

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
  #roomFree = Promise.withResolvers<void>()

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
    while (this.isFull) await this.#roomFree.promise
  }

  /**
   * Resolves once the record is durable.
   * @throws InvalidValue; the store's faults; `PutUnknown`
   */
  async put(record: NewRecord): Promise<void> {
    const { notBeforeMs } = this.#options
    const nowMs = this.#store.nowMs()
    const line = recordLine(record, nowMs, notBeforeMs === undefined ? undefined : nowMs + notBeforeMs)
    const number = partitionOf(record.key ?? record.id, this.#inbox)
    const partition = this.#partitions.get(number) ?? this.#open(number)
    const size = Buffer.byteLength(line)
    this.#bytes += size
    try {
      await partition.add(line, size)
    } finally {
      this.#bytes -= size
      if (!this.isFull) {
        this.#roomFree.resolve()
        this.#roomFree = Promise.withResolvers()
      }
    }
  }

  #open(number: number): PartitionWriter {
    const partition = new PartitionWriter(partitionLog(this.#store, this.#inbox, number), this.#linger, this.#options)
    this.#partitions.set(number, partition)
    return partition
  }
}

interface Block {
  readonly lines: string[]
  bytes: number
  readonly done: PromiseWithResolvers<void>
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

  /** The end of the present wait, or of one that begins now; `undefined` if there is none. */
  wait(): Promise<void> | undefined {
    if (this.#ms === 0) return undefined
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
  readonly #signal: AbortSignal
  readonly #again: (fault: unknown) => Promise<boolean>
  #blocks: Block[] = []
  #isWriting = false
  /** Ends the wait for more records. */
  #full = Promise.withResolvers<void>()

  constructor(log: BlockLog, linger: Linger, { blockBytes = BLOCK_BYTES, signal, again }: InboxWriterOptions) {
    this.#log = log
    this.#linger = linger
    this.#blockBytes = Math.min(blockBytes, MAX_BLOCK_BYTES)
    this.#again = again ?? (async () => false)
    this.#signal = signal ?? new AbortController().signal
  }

  add(line: string, size: number): Promise<void> {
    let block = this.#blocks.at(-1)
    if (block === undefined || block.bytes + size > this.#blockBytes) {
      block = { lines: [], bytes: 0, done: Promise.withResolvers() }
      this.#blocks.push(block)
    }
    block.lines.push(line)
    block.bytes += size
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
    if (this.#blocks.length > 1) return
    this.#full = Promise.withResolvers()
    if ((this.#blocks[0]?.bytes ?? 0) >= this.#blockBytes) return
    const lingered = this.#linger.wait()
    if (lingered !== undefined) await Promise.race([lingered, this.#full.promise])
  }

  async #write(block: Block): Promise<void> {
    try {
      await this.#appendOrWait(Buffer.from(block.lines.join('')))
      block.done.resolve()
    } catch (error) {
      for (const failed of [block, ...this.#blocks.splice(0)]) failed.done.reject(error)
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
