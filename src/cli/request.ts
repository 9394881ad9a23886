import type { TransactOptions } from '../ops/transact/types.ts'
import type { Authorship } from '../stream/operations/operation.ts'
import type { ChangeFlags } from './options.ts'
import type { Runtime } from './runtime.ts'

/** How long a change waits for a lease held by another where `--lease-wait` does not say, ms. */
export const DEFAULT_LEASE_WAIT_MS = 10_000

/**
 * Who, why, under which id and which lease. `purpose` is shown to others while the lease is held. The first
 * Ctrl-C ends only the wait for a lease: a change under way finishes, because a write that was sent cannot be taken back.
 */
export function transactOptions(
  flags: ChangeFlags,
  commandId: string,
  purpose: string,
  runtime: Runtime,
): TransactOptions {
  return {
    ...authorship(flags, commandId, runtime),
    leaseWaitMs: flags.leaseWait ?? DEFAULT_LEASE_WAIT_MS,
    purpose,
    stopWaiting: runtime.signal,
    ...(flags.leaseId === undefined ? {} : { leaseId: flags.leaseId }),
    ...(flags.write === undefined ? {} : { write: flags.write }),
    ...(flags.ifVersion === undefined ? {} : { ifVersion: flags.ifVersion }),
  }
}

function authorship(flags: ChangeFlags, commandId: string, runtime: Runtime): Authorship {
  return {
    commandId,
    by: flags.by ?? runtime.actor,
    ...(flags.reason === undefined ? {} : { why: flags.reason }),
  }
}
