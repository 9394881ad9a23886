import {
  type AppendOutcome,
  type BlockLog,
  checkBlock,
  checkLogName,
  LOG_START,
  type LogExtent,
  type LogLines,
  type LogPosition,
  logCut,
} from '../block-log.ts'
import type { Appends } from './append/appends.ts'
import type { Connection } from './connection.ts'
import type { SqliteFile } from './file.ts'
import { bodyOf } from './schema.ts'

/** With a part of a block first if the position is inside one. */
const SELECT = 'SELECT id, lines FROM blocks WHERE log = ? AND id >= ? ORDER BY id LIMIT ?'
const SIZES = 'SELECT id, length(lines) FROM blocks WHERE log = ? AND id >= ? ORDER BY id LIMIT ?'
const EXTENT = 'SELECT min(id), max(id) FROM blocks WHERE log = ?'
const REACHES = 'SELECT 1 FROM blocks WHERE log = ?1 AND id = ?2 AND length(lines) >= ?3'
const IS_CUT = `SELECT 1 FROM blocks WHERE log = ?1 AND NOT EXISTS (${REACHES}) LIMIT 1`
const BYTES = 'SELECT sum(length(lines)) FROM blocks WHERE log = ? AND id >= ?'
const LAST = 'SELECT length(lines) FROM blocks WHERE id = ?'
/** The last block stays: its id is the end of the log. */
const TRIM = 'DELETE FROM blocks WHERE log = ? AND id < ? AND id < (SELECT max(id) FROM blocks WHERE log = ?)'
const REMOVE = 'DELETE FROM blocks WHERE log = ?'

/** Number of blocks whose sizes are looked up at a time. */
const LOOK_AHEAD = 256

/** A log in an embedded store: each block is a row, and a segment of its own. Rows get ascending ids in order of their commits. */
export class SqliteBlockLog implements BlockLog {
  readonly #file: SqliteFile
  readonly #name: string
  readonly #appends: () => Promise<Appends>

  constructor(file: SqliteFile, name: string, appends: () => Promise<Appends>) {
    checkLogName(name)
    this.#file = file
    this.#name = name
    this.#appends = appends
  }

  async append(block: Uint8Array, signal?: AbortSignal): Promise<AppendOutcome> {
    checkBlock(block)
    return (await this.#appends()).append(this.#name, block, signal)
  }

  async read(from: LogPosition, maxBytes: number, signal?: AbortSignal): Promise<LogLines> {
    const read = await this.#file.read(connection => this.#linesFrom(connection, from, maxBytes), { signal })
    return read ?? { bytes: new Uint8Array(0), next: from }
  }

  async extent(signal?: AbortSignal, from = LOG_START): Promise<LogExtent | undefined> {
    const find = (connection: Connection) => {
      const [first, last] = connection.get(EXTENT, this.#name) ?? []
      if (typeof first !== 'number' || typeof last !== 'number') return undefined
      const offset = Number(connection.get(LAST, last)?.[0] ?? 0)
      const all = Number(connection.get(BYTES, this.#name, from.segment)?.[0] ?? 0)
      const bytes = Math.max(0, all - (from.segment >= first ? from.offset : 0))
      return { first: { segment: first, offset: 0 }, end: { segment: last, offset }, bytes }
    }
    return this.#file.read(find, { signal })
  }

  async trim({ segment }: LogPosition, signal?: AbortSignal): Promise<void> {
    await this.#file.write(connection => connection.run(TRIM, this.#name, segment, this.#name), { signal })
  }

  async remove(signal?: AbortSignal): Promise<void> {
    await this.#file.write(connection => connection.run(REMOVE, this.#name), { signal })
  }

  #linesFrom(connection: Connection, from: LogPosition, maxBytes: number): LogLines {
    const parts: Uint8Array[] = []
    let next = from
    const count = this.#blocksWithin(connection, from, maxBytes)
    for (const row of connection.all(SELECT, this.#name, from.segment, count)) {
      const [id, lines] = [Number(row[0]), bodyOf(row[1])]
      parts.push(id === from.segment ? lines.subarray(from.offset) : lines)
      next = { segment: id, offset: lines.length }
    }
    const bytes = Buffer.concat(parts)
    if (bytes.length === 0 && connection.get(IS_CUT, this.#name, from.segment, from.offset)) throw logCut(this.#name)
    return { bytes, next }
  }

  /** The number of blocks from a position that have at most so many bytes, at least one with lines. */
  #blocksWithin(connection: Connection, from: LogPosition, maxBytes: number): number {
    let bytes = 0
    let count = 0
    for (const [id, length] of connection.all(SIZES, this.#name, from.segment, LOOK_AHEAD)) {
      const left = Number(length) - (id === from.segment ? from.offset : 0)
      if (bytes > 0 && bytes + left > maxBytes) break
      bytes += left
      count += 1
    }
    return count
  }
}
