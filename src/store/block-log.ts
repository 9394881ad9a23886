import { InvalidValue } from '../stream/errors.ts'
import { StoreDamaged } from './errors.ts'
import { checkStoredName, isReservedName, RESERVED_PREFIX } from './names.ts'

/**
 * A place in a log, between two lines. `segment` counts the parts that the store keeps a log in, from 1; `offset` is in
 * bytes within it. A place stays valid while lines are appended and earlier segments are trimmed.
 */
export interface LogPosition {
  readonly segment: number
  readonly offset: number
}

/** Before the first line of any log. */
export const LOG_START: LogPosition = { segment: 0, offset: 0 }

/** Negative if `a` is before `b`. */
export function comparePositions(a: LogPosition, b: LogPosition): number {
  return a.segment - b.segment || a.offset - b.offset
}

/** Maximum size of a block, bytes: the most that Append Block took when append blobs were introduced. */
export const MAX_BLOCK_BYTES = 4 * 1024 * 1024

/** Outcome of appending a block. */
export type AppendOutcome =
  /** All lines are durable. */
  | { readonly kind: 'appended' }
  /** No answer: all lines may be there, once or several times, or none, now or later. */
  | { readonly kind: 'unknown'; readonly cause: unknown }

/** Whole lines as read. */
export interface LogLines {
  /** Ends with a line feed; empty at the end of the log. */
  readonly bytes: Uint8Array
  /** After the last of them. */
  readonly next: LogPosition
}

/** How far a log reaches. */
export interface LogExtent {
  /** Before the first line that was not trimmed. */
  readonly first: LogPosition
  readonly end: LogPosition
  /** Number of bytes between; of those behind `from` if that was given. */
  readonly bytes: number
}

/**
 * A log of lines that is only appended to, by any number of writers at a time. A block of lines is appended whole or not
 * at all, never between the lines of another, and once a reader has seen it, it is never changed nor preceded by another.
 * A block whose answer was lost is sent again, so it may be there twice: its lines need ids.
 */
export interface BlockLog {
  /**
   * Appends whole lines, at most `MAX_BLOCK_BYTES`. The log comes into being with its first block.
   * @throws InvalidValue for an empty or too long block, and for one that does not end with a line feed; the store's faults
   */
  append(block: Uint8Array, signal?: AbortSignal): Promise<AppendOutcome>
  /**
   * Reads whole lines from a position: at most `maxBytes`, or one line if that is longer, or one block if the store
   * keeps blocks. From a trimmed position it reads on where the log now begins.
   * @throws `logCut` from a position that lies behind the end, unless the log was removed; the store's faults
   */
  read(from: LogPosition, maxBytes: number, signal?: AbortSignal): Promise<LogLines>
  /** `undefined` if the log does not exist. Counts the bytes from a place on; by default all. */
  extent(signal?: AbortSignal, from?: LogPosition): Promise<LogExtent | undefined>
  /** Drops the segments that end before the position. What remains keeps its positions; the end of the log does too. */
  trim(before: LogPosition, signal?: AbortSignal): Promise<void>
  /** Drops the whole log. A log that is written again begins anew. */
  remove(signal?: AbortSignal): Promise<void>
}

/** The fault of a log that has lost its end, as by a failover. */
export function logCut(name: string): StoreDamaged {
  const hint = 'Was the store restored from a copy, or failed over? Then the last writes to it are gone.'
  return new StoreDamaged(`${name} ends before what was read of it`, { hint })
}

const LINE_FEED = 0x0a

/** @throws InvalidValue unless the block is made of whole lines and not too long */
export function checkBlock(block: Uint8Array): void {
  if (block.length === 0 || block.at(-1) !== LINE_FEED) throw new InvalidValue('a block ends with a line feed')
  if (block.length > MAX_BLOCK_BYTES) {
    throw new InvalidValue(`a block of ${block.length} bytes is too long; the limit is ${MAX_BLOCK_BYTES}`)
  }
}

/** @throws InvalidValue unless the name is one of leasectl's own */
export function checkLogName(name: string): void {
  checkStoredName(name)
  if (!isReservedName(name)) throw new InvalidValue(`the name of a log begins with ${RESERVED_PREFIX}`)
}
