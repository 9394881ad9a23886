import type { LogLines, LogPosition } from '../../store/block-log.ts'
import { type InboxRecord, parseRecord } from '../record.ts'

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

/** A record with its data as it was put: numbers keep all their digits. */
export interface ReadRecord {
  readonly record: InboxRecord
  readonly json: string
}

const DATA = ',"data":'

/** @throws InvalidValue if the line is not a record */
export function readRecord(line: string): ReadRecord {
  const at = line.indexOf(DATA)
  const json = line.slice(at + DATA.length, -1)
  const data = at >= 0 && line.endsWith('}') ? jsonOf(json) : undefined
  const head = data === undefined ? undefined : `${line.slice(0, at)}${DATA}null}`
  // The text before the data is whole JSON, and so is the data: the line is as the writer made it.
  if (head !== undefined && jsonOf(head) !== undefined) return { record: { ...parseRecord(head), data }, json }
  const record = parseRecord(line)
  return { record, json: JSON.stringify(record.data) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
