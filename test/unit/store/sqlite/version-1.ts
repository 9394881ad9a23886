import { DatabaseSync } from 'node:sqlite'

/** The tables of version 1: a column for each field of holder and summary. */
const VERSION_1 = `
  DROP TABLE blocks;
  DROP INDEX streams_due;
  ALTER TABLE streams RENAME TO streams_2;
  CREATE TABLE streams (
    name TEXT NOT NULL PRIMARY KEY, body_id INTEGER NOT NULL, etag TEXT NOT NULL, size INTEGER NOT NULL,
    modified_ms INTEGER NOT NULL, lease_id TEXT, lease_duration_s INTEGER, lease_until_ms INTEGER,
    lease_break_at_ms INTEGER, holder_by TEXT, holder_host TEXT, holder_pid INTEGER, holder_purpose TEXT,
    holder_since_ms INTEGER, due_ms INTEGER, version INTEGER NOT NULL, born TEXT NOT NULL, status TEXT NOT NULL,
    outcome TEXT NOT NULL, last_by TEXT NOT NULL, root TEXT NOT NULL, created_ms INTEGER, key TEXT NOT NULL,
    topic TEXT NOT NULL, tag TEXT NOT NULL, tracking_id TEXT NOT NULL, failed_at_ms INTEGER, failed_id TEXT NOT NULL,
    failure TEXT NOT NULL, open INTEGER NOT NULL, failed INTEGER NOT NULL, total INTEGER NOT NULL,
    waiting_on TEXT NOT NULL, ready TEXT NOT NULL, claim_end_ms INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX streams_due ON streams (due_ms, name) WHERE due_ms IS NOT NULL;
  INSERT INTO streams SELECT
    name, body_id, etag, size, modified_ms, lease_id, lease_duration_s, lease_until_ms, lease_break_at_ms,
    lease_holder ->> 'by', lease_holder ->> 'host', lease_holder ->> 'pid', lease_holder ->> 'purpose',
    lease_holder ->> 'sinceMs', due_ms, version, summary ->> 'born', summary ->> 'status', summary ->> 'outcome',
    summary ->> 'lastBy', summary ->> 'root', summary ->> 'createdMs', summary ->> 'key', summary ->> 'topic',
    summary ->> 'tag', summary ->> 'trackingId', summary ->> 'failedAtMs', summary ->> 'failedId',
    summary ->> 'failure', summary ->> 'open', summary ->> 'failed', summary ->> 'total',
    lines(summary -> 'waitingOn'), lines(summary -> 'ready'), summary ->> 'claimEndMs'
  FROM streams_2;
  DROP TABLE streams_2;
  PRAGMA user_version = 1;
`

/** Turns a closed store into one of version 2, which had no logs. */
export function toVersion2(path: string): void {
  const db = new DatabaseSync(path)
  db.exec('BEGIN; DROP TABLE blocks; PRAGMA user_version = 2; COMMIT')
  db.close()
}

/** Turns a closed store into one of the first development versions. */
export function toVersion1(path: string): void {
  const db = new DatabaseSync(path)
  db.function('lines', json => JSON.parse(String(json)).join('\n'))
  db.exec(`BEGIN; ${VERSION_1} COMMIT`)
  db.close()
}
