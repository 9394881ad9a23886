import { damaged } from '../../ops/system-fields.ts'
import type { BlockLog, LogPosition } from '../../store/block-log.ts'
import type { Timing } from '../../util/clock.ts'
import type { Checkpoint } from '../checkpoint.ts'
import { isStillBefore, type LastLine, lastLineOf, OTHER_RECORDS } from '../last-line.ts'
import { linesIn, type PartitionLine } from './line.ts'

/** Bytes of one read. */
const READ_BYTES = 128 * 1024
/** Reads that follow each other within this time, ms, are of one state of the log. */
const AT_ONCE_MS = 1_000

/** Reads a partition from a checkpoint on. */
export class PartitionReader {
  readonly #log: BlockLog
  /** The document of the checkpoint. */
  readonly #name: string
  readonly #timing: Timing
  #position: LogPosition
  /** The line before the position. */
  #last: (() => LastLine) | undefined
  /** When lines were read last, monotonic ms. */
  #readAtMs = Number.NEGATIVE_INFINITY

  constructor(log: BlockLog, name: string, checkpoint: Checkpoint, timing: Timing) {
    this.#log = log
    this.#name = name
    this.#timing = timing
    this.#position = checkpoint
    const { last } = checkpoint
    this.#last = last && (() => last)
  }

  /** Before the lines that were not read yet. */
  get position(): LogPosition {
    return this.#position
  }

  /**
   * The next lines; none at the end. Where a log has lost its end, new records take the places of those that were read: so
   * after a pause the line before the position is looked at first.
   *
   * @throws BadDocument if that line is another one now; `logCut`; the store's faults
   */
  async next(signal: AbortSignal): Promise<readonly PartitionLine[]> {
    const from = this.#position
    const chunk = await this.#log.read(from, READ_BYTES, signal)
    const lines = linesIn(chunk, from)
    const last = lines.at(-1)
    if (last === undefined) return lines
    const nowMs = this.#timing.monotonicMs()
    if (this.#last !== undefined && nowMs - this.#readAtMs > AT_ONCE_MS) {
      if (!(await isStillBefore(this.#log, from, this.#last(), signal))) throw damaged(this.#name, OTHER_RECORDS)
    }
    this.#last = () => lastLineOf(last)
    this.#position = chunk.next
    this.#readAtMs = nowMs
    return lines
  }
}
