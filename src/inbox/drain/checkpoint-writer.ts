import { systemSummary } from '../../ops/system-documents.ts'
import { thisHost } from '../../ops/transact/transact.ts'
import { comparePositions, type LogPosition } from '../../store/block-log.ts'
import { StoreFull, StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import type { Timing } from '../../util/clock.ts'
import { RateMeter } from '../../util/rate-meter.ts'
import { type Checkpoint, checkpointText } from '../checkpoint.ts'
import type { Inbox } from '../inbox.ts'
import { lastLineOf } from '../last-line.ts'
import { DeadLettersUnknown } from './dead-letters.ts'
import type { PartitionLine } from './line.ts'

/** The lease under which the partition is drained. */
export interface PartitionLease {
  /** The document of the checkpoint. */
  readonly name: string
  readonly leaseId: string
  /** False once another drain may have it. */
  readonly isHeld: () => boolean
}

interface WriterShared {
  readonly store: StreamStore
  readonly inbox: Inbox
  readonly by: string
  readonly timing: Timing
  readonly trouble: (of: 'writing', error: unknown) => void
}

/** Counts what is done of a partition, and writes how far all is. */
export class CheckpointWriter {
  readonly #shared: WriterShared
  readonly #partition: number
  readonly #lease: PartitionLease
  readonly #rate = new RateMeter()
  #checkpoint: Checkpoint
  /** Before its position. */
  #last: PartitionLine | undefined
  /** Done since the last line whose position is known. */
  #sinceKnown = { records: 0, dead: 0 }
  #written: LogPosition
  #unwritten = 0
  #writing: Promise<'written' | 'lost'> | undefined

  constructor(shared: WriterShared, partition: number, lease: PartitionLease, checkpoint: Checkpoint) {
    this.#shared = shared
    this.#partition = partition
    this.#lease = lease
    this.#checkpoint = checkpoint
    this.#written = checkpoint
  }

  /** Below it all is done, and that is written. */
  get written(): LogPosition {
    return this.#written
  }

  /** Number of records done since it was written. */
  get unwritten(): number {
    return this.#unwritten
  }

  /** One more record is done, and all before it. */
  pass(line: PartitionLine, isDead: boolean): void {
    this.#unwritten += 1
    this.#rate.count(this.#shared.timing.monotonicMs())
    const { records, dead } = this.#sinceKnown
    this.#sinceKnown = { records: records + 1, dead: dead + (isDead ? 1 : 0) }
    if (line.end !== undefined) this.#moveTo(line, line.end)
  }

  #moveTo(line: PartitionLine, { segment, offset }: LogPosition): void {
    this.#last = line
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

  async idle(): Promise<void> {
    await this.#writing
  }

  /** `lost`: another drain goes on from what was written before. */
  write(): Promise<'written' | 'lost'> {
    this.#writing ??= this.#writeOnce().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  async #writeOnce(): Promise<'written' | 'lost'> {
    const { store, by, inbox, timing, trouble } = this.#shared
    if (comparePositions(this.#checkpoint, this.#written) <= 0) return 'written'
    const rate = Math.round(this.#rate.perSecond(timing.monotonicMs()) * 100) / 100
    const last = this.#last === undefined ? this.#checkpoint.last : lastLineOf(this.#last)
    const checkpoint = { ...this.#checkpoint, last, rate, by, host: thisHost(), atMs: store.nowMs() }
    this.#unwritten = 0
    const body = Buffer.from(checkpointText(checkpoint))
    const purpose = `drain of the inbox ${inbox.name}, partition ${this.#partition}`
    const holder = { by, host: thisHost(), pid: process.pid, purpose, sinceMs: store.nowMs() }
    const { name, leaseId } = this.#lease
    try {
      // Called again after a lost answer, it writes the same once more.
      const { kind } = await store.update(name, () => ({ kind: 'put', body, summary: systemSummary(store, by) }), {
        ...{ leaseId, holder, waitMs: 0, deadlineMs: 5_000 },
      })
      if (kind === 'committed' || kind === 'left') {
        this.#written = checkpoint
        trouble('writing', undefined)
      } else if (kind !== 'unknown') return 'lost'
    } catch (error) {
      if (!isPassing(error)) throw error
      trouble('writing', error)
    }
    return 'written'
  }
}

/** Whether a fault of the store passes: what was tried is tried again. */
export function isPassing(error: unknown): boolean {
  return error instanceof StoreUnreachable || error instanceof StoreFull || error instanceof DeadLettersUnknown
}
