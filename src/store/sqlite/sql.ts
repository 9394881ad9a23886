const SUMMARY_COLUMNS =
  'due_ms, version, born, status, outcome, last_by, root, created_ms, key, topic, tag, tracking_id, failed_at_ms, ' +
  'failed_id, failure, open, failed, total, waiting_on, ready, claim_end_ms'

const LEASE_COLUMNS =
  'lease_id, lease_duration_s, lease_until_ms, lease_break_at_ms, ' +
  'holder_by, holder_host, holder_pid, holder_purpose, holder_since_ms'

/** The columns a listing shows; none of them is a body. */
export const LISTED_COLUMNS = `name, etag, size, modified_ms, ${LEASE_COLUMNS}, ${SUMMARY_COLUMNS}`

export const SELECT_STORED = `SELECT ${LISTED_COLUMNS}, body_id, body FROM streams JOIN bodies ON bodies.id = body_id WHERE name = ?`

/** What a change asks of its stream itself; the rest only where it wants to know. */
export const SELECT_GATE = `SELECT etag, body_id, due_ms, version, modified_ms, last_by, ${LEASE_COLUMNS} FROM streams WHERE name = ?`

/** For operations that need no body. */
export const SELECT_LISTED = `SELECT ${LISTED_COLUMNS}, body_id FROM streams WHERE name = ?`

/** Those of a range of names that have or had a lease, with what tells whether it is held. */
export const SELECT_LEASED =
  'SELECT name, lease_id, lease_until_ms, lease_break_at_ms FROM streams ' +
  'WHERE name >= ? AND name <= ? AND lease_id IS NOT NULL'

export const INSERT_BODY = 'INSERT INTO bodies (body) VALUES (?)'
export const UPDATE_BODY = 'UPDATE bodies SET body = ? WHERE id = ?'
export const DELETE_BODY = 'DELETE FROM bodies WHERE id = ?'

export const INSERT_STREAM =
  `INSERT INTO streams (name, body_id, etag, size, modified_ms, ${SUMMARY_COLUMNS}) ` +
  `VALUES (?, ?, ?, ?, ?${', ?'.repeat(21)})`

/** The due time leads the columns of a summary so that a write which keeps it can leave it, and its index, alone. */
const KEEPING_DUE = SUMMARY_COLUMNS.slice(SUMMARY_COLUMNS.indexOf(' ') + 1)
const assigned = (columns: string): string => columns.replaceAll(/\w+/g, '$& = ?')
export const UPDATE_STREAM = `UPDATE streams SET etag = ?, size = ?, modified_ms = ?, ${assigned(KEEPING_DUE)} WHERE name = ?`
export const UPDATE_DUE = 'UPDATE streams SET due_ms = ? WHERE name = ?'
export const UPDATE_LEASE = `UPDATE streams SET ${assigned(LEASE_COLUMNS)} WHERE name = ?`
export const DELETE_STREAM = 'DELETE FROM streams WHERE name = ?'
