import { BlobServiceClient, type ContainerClient, ContainerSASPermissions } from '@azure/storage-blob'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { machineTiming } from '../../src/util/clock.ts'
import { Pass } from '../../src/watchdog/pass.ts'
import { connectionStringAt, startAzurite } from '../../test/support/azurite.ts'
import type { Row } from './bench.ts'
import { interleave } from './interleave.ts'
import { createStream } from './streams.ts'

/** Upper bounds, relative to the bare list requests of the same run, and to the time to download each document. */
const limits = { bare: 1.2, download: 4 }

const STREAMS = 10_000
const READ = 1_000
const AT_ONCE = 8
const ROUNDS = 3

/** A sweep of many blobs against its bare list requests, and against reading each blob. */
export async function sweepAzurite(): Promise<Row[]> {
  const azurite = await startAzurite()
  const store = await openStore(`azurite://127.0.0.1:${azurite.port}/sweep`, {})
  try {
    await store.createContainer()
    const service = BlobServiceClient.fromConnectionString(connectionStringAt(azurite.port))
    const container = service.getContainerClient('sweep')
    await fill(store, container)
    const seen = watchOf(store)
    await sweep(seen)
    const samples = await interleave(
      {
        bare: () => elapsed(() => bareListing(container)),
        unmoved: () => elapsed(() => sweep(seen)),
        first: () => elapsed(() => sweep(watchOf(store))),
      },
      ROUNDS,
    )
    const downloadMs = (await elapsed(() => readSome(store))) * (STREAMS / READ)
    const note = (ms: number, than: number) => `${ms.toFixed(0)} ms / ${than.toFixed(0)} ms`
    const { bare, first, unmoved } = samples
    return [
      {
        figure: `sweep of ${STREAMS} blobs, none moved / the bare list requests, Azurite`,
        ratio: unmoved.median / bare.median,
        limit: limits.bare,
        note: note(unmoved.median, bare.median),
      },
      {
        figure: `the same, all of them new / the bare list requests`,
        ratio: first.median / bare.median,
        limit: limits.bare,
        note: note(first.median, bare.median),
      },
      {
        figure: `downloading each, ${AT_ONCE} at a time / the sweep with all of them new`,
        ratio: downloadMs / first.median,
        limit: limits.download,
        bound: 'at least',
        note: `${note(downloadMs, first.median)}, ${READ} were downloaded`,
      },
    ]
  } finally {
    await store.close()
    await azurite.stop()
  }
}

/** One stream as leasectl writes it, and copies under other names. */
async function fill(store: StreamStore, container: ContainerClient): Promise<void> {
  await createStream(store, nameOf(0))
  const first = container.getBlockBlobClient(nameOf(0))
  const { metadata = {} } = await first.getProperties()
  const body = await first.downloadToBuffer()
  await eachOf(STREAMS - 1, async at => {
    await container.getBlockBlobClient(nameOf(at + 1)).upload(body, body.length, { metadata })
  })
}

const nameOf = (at: number): string => `orders/2026-11/${String(at).padStart(9, '0')}`

async function eachOf(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}

function watchOf(store: StreamStore): Pass {
  const options = { intervalMs: 10_000, onDue: 'notify', maxPerPass: 1_000, maxShare: 0.2, concurrency: 8 } as const
  const settings = { trustsClock: false, isDryRun: false, timing: machineTiming, tickMs: 1_000 }
  return new Pass(store, { ...options, by: 'bench', observers: [] }, settings)
}

async function sweep(watch: Pass): Promise<void> {
  const report = await watch.pass('sweep', new AbortController().signal)
  if (report.total !== STREAMS) throw new Error(`${report.total} streams`)
}

/** The requests of a sweep, whose answers are only searched for the marker of the next page. */
async function bareListing(container: ContainerClient): Promise<void> {
  const permissions = ContainerSASPermissions.parse('l')
  const url = await container.generateSasUrl({ permissions, expiresOn: new Date(Date.now() + 3_600_000) })
  let marker: string | undefined = ''
  while (marker !== undefined) {
    const query = `&restype=container&comp=list&include=metadata&maxresults=5000&marker=${encodeURIComponent(marker)}`
    const answer = await fetch(url + query, { headers: { 'x-ms-version': '2025-05-05' } })
    const tail = Buffer.from(await answer.arrayBuffer())
      .subarray(-2_000)
      .toString('latin1')
    if (answer.status !== 200) throw new Error(`${answer.status} ${tail}`)
    marker = /<NextMarker>([^<]+)</.exec(tail)?.[1]
  }
}

async function readSome(store: StreamStore): Promise<void> {
  await eachOf(READ, async at => {
    if ((await store.read(nameOf(at))) === undefined) throw new Error(nameOf(at))
  })
}

async function elapsed(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}
