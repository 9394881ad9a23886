import { randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { BlobServiceClient, type ContainerClient } from '@azure/storage-blob'
import { openStore } from '../src/store/open.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { StreamStore } from '../src/store/store.ts'
import { connectionStringAt, startAzurite } from '../test/support/azurite.ts'
import { bareCommits } from './lib/bare-commits.ts'
import type { Row } from './lib/bench.ts'
import { interleave } from './lib/interleave.ts'
import { change } from './lib/streams.ts'
import { timeProcess } from './lib/time-process.ts'

export const name = 'batch'

/** SQLite: upper bound, start-up included. Azurite: lower bound of the rate relative to the bare requests. */
export const limits = { sqlite: 4, azurite: 0.8 }

const STREAMS = 1_000
const SQLITE_ROUNDS = 7
const AZURITE_ROUNDS = 3
const CONCURRENCY = 8
const LEASECTL = fileURLToPath(new URL('../bin/leasectl.js', import.meta.url))

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  try {
    return [await onSqlite(folder), await onAzurite(folder)]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A stream like an imported one: a root, three branches, a join. */
async function importStream(store: StreamStore, stream: string): Promise<void> {
  await change(store, stream, {
    op: 'init',
    root: { name: 'OrderStart', topic: 'orders', key: stream, timeout: '01:00:00' },
    forks: ['Search', 'Search', 'Pay'].map(step => ({ name: step, timeout: '00:05:00' })),
    join: { name: 'Done' },
    hold: false,
    born: randomUUID(),
  })
}

async function importStreams(store: StreamStore): Promise<void> {
  for (let at = 0; at < STREAMS; at += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, next) => importStream(store, `orders/${at + next}`)))
  }
}

function cancelAll(folder: string, address: string): Promise<number> {
  const selection = ['--match', 'orders/**', '--yes', '--expect', String(STREAMS)]
  const how = ['-m', 'wrong import', '-q', '--concurrency', String(CONCURRENCY), '--store', address]
  const env = { ...process.env, XDG_STATE_HOME: folder }
  return timeProcess([process.execPath, LEASECTL, 'cancel', ...selection, ...how], env)
}

/** `leasectl cancel` from start to exit, against as many single commits of bodies of the same size. */
async function onSqlite(folder: string): Promise<Row> {
  const original = join(folder, 'original.db')
  const store = openSqliteStore(original)
  await importStreams(store)
  await store.close()
  const file = join(folder, 'bench.db')
  const copy = async () => {
    for (const end of ['-wal', '-shm']) await rm(`${file}${end}`, { force: true })
    await copyFile(original, file)
  }
  await copy()
  await cancelAll(folder, `sqlite:${file}`)
  const states = [bodiesOf(original), bodiesOf(file)]
  const bareFile = join(folder, 'bare.db')
  const db = new DatabaseSync(bareFile)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec('CREATE TABLE bench (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT')
  const insert = db.prepare('INSERT INTO bench (body) VALUES (?)')
  for (const body of states[0] ?? []) insert.run(body)
  let round = 0
  const samples = await interleave(
    {
      bare: () => bareCommits(db, states[++round % 2] ?? []),
      cancel: async () => {
        await copy()
        return cancelAll(folder, `sqlite:${file}`)
      },
    },
    SQLITE_ROUNDS,
  )
  db.close()
  return {
    figure: `cancel of ${STREAMS} streams, start included / as many bare commits, SQLite`,
    ratio: samples.cancel.best / samples.bare.best,
    limit: limits.sqlite,
    note: `${samples.cancel.best.toFixed(0)} ms / ${samples.bare.best.toFixed(0)} ms`,
  }
}

function bodiesOf(file: string): Uint8Array[] {
  const db = new DatabaseSync(file, { readOnly: true })
  const rows = db.prepare('SELECT body FROM bodies ORDER BY id').all()
  db.close()
  return rows.map(row => row.body as Uint8Array)
}

/** The same against its bare requests: acquire, get, put and release for each stream, with the same concurrency. */
async function onAzurite(folder: string): Promise<Row> {
  const azurite = await startAzurite()
  try {
    const address = `azurite://127.0.0.1:${azurite.port}/batch`
    const store = await openStore(address, {})
    await store.createContainer()
    const client = BlobServiceClient.fromConnectionString(connectionStringAt(azurite.port)).getContainerClient('batch')
    const samples = await interleave(
      {
        bare: () => bareRequests(client),
        cancel: async () => {
          for (let at = 0; at < STREAMS; at++) await client.deleteBlob(`orders/${at}`).catch(() => {})
          await importStreams(store)
          return cancelAll(folder, address)
        },
      },
      AZURITE_ROUNDS,
    )
    await store.close()
    const rate = (ms: number) => `${((4 * STREAMS * 1000) / ms).toFixed(0)} requests/s`
    return {
      figure: `cancel of ${STREAMS} streams, start included / the bare requests it needs, ${CONCURRENCY} at a time, Azurite`,
      ratio: samples.bare.best / samples.cancel.best,
      limit: limits.azurite,
      bound: 'at least',
      note: `${rate(samples.cancel.best)} / ${rate(samples.bare.best)}`,
    }
  } finally {
    await azurite.stop()
  }
}

/** Requests as in the SDK's documentation, on blobs of the same size. */
async function bareRequests(container: ContainerClient): Promise<number> {
  const names = Array.from({ length: STREAMS }, (_, at) => `bare/${at}`)
  const body = Buffer.alloc(1_600, 'x')
  for (const blob of names) await container.getBlockBlobClient(blob).upload(body, body.length)
  const startMs = performance.now()
  let next = 0
  const worker = async () => {
    for (let blob = names[next++]; blob !== undefined; blob = names[next++]) await fourRequests(container, blob, body)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  return performance.now() - startMs
}

async function fourRequests(container: ContainerClient, name: string, body: Uint8Array): Promise<void> {
  const blob = container.getBlockBlobClient(name)
  const lease = blob.getBlobLeaseClient(randomUUID())
  await lease.acquireLease(15)
  await Array.fromAsync((await blob.download()).readableStreamBody ?? [])
  await blob.upload(Buffer.from(body), body.length, { conditions: { leaseId: lease.leaseId } })
  await lease.releaseLease()
}
