import type { LogLines, LogPosition } from '../../store/block-log.ts'

/** A line of a partition. */
export interface PartitionLine {
  /** Without its line feed. */
  readonly text: string
  readonly bytes: number
  /** After the line, where the store tells: within the first and the last segment that were read. */
  readonly end: LogPosition | undefined
}

const LINE_FEED = 0x0a

/** The lines that were read from a position. */
export function linesIn({ bytes, next }: LogLines, from: LogPosition): PartitionLine[] {
  const lines: PartitionLine[] = []
  const text = new TextDecoder()
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, start)
    const after = feed < 0 ? bytes.length : feed + 1
    lines.push({
      text: text.decode(bytes.subarray(start, feed < 0 ? after : feed)),
      bytes: after - start,
      end: positionAt(after, bytes.length, next, from),
    })
    start = after
  }
  return lines
}

/** A chunk ends within the segment of `next`, and what that has of it precedes `next`. */
function positionAt(after: number, length: number, next: LogPosition, from: LogPosition): LogPosition | undefined {
  const offset = next.offset - (length - after)
  const least = from.segment === next.segment ? from.offset : 1
  return offset >= least ? { segment: next.segment, offset } : undefined
}
