import type { GlobalOptions } from './options.ts'
import { UsageError } from './problem.ts'
import type { Runtime } from './runtime.ts'

/**
 * Where a command writes that plays with streams of its own and other processes: in the store of `--store`, else in the
 * embedded one; never in one that the environment names.
 */
export async function ownAddress(command: string, options: GlobalOptions, runtime: Runtime): Promise<string> {
  if ((options.context ?? options.container) !== undefined)
    throw new UsageError(`${command} takes neither -c nor --container`, {
      hint: 'It writes to the store of --store, else to the embedded one.',
    })
  const address = options.store ?? (await runtime.embeddedAddress())
  if (address === 'memory:')
    throw new UsageError('other processes cannot reach memory:', {
      hint: `Leave --store out, or name a file or azurite:${command}.`,
    })
  return address
}
