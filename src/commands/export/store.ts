import { type Problem, UsageError } from '../../cli/problem.ts'
import type { EventStore } from '../../store/store.ts'
import { openCopies } from '../transfer/copies.ts'
import { copyItems } from '../transfer/copy.ts'
import type { Item } from '../transfer/item.ts'
import { openReport } from '../transfer/report.ts'
import type { ExportRequest } from './request.ts'

/** Copies streams into another store, byte by byte. Nothing is removed here. */
export async function exportToStore(
  address: string,
  { store, names, options, output, runtime }: ExportRequest,
): Promise<Problem | undefined> {
  const { output: _, ...talk } = options
  const other = await runtime.openOther(address)
  if (other.address === runtime.opened?.address) {
    throw new UsageError('--to names the store that is exported', { hint: 'Name another.' })
  }
  return copyItems(
    {
      items: itemsOf(names, store),
      copies: openCopies(other.store, options, 'export', runtime),
      flags: options,
      options: talk,
      isProtected: other.isProtected,
      address: other.address,
    },
    openReport('text', talk, output, runtime),
    runtime,
  )
}

/** Streams of a store. */
async function* itemsOf(names: AsyncIterable<string>, store: EventStore): AsyncGenerator<Item> {
  for await (const name of names) yield { name, read: async () => (await store.read(name))?.body }
}
