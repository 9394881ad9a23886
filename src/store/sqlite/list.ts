import type { SQLInputValue } from 'node:sqlite'
import { setImmediate as otherWork } from 'node:timers/promises'
import { compareNames, endOfPrefix, RESERVED_PREFIX } from '../names.ts'
import type { ListQuery, StreamRow } from '../store.ts'
import type { Connection } from './connection.ts'
import type { SqliteFile } from './file.ts'
import { isLeasedRow, LISTED_COLUMNS, listedOf, SELECT_LEASED, SELECT_STREAM } from './schema.ts'

/**
 * Rows of a page. What lives when V8 collects young objects is about one page; once all that survived amounts to the space for
 * them, V8 doubles that space. With 200 rows, `ls -o ndjson` of 100 000 streams took 206 MB, with 50 it takes 118 to 125.
 */
export const PAGE_ROWS = 50

/** One page of a listing as SQL, with its values. */
export interface PageQuery {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

/** The last row of the page before. */
export type Cursor = Pick<StreamRow, 'name'> & { readonly dueMs: number | undefined }

/** The page after `cursor`. No statement stays open between pages: each page starts at the key where the last one ended. */
export function pageQuery(query: ListQuery, cursor: Cursor | undefined, rows: number): PageQuery {
  return query.order === 'due' ? pageByDue(query, cursor, rows) : pageByName(query, cursor, rows)
}

function pageByName(query: ListQuery, cursor: Cursor | undefined, rows: number): PageQuery {
  const names = namesOf(query, cursor?.name ?? query.after)
  return {
    sql: `SELECT ${LISTED_COLUMNS} FROM streams WHERE ${names.sql} ORDER BY name LIMIT ?`,
    values: [...names.values, rows],
  }
}

/** Names and ETags of the next page, for the filter. */
function skippingQuery(query: ListQuery, after: string | undefined, rows: number): PageQuery {
  const names = namesOf(query, after ?? query.after)
  return {
    sql: `SELECT name, etag FROM streams WHERE ${names.sql} ORDER BY name LIMIT ?`,
    values: [...names.values, rows],
  }
}

/** Names are filtered in the index, before the row is looked up. */
function pageByDue(query: ListQuery, cursor: Cursor | undefined, rows: number): PageQuery {
  const names = namesOf(query, query.after)
  const behind = cursor ? ' AND (due_ms, name) > (?, ?)' : ''
  return {
    sql:
      `SELECT ${LISTED_COLUMNS} FROM streams INDEXED BY streams_due ` +
      `WHERE due_ms IS NOT NULL AND ${names.sql}${behind} ORDER BY due_ms, name LIMIT ?`,
    values: [...names.values, ...(cursor ? [cursor.dueMs ?? 0, cursor.name] : []), rows],
  }
}

/** With a single lower bound: given two, SQLite would seek to one and scan to the other. */
function namesOf({ prefix = '', reserved = false }: ListQuery, after: string | undefined): PageQuery {
  const isBehind = after !== undefined && compareNames(after, prefix) >= 0
  const end = endOfPrefix(prefix)
  const values: SQLInputValue[] = [isBehind ? after : prefix]
  if (end !== undefined) values.push(end)
  const sql = `name ${isBehind ? '>' : '>='} ?${end === undefined ? '' : ' AND name < ?'} AND ${reserved ? RESERVED : NOT_RESERVED}`
  return { sql, values }
}

const RESERVED = `(name >= '${RESERVED_PREFIX}' AND name < '${endOfPrefix(RESERVED_PREFIX)}')`
const NOT_RESERVED = `NOT ${RESERVED}`

/** Number of names between two turns of the event loop. */
const NAMES_AT_ONCE = 1_000

/** A listing with a filter. Building a whole row costs ten times as much as filtering it. */
export type SkippingQuery = ListQuery & { readonly skip: NonNullable<ListQuery['skip']> }

/** The rows by name that are not skipped. Whole rows are read only for those. */
export async function* listSkipping(
  file: SqliteFile,
  clock: () => number,
  query: SkippingQuery,
): AsyncGenerator<readonly StreamRow[]> {
  let left = query.limit ?? Number.POSITIVE_INFINITY
  let after: string | undefined
  while (left > 0) {
    if (after !== undefined) await otherWork()
    const { signal } = query
    const part = await file.read(connection => partAfter(connection, query, after, clock()), { signal })
    if (part === undefined) return
    const rows = part.rows.slice(0, left)
    left -= rows.length
    if (rows.length > 0) yield rows
    if (part.last === undefined) return
    after = part.last
  }
}

interface Part {
  readonly rows: readonly StreamRow[]
  /** The last name of this part; `undefined` in the last part. */
  readonly last: string | undefined
}

function partAfter(connection: Connection, query: SkippingQuery, after: string | undefined, nowMs: number): Part {
  const { sql, values } = skippingQuery(query, after, NAMES_AT_ONCE)
  const names = connection.all(sql, ...values)
  const rows: StreamRow[] = []
  let leased: ReadonlySet<unknown> | undefined
  let current: unknown
  const isLeased = (): boolean => {
    leased ??= leasedBetween(connection, names[0]?.[0], names.at(-1)?.[0], nowMs)
    return leased.has(current)
  }
  for (const [name, etag] of names) {
    current = name
    if (typeof name !== 'string' || query.skip(name, typeof etag === 'string' ? etag : '', isLeased)) continue
    const row = connection.get(SELECT_STREAM, name)
    if (row !== undefined) rows.push(listedOf(row, nowMs))
  }
  const last = names.length < NAMES_AT_ONCE ? undefined : names.at(-1)?.[0]
  return { rows, last: typeof last === 'string' ? last : undefined }
}

/** Read only on demand: these columns are nearly always empty, and would make each row a third more expensive. */
function leasedBetween(
  connection: Connection,
  first: SQLInputValue | undefined,
  last: SQLInputValue | undefined,
  nowMs: number,
): ReadonlySet<unknown> {
  const rows = connection.all(SELECT_LEASED, first ?? null, last ?? null)
  return new Set(rows.flatMap(([name, ...lease]) => (isLeasedRow(lease, nowMs) ? [name] : [])))
}
