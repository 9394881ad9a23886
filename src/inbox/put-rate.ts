import { type BlockLog, comparePositions, type LogExtent, type LogPosition } from '../store/block-log.ts'
import { RATE_WINDOW_MS } from '../util/rate-meter.ts'
import { parseRecord } from './record.ts'

const LINE_FEED = 0x0a
/** Bytes read to find the first record behind a place. */
const PEEK_BYTES = 16 * 1024
/** The first look back; records of so many bytes are counted, more are estimated. */
const COUNTED_BYTES = 64 * 1024
/** Looks between two places, each of which halves what is not known. */
const ROUNDS = 4

/** A place in a partition and when its first record was put. */
interface Place {
  readonly at: LogPosition
  readonly putMs: number
}

/**
 * Records put into a partition a second, in the last minute. Reads a few places at its end: exact for up to 64 KiB, and
 * an estimate from the sizes and times of a few records for more.
 *
 * @throws the store's faults
 */
export async function putRate(log: BlockLog, extent: LogExtent, nowMs: number, signal?: AbortSignal): Promise<number> {
  const sinceMs = nowMs - RATE_WINDOW_MS
  let within: Place | undefined
  let older: Place | undefined
  for (const at of placesBefore(extent, COUNTED_BYTES)) {
    const putMs = await firstPutMs(log, at, signal)
    if (putMs === undefined) continue
    older = putMs < sinceMs ? { at, putMs } : undefined
    if (older !== undefined) break
    within = { at, putMs }
  }
  const records = await recordsSince(log, { within, older, sinceMs, extent }, signal)
  return (records * 1_000) / RATE_WINDOW_MS
}

interface Found {
  /** The furthest place that was looked at whose record was put within the time. */
  readonly within: Place | undefined
  /** The nearest one whose record was put before. `undefined`: the whole log is younger. */
  readonly older: Place | undefined
  readonly sinceMs: number
  readonly extent: LogExtent
}

async function recordsSince(log: BlockLog, found: Found, signal: AbortSignal | undefined): Promise<number> {
  const { within, older, sinceMs, extent } = found
  const from = older?.at ?? extent.first
  if ((await bytesFrom(log, from, extent, signal)) <= COUNTED_BYTES) {
    return countSince(log, from, extent, sinceMs, signal)
  }
  return within === undefined ? 0 : estimateSince(log, { ...found, within }, signal)
}

/** Places further and further before the end of a log, the last one its beginning. @param bytes before the first place */
export function* placesBefore({ first, end }: LogExtent, bytes: number): Generator<LogPosition> {
  for (let back = bytes; back < end.offset; back *= 4) yield { segment: end.segment, offset: end.offset - back }
  yield { segment: end.segment, offset: 0 }
  for (let back = 1; end.segment - back > first.segment; back *= 4) yield { segment: end.segment - back, offset: 0 }
  if (comparePositions(first, { segment: end.segment, offset: 0 }) < 0) yield first
}

async function firstPutMs(
  log: BlockLog,
  at: LogPosition,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const { bytes, next } = await log.read(at, PEEK_BYTES, signal)
  // Within a segment the place may be inside a line.
  const start = at.offset === 0 ? 0 : bytes.indexOf(LINE_FEED) + 1
  if (start < bytes.length) return putMsIn(bytes.subarray(start))
  return bytes.length === 0 ? undefined : putMsIn((await log.read(next, PEEK_BYTES, signal)).bytes)
}

/** When the record of the first of these lines was put, epoch ms; `undefined` if it is not a record. */
export function putMsIn(lines: Uint8Array): number | undefined {
  return putMsOf(lines.subarray(0, lines.indexOf(LINE_FEED)))
}

function putMsOf(line: Uint8Array): number | undefined {
  try {
    return Date.parse(parseRecord(Buffer.from(line).toString()).at) || undefined
  } catch {
    return undefined
  }
}

async function countSince(
  log: BlockLog,
  from: LogPosition,
  { end }: LogExtent,
  sinceMs: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  let count = 0
  for (let at = from; comparePositions(at, end) < 0; ) {
    const { bytes, next } = await log.read(at, COUNTED_BYTES, signal)
    if (bytes.length === 0) break
    for (let start = 0; start < bytes.length; ) {
      const after = bytes.indexOf(LINE_FEED, start) + 1
      if ((putMsOf(bytes.subarray(start, after)) ?? 0) >= sinceMs) count += 1
      start = after
    }
    at = next
  }
  return count
}

/** Narrows the two places down to the time, and goes on as if records came evenly between them. */
async function estimateSince(
  log: BlockLog,
  { within, older, sinceMs, extent }: Found & { readonly within: Place },
  signal: AbortSignal | undefined,
): Promise<number> {
  let [near, far] = [within, older]
  for (let round = 0; round < ROUNDS && far !== undefined; round++) {
    const at = between(far.at, near.at)
    const putMs = at && (await firstPutMs(log, at, signal))
    if (at === undefined || putMs === undefined) break
    if (putMs < sinceMs) far = { at, putMs }
    else near = { at, putMs }
  }
  const least = await bytesFrom(log, near.at, extent, signal)
  const more = far === undefined ? 0 : (await bytesFrom(log, far.at, extent, signal)) - least
  const part = far === undefined ? 0 : (near.putMs - sinceMs) / (near.putMs - far.putMs)
  const { bytes } = await log.read(near.at, COUNTED_BYTES, signal)
  let lines = 0
  for (const byte of bytes) if (byte === LINE_FEED) lines += 1
  return Math.round(((least + part * more) * lines) / Math.max(1, bytes.length))
}

/** A place between two; `undefined` if they are too near for one. */
function between(from: LogPosition, to: LogPosition): LogPosition | undefined {
  const segment = Math.floor((from.segment + to.segment) / 2)
  if (segment > from.segment) return { segment, offset: 0 }
  if (to.segment > from.segment) return undefined
  const offset = Math.floor((from.offset + to.offset) / 2)
  return offset - from.offset < COUNTED_BYTES ? undefined : { segment, offset }
}

async function bytesFrom(
  log: BlockLog,
  at: LogPosition,
  { end }: LogExtent,
  signal: AbortSignal | undefined,
): Promise<number> {
  if (at.segment === end.segment) return end.offset - at.offset
  return (await log.extent(signal, at))?.bytes ?? 0
}
