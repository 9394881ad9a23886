import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'

/**
 * The store of `demo` and `lab`, which write their own streams from several processes: the one of `--store`, else the
 * embedded store; never one named by the environment.
 */
export async function ownAddress(command: string, options: GlobalOptions, runtime: Runtime): Promise<string> {
  if ((options.context ?? options.container) !== undefined)
    throw new UsageError(`${command} takes neither -c nor --container`, {
      hint: 'It writes to the store of --store, or to the embedded store.',
    })
  const address = options.store ?? (await runtime.embeddedAddress())
  if (address === 'memory:')
    throw new UsageError('other processes cannot reach memory:', {
      hint: `Leave --store out, or use a file or azurite:${command}.`,
    })
  return address
}

/** `20261120-184302`: sorts by time, and is unique for one user at human speed. */
export function clockName(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
}
