import { randomUUID } from 'node:crypto'
import { BlobServiceClient, type ContainerClient } from '@azure/storage-blob'
import { openStore } from '../src/store/open.ts'
import type { StreamStore } from '../src/store/store.ts'
import { connectionStringAt, startAzurite } from '../test/support/azurite.ts'
import { startFaultProxy } from '../test/support/fault-proxy.ts'
import type { Row } from './lib/bench.ts'
import { interleave } from './lib/interleave.ts'
import { change, createStream, tagging } from './lib/streams.ts'

export const name = 'azure'

/** Upper bounds: round trips of one cold change; time and processor time relative to four bare calls of the SDK. */
export const limits = { roundTrips: 2.3, elapsed: 1, cpu: 1.3 }

const DELAY_MS = 20
const STREAMS = 40
const ROUNDS = 25

export async function run(): Promise<Row[]> {
  const azurite = await startAzurite()
  try {
    return [await roundTrips(azurite.port), ...(await besideBareCalls(azurite.port))]
  } finally {
    await azurite.stop()
  }
}

interface Scene {
  readonly store: StreamStore
  /** The SDK alone, as its documentation uses it. */
  readonly container: ContainerClient
  readonly names: readonly string[]
}

async function setScene(port: number, container: string): Promise<Scene> {
  const store = await openStore(`azurite://127.0.0.1:${port}/${container}`, {})
  await store.createContainer()
  const names = Array.from({ length: STREAMS }, (_, at) => `orders/${at}`)
  for (const stream of names) await createStream(store, stream)
  const client = BlobServiceClient.fromConnectionString(connectionStringAt(port))
  return { store, container: client.getContainerClient(container), names }
}

/** Round trips of one change until its result is known, through a proxy that adds 20 ms each way. */
async function roundTrips(port: number): Promise<Row> {
  const proxy = await startFaultProxy({ target: { port }, delayMs: DELAY_MS })
  const scene = await setScene(proxy.port, 'latency')
  const next = picker(scene.names)
  const samples = await interleave(
    {
      reference: async () => (await fourCalls(scene.container, next())) / 4,
      transact: () => elapsed(() => change(scene.store, next(), tagging('09.00'))),
    },
    ROUNDS * 2,
  )
  await scene.store.close()
  await proxy.stop()
  const { transact, reference } = samples
  return {
    figure: 'cold transact / one round trip, Azurite +20 ms each way',
    ratio: transact.best / reference.best,
    limit: limits.roundTrips,
    note: `${transact.best.toFixed(1)} ms / ${reference.best.toFixed(1)} ms`,
  }
}

/** Without the proxy: a whole change with its release, against acquire, get, put and release in sequence. */
async function besideBareCalls(port: number): Promise<Row[]> {
  const scene = await setScene(port, 'direct')
  const cpu = { bare: [] as number[], transact: [] as number[] }
  const samples = await interleave(
    {
      bare: () =>
        metered(cpu.bare, async () => {
          for (const stream of scene.names) await fourCalls(scene.container, stream)
        }),
      transact: () =>
        metered(cpu.transact, async () => {
          for (const stream of scene.names) await change(scene.store, stream, tagging('09.00'))
        }),
    },
    ROUNDS,
  )
  await scene.store.close()
  const perChange = (ms: number) => `${(ms / STREAMS).toFixed(2)} ms`
  const [bareCpu, transactCpu] = [Math.min(...cpu.bare), Math.min(...cpu.transact)]
  return [
    {
      figure: 'transact / four bare SDK calls, elapsed, Azurite',
      ratio: samples.transact.best / samples.bare.best,
      limit: limits.elapsed,
      note: `${perChange(samples.transact.best)} / ${perChange(samples.bare.best)}`,
    },
    {
      figure: 'transact / four bare SDK calls, processor time, Azurite',
      ratio: transactCpu / bareCpu,
      limit: limits.cpu,
      note: `${perChange(transactCpu)} / ${perChange(bareCpu)}`,
    },
  ]
}

/** Acquire, get, put and release in sequence. Returns the elapsed ms. */
function fourCalls(container: ContainerClient, name: string): Promise<number> {
  const blob = container.getBlockBlobClient(name)
  const lease = blob.getBlobLeaseClient(randomUUID())
  return elapsed(async () => {
    await lease.acquireLease(15)
    const found = await blob.download()
    const body = await Array.fromAsync(found.readableStreamBody ?? [])
    const bytes = Buffer.concat(body.map(chunk => Buffer.from(chunk)))
    await blob.upload(bytes, bytes.length, {
      conditions: { leaseId: lease.leaseId, ...(found.etag === undefined ? {} : { ifMatch: found.etag }) },
      ...(found.metadata === undefined ? {} : { metadata: found.metadata }),
    })
    await lease.releaseLease()
  })
}

async function metered(cpuMs: number[], work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  const ms = await elapsed(work)
  const { user, system } = process.cpuUsage(before)
  cpuMs.push((user + system) / 1000)
  return ms
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

/** Cycles through the names. */
function picker(names: readonly string[]): () => string {
  let at = 0
  return () => names[at++ % names.length] ?? ''
}
