import { crc32 } from 'node:zlib'
import { type BlockLog, comparePositions, LOG_START, type LogExtent, type LogPosition } from '../store/block-log.ts'
import { linesIn, type PartitionLine } from './drain/line.ts'

/**
 * What tells a line from another that has taken its place: a store that lost the last writes to a log, as by a failover, is
 * appended to where they were.
 */
export interface LastLine {
  readonly bytes: number
  /** CRC-32 of its text. */
  readonly crc: number
}

export function lastLineOf({ text, bytes }: Pick<PartitionLine, 'text' | 'bytes'>): LastLine {
  return { bytes, crc: crc32(text) }
}

/** Whether this line still ends at the position, or was trimmed since. @throws `logCut`, the store's faults */
export async function isStillBefore(
  log: BlockLog,
  { segment, offset }: LogPosition,
  last: LastLine,
  signal?: AbortSignal,
): Promise<boolean> {
  const start = { segment, offset: Math.max(0, offset - last.bytes) }
  const chunk = await log.read(start, last.bytes, signal)
  if (chunk.next.segment !== segment) return true
  const [line] = linesIn(chunk, start)
  return line !== undefined && line.bytes === last.bytes && lastLineOf(line).crc === last.crc
}

/** What is wrong with a checkpoint whose log has lost its end. */
const BEYOND_END = 'it is beyond the last record'
export const OTHER_RECORDS = 'the records before it are others than those that were drained'

/**
 * Why a log cannot be read on from a checkpoint: it has lost its end. `undefined` if it can.
 *
 * @param extent of the log; its bytes are those behind the checkpoint
 * @throws `logCut`, the store's faults
 */
export async function lossOf(
  log: BlockLog,
  checkpoint: LogPosition & { readonly last?: LastLine | undefined },
  extent: LogExtent | undefined,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { last } = checkpoint
  if (comparePositions(checkpoint, extent?.end ?? LOG_START) > 0) return BEYOND_END
  // With nothing behind it, nothing is read on; whoever reads later looks then.
  if (last === undefined || extent?.bytes === 0) return undefined
  return (await isStillBefore(log, checkpoint, last, signal)) ? undefined : OTHER_RECORDS
}
