import type { LeasedStream, LeaseStep } from '../local-lease.ts'
import type { Connection } from './connection.ts'
import { leasedOf, leaseValues } from './rows.ts'
import { SELECT_LISTED, UPDATE_LEASE } from './sql.ts'

/** Runs one lease operation inside a write transaction. It touches neither body nor etag nor the due index. */
export function leaseInTransaction<T>(
  connection: Connection,
  name: string,
  step: (stream: LeasedStream) => LeaseStep<T>,
): T | { readonly kind: 'missing' } {
  const row = connection.get(SELECT_LISTED, name)
  if (row === undefined) return { kind: 'missing' }
  const { outcome, keep } = step(leasedOf(row))
  if (keep) connection.run(UPDATE_LEASE, ...leaseValues(keep), name)
  return outcome
}
