import type { SQLInputValue } from 'node:sqlite'
import { compareNames, endOfPrefix, RESERVED_PREFIX } from '../names.ts'
import type { Listed, ListQuery } from '../store.ts'
import { LISTED_COLUMNS } from './sql.ts'

/** Few enough that what a page leaves behind is collected young: a whole listing stays near 100 MB. */
export const PAGE_ROWS = 200

/** One page of a listing as SQL, with its values. */
export interface PageQuery {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

/** The last row of the page before. */
export type Cursor = Pick<Listed, 'name'> & { readonly dueMs: number | undefined }

/** The next page behind `cursor`. No statement stays open between pages: each starts at the key where the last ended. */
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

/** Names and ETags of the next page, without which it is not known which rows are asked for. */
export function skippingQuery(query: ListQuery, after: string | undefined, rows: number): PageQuery {
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

/** One lower bound only: with two of them SQLite would seek to one and walk to the other. */
function namesOf({ prefix = '' }: ListQuery, after: string | undefined): PageQuery {
  const isBehind = after !== undefined && compareNames(after, prefix) >= 0
  const end = endOfPrefix(prefix)
  const values: SQLInputValue[] = [isBehind ? after : prefix]
  if (end !== undefined) values.push(end)
  const sql = `name ${isBehind ? '>' : '>='} ?${end === undefined ? '' : ' AND name < ?'} AND ${NOT_RESERVED}`
  return { sql, values }
}

const NOT_RESERVED = `NOT (name >= '${RESERVED_PREFIX}' AND name < '${endOfPrefix(RESERVED_PREFIX)}')`
