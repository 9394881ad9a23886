import { randomUUID } from 'node:crypto'
import type { Summary } from '../../stream/summary.ts'
import { writeGate } from '../local-lease.ts'
import type { CreateOutcome, RemoveOutcome } from '../store.ts'
import type { Connection } from './connection.ts'
import { bodyIdOf, instant, leasedOf, summaryValues } from './rows.ts'
import { DELETE_BODY, DELETE_STREAM, INSERT_BODY, INSERT_STREAM, SELECT_LISTED } from './sql.ts'

/** Inside a write transaction: adds a stream unless something has its name. */
export function createInTransaction(
  connection: Connection,
  { name, body, summary, nowMs }: { name: string; body: Uint8Array; summary: Summary; nowMs: number },
): CreateOutcome {
  if (connection.get(SELECT_LISTED, name) !== undefined) return { kind: 'exists' }
  const etag = randomUUID()
  const bodyId = connection.run(INSERT_BODY, body)
  const stamp = [etag, body.length, instant(nowMs)]
  connection.run(INSERT_STREAM, name, bodyId, ...stamp, instant(summary.dueMs), ...summaryValues(summary))
  return { kind: 'created', etag }
}

/** Inside a write transaction: removes a stream that is neither held by another nor written since. */
export function removeInTransaction(
  connection: Connection,
  { name, etag, leaseId, nowMs }: { name: string; etag?: string; leaseId?: string; nowMs: number },
): RemoveOutcome {
  const row = connection.get(SELECT_LISTED, name)
  if (row === undefined) return { kind: 'missing' }
  const stream = leasedOf(row)
  const gate = writeGate(stream, leaseId, nowMs)
  if (gate.kind === 'held') return { kind: 'held', lease: gate.lease }
  if (gate.kind === 'lost') return gate
  if (etag !== undefined && etag !== stream.etag) return { kind: 'changed' }
  connection.run(DELETE_BODY, bodyIdOf(row))
  connection.run(DELETE_STREAM, name)
  return { kind: 'removed' }
}
