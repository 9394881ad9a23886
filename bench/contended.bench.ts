import { randomUUID } from 'node:crypto'
import { BlobServiceClient, type BlockBlobClient } from '@azure/storage-blob'
import { transact } from '../src/ops/transact/transact.ts'
import { openStore } from '../src/store/open.ts'
import type { ChangeOptions, Decision, StreamSnapshot, StreamStore, WriteMode } from '../src/store/store.ts'
import { connectionStringAt, startAzurite } from '../test/support/azurite.ts'
import type { Row } from './lib/bench.ts'
import { interleave } from './lib/interleave.ts'
import { createStream, tagging, WORK_IDS } from './lib/streams.ts'

export const name = 'contended'

/** Unclaimed events. */
const EVENTS = WORK_IDS.slice(3)

/** Lower bounds: changes of 20 workers on one stream, relative to 20 times the rate of bare sequential conditional writes of the same bodies. */
export const limits = { optimistic: 0.5, lease: 0.3 }

const CONTAINER = 'contended'
const WORKERS = 20
const CHANGES = 1_000
const MANY_CHANGES = 5_000
const ROUNDS = 3

export async function run(): Promise<Row[]> {
  const azurite = await startAzurite()
  const store = await openStore(`azurite://127.0.0.1:${azurite.port}/${CONTAINER}`, {})
  try {
    await store.createContainer()
    const service = BlobServiceClient.fromConnectionString(connectionStringAt(azurite.port))
    const bare = service.getContainerClient(CONTAINER).getBlockBlobClient('bare')
    return [...(await measure(store, bare, CHANGES, ROUNDS)), ...(await measure(store, bare, MANY_CHANGES, 1))]
  } finally {
    await store.close()
    await azurite.stop()
  }
}

async function measure(store: StreamStore, bare: BlockBlobClient, changes: number, rounds: number): Promise<Row[]> {
  const bodies: Record<WriteMode, readonly Uint8Array[]> = { optimistic: [], lease: [] }
  const work = async (write: WriteMode) => {
    const done = await contend(store, write, changes)
    bodies[write] = done.bodies
    return done.ms / changes
  }
  const putting = async (write: WriteMode) => (await putOneByOne(bare, bodies[write])) / bodies[write].length
  // The bodies are those of the previous round, or of this one.
  await Promise.all([work('optimistic'), work('lease')])
  const samples = await interleave(
    {
      optimistic: () => work('optimistic'),
      bareOptimistic: () => putting('optimistic'),
      lease: () => work('lease'),
      bareLease: () => putting('lease'),
    },
    rounds,
  )
  const row = (write: WriteMode, changeMs: number, putMs: number): Row => ({
    figure: `${changes} changes of one stream, ${WORKERS} workers, ${write} / ${WORKERS} x bare puts`,
    ratio: putMs / (WORKERS * changeMs),
    ...(changes === CHANGES ? { limit: limits[write], bound: 'at least' } : {}),
    note: `${(1_000 / changeMs).toFixed(0)}/s in ${bodies[write].length} writes; bare ${(1_000 / putMs).toFixed(0)}/s`,
  })
  return [
    row('optimistic', samples.optimistic.median, samples.bareOptimistic.median),
    row('lease', samples.lease.median, samples.bareLease.median),
  ]
}

/** Each worker makes changes in sequence, all on one new stream. */
async function contend(store: StreamStore, write: WriteMode, changes: number) {
  const stream = `contended/${randomUUID()}`
  await createStream(store, stream)
  const bodies: Uint8Array[] = []
  const seen = recording(store, bodies)
  const startMs = performance.now()
  const workers = Array.from({ length: WORKERS }, async (_, worker) => {
    for (let at = worker; at < changes; at += WORKERS) await change(seen, stream, write, at)
  })
  await Promise.all(workers)
  return { ms: performance.now() - startMs, bodies }
}

async function change(store: StreamStore, stream: string, write: WriteMode, at: number): Promise<void> {
  const operation = tagging(EVENTS[at % EVENTS.length] ?? '')
  const outcome = await transact(store, stream, operation, { commandId: randomUUID(), by: 'bench', write })
  if (outcome.kind !== 'done' || outcome.result.duplicate) throw new Error(JSON.stringify(outcome))
}

/** The same store, recording the bodies that its changes write. */
function recording(store: StreamStore, bodies: Uint8Array[]): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      if (key !== 'update') return Reflect.get(target, key).bind?.(target) ?? Reflect.get(target, key)
      return async (
        name: string,
        decide: (current: StreamSnapshot, nowMs: number) => Decision,
        options: ChangeOptions,
      ) => {
        let decision: Decision | undefined
        const keeping = (current: StreamSnapshot, nowMs: number) => {
          decision = decide(current, nowMs)
          return decision
        }
        const outcome = await target.update(name, keeping, options)
        if (outcome.kind === 'committed' && decision?.kind === 'put') bodies.push(decision.body)
        return outcome
      }
    },
  })
}

/** The SDK alone: each body overwrites the previous one, on its ETag. */
async function putOneByOne(blob: BlockBlobClient, bodies: readonly Uint8Array[]): Promise<number> {
  let { etag = '' } = await blob.upload('', 0)
  const startMs = performance.now()
  for (const body of bodies) {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    const answer = await blob.upload(bytes, bytes.length, { conditions: { ifMatch: etag } })
    etag = answer.etag ?? ''
  }
  return performance.now() - startMs
}
