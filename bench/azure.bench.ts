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
export const limits = { roundTrips: 2.3, own: { elapsed: 1, cpu: 1 }, shared: { elapsed: 1.2, cpu: 1.4 } }

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

/**
 * Without the proxy: a whole change with its release, against acquire, get, put and release in sequence on blobs of the same
 * bytes; on streams that only this process writes, and on streams that another program has just written.
 */
async function besideBareCalls(port: number): Promise<Row[]> {
  const [own, shared, bare] = [
    await setScene(port, 'own'),
    await setScene(port, 'shared'),
    await setScene(port, 'bare'),
  ]
  const cpu = { bare: [] as number[], own: [] as number[], shared: [] as number[] }
  const samples = await interleave(
    {
      bare: async () => {
        for (const stream of bare.names) await copyBlob(own.container, bare.container, stream)
        return metered(cpu.bare, () => callAll(bare))
      },
      own: () => metered(cpu.own, () => changeAll(own)),
      shared: async () => {
        await callAll(shared)
        return metered(cpu.shared, () => changeAll(shared))
      },
    },
    ROUNDS,
  )
  for (const { store } of [own, shared, bare]) await store.close()
  const rows = (subject: 'own' | 'shared', figure: string): Row[] => [
    {
      figure: `${figure} / four bare SDK calls, elapsed, Azurite`,
      limit: limits[subject].elapsed,
      ...compared(samples[subject].best, samples.bare.best),
    },
    {
      figure: `${figure} / four bare SDK calls, processor time, Azurite`,
      limit: limits[subject].cpu,
      ...compared(Math.min(...cpu[subject]), Math.min(...cpu.bare)),
    },
  ]
  return [...rows('own', 'transact'), ...rows('shared', 'transact after a write of another')]
}

/** @param ms, bareMs of all streams */
function compared(ms: number, bareMs: number): Pick<Row, 'ratio' | 'note'> {
  const each = (all: number) => `${(all / STREAMS).toFixed(2)} ms`
  return { ratio: ms / bareMs, note: `${each(ms)} / ${each(bareMs)}` }
}

async function changeAll({ store, names }: Scene): Promise<void> {
  for (const stream of names) await change(store, stream, tagging('09.00'))
}

async function callAll({ container, names }: Scene): Promise<void> {
  for (const stream of names) await fourCalls(container, stream)
}

async function copyBlob(from: ContainerClient, to: ContainerClient, name: string): Promise<void> {
  const found = from.getBlockBlobClient(name)
  const [body, { metadata = {} }] = [await found.downloadToBuffer(), await found.getProperties()]
  await to.getBlockBlobClient(name).upload(body, body.length, { metadata })
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
