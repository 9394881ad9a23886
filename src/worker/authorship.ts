import type { TransactOptions } from '../ops/transact/types.ts'
import type { WorkOptions } from './work-options.ts'

/** What all transactions of a worker have in common, down to the signal: only then changes of one stream share a write. */
export function authorship({
  owner,
  by,
  why,
  leaseWaitMs,
  write,
  signal,
}: WorkOptions): Omit<TransactOptions, 'commandId'> {
  return {
    by: by ?? owner,
    ...(why === undefined ? {} : { why }),
    ...(leaseWaitMs === undefined ? {} : { leaseWaitMs }),
    ...(write === undefined ? {} : { write }),
    ...(signal === undefined ? {} : { stopWaiting: signal }),
  }
}
