import { BlobServiceClient, type ContainerClient } from '@azure/storage-blob'
import { openStore } from '../src/store/open.ts'
import type { StreamStore } from '../src/store/store.ts'
import { connectionStringAt } from '../test/support/azurite.ts'
import type { Row } from './lib/bench.ts'
import { interleave } from './lib/interleave.ts'
import { startListServer } from './lib/list-server.ts'

export const name = 'sweep'

/** Upper bounds of the processor time of a listing page, relative to 40 and 80 ms and to the SDK's listing. */
export const limits = { still: 1, moved: 1, sdk: 0.25 }

const STILL_MS = 40
const MOVED_MS = 80
const PAGE = 5_000
/** Few enough to be read in sequence: the listing sends no other requests. */
const PAGES = 2
const ROUNDS = 12

export async function run(): Promise<Row[]> {
  return listingPages()
}

/** Cost of a listing page for a sweep if no blob of it has changed, if all have, and for the SDK. */
async function listingPages(): Promise<Row[]> {
  const server = await startListServer(PAGES * PAGE)
  const store = await openStore(`azurite://127.0.0.1:${server.port}/orders`, {})
  const container = BlobServiceClient.fromConnectionString(connectionStringAt(server.port)).getContainerClient('orders')
  try {
    const { still, moved, sdk } = await interleave(
      {
        still: () => perPage(PAGES, () => sweep(store, true)),
        moved: () => perPage(PAGES, () => sweep(store, false)),
        sdk: () => perPage(1, () => firstPage(container)),
      },
      ROUNDS,
    )
    const page = `processor time of a page of ${PAGE} blobs`
    const ms = (value: number) => `${value.toFixed(1)} ms`
    return [
      {
        figure: `${page}, none moved / ${STILL_MS} ms`,
        ratio: still.best / STILL_MS,
        limit: limits.still,
        note: ms(still.best),
      },
      {
        figure: `${page}, all moved / ${MOVED_MS} ms`,
        ratio: moved.best / MOVED_MS,
        limit: limits.moved,
        note: ms(moved.best),
      },
      {
        figure: `${page}, all moved / listed by the SDK`,
        ratio: moved.best / sdk.best,
        limit: limits.sdk,
        note: `${ms(moved.best)} / ${ms(sdk.best)}`,
      },
    ]
  } finally {
    await store.close()
    server.stop()
  }
}

async function sweep(store: StreamStore, isStill: boolean): Promise<void> {
  let asked = 0
  let summaries = 0
  const skip = (): boolean => {
    asked += 1
    return isStill
  }
  for await (const page of store.list({ order: 'any', skip }))
    for (const row of page) if (row.summary !== undefined) summaries += 1
  if (asked !== PAGES * PAGE || summaries !== (isStill ? 0 : asked)) throw new Error(`${summaries} of ${asked}`)
}

async function firstPage(container: ContainerClient): Promise<void> {
  const { value } = await container.listBlobsFlat({ includeMetadata: true }).byPage({ maxPageSize: PAGE }).next()
  if (value?.segment.blobItems.length !== PAGE) throw new Error('not a whole page')
}

async function perPage(pages: number, work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / pages
}
