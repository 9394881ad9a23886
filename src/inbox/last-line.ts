import { crc32 } from 'node:zlib'
import type { BlockLog, LogPosition } from '../store/block-log.ts'
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
