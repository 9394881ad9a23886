import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { transact } from '../../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { eventually } from '../../e2e/watchdog/poll.ts'
import type { FaultProxy } from '../../support/fault-proxy.ts'
import { Another } from './another.ts'
import { judge, type Verdict } from './judge.ts'
import type { WorkerOrders, WorkerWord } from './orders.ts'
import type { Point } from './points.ts'
import { WorkerProcess } from './worker-process.ts'

const EVENT = '01.00'
const NEXT = '02.00'

/** The observed result. */
export interface Played extends Verdict {
  readonly told: WorkerWord
}

/** The environment. */
export interface Scene extends Pick<WorkerOrders, 'library' | 'address' | 'claimMs' | 'without'> {
  readonly env: Readonly<Record<string, string>>
  /** Receives each started process, which must be ended in any case. */
  readonly started: (worker: WorkerProcess) => void
  /** As the other worker and the judge see it. */
  readonly store: StreamStore
  readonly proxy?: FaultProxy
}

/** One worker claims and is paused at the point, another acts, the first continues. */
export async function played(point: Point, scene: Scene): Promise<Played> {
  const { store, claimMs } = scene
  const stream = `s-${randomUUID()}`
  const init = { op: 'init', root: { name: 'Start' }, forks: [{ name: 'A' }, { name: 'A' }], hold: false } as const
  await transact(store, stream, { ...init, born: randomUUID() }, { commandId: 'init', by: 'test' })
  const worker = newWorker(point, scene, stream)
  const acted = Promise.withResolvers<void>()
  await worker.said('claimed')
  const fault = scene.proxy && point.request?.(worker, scene.proxy, acted.promise)
  if (fault !== undefined) scene.proxy?.add(fault)
  worker.endsItsWork()
  await worker.isStopped()
  const stoppedMs = Date.now()
  const another = new Another(store, stream)
  const taking = another.takes(EVENT, NEXT)
  if (point.keepsAllAway) {
    await eventually('the claim is over', () => Date.now() > stoppedMs + claimMs || undefined)
    worker.goOn()
  }
  const taken = await taking
  const leaseId = point.otherHoldsLease ? await leaseByHand(store, stream) : undefined
  acted.resolve()
  worker.goOn()
  const told = await worker.said('reported', 'lost', 'unreported', 'not-claimed')
  await worker.ended
  if (leaseId !== undefined) {
    expect(await store.renewLease(stream, leaseId)).toMatchObject({ kind: 'ok' })
    await store.releaseLease(stream, leaseId)
  }
  if (scene.without === undefined) await another.ends(taken)
  const view = await readStream(store, stream)
  if (view === undefined) throw new Error(`${stream} is gone`)
  const takenUnder = taken.event === EVENT ? taken.fence : undefined
  return { told, ...judge({ stream: view, event: EVENT, told, takenUnder, acknowledged: another.acknowledged }) }
}

function newWorker({ stopsAt }: Point, scene: Scene, stream: string): WorkerProcess {
  const { library, address, claimMs, without, env, started } = scene
  const how = { ...(stopsAt && { stopsAt }), ...(without && { without }) }
  const worker = new WorkerProcess({ library, address, stream, event: EVENT, claimMs, ...how }, env)
  started(worker)
  return worker
}

async function leaseByHand(store: StreamStore, stream: string): Promise<string> {
  const leaseId = randomUUID()
  const holder = { by: 'other', host: 'here', pid: process.pid, purpose: 'test', sinceMs: Date.now() }
  const outcome = await store.acquireLease(stream, { leaseId, durationS: 60, holder, record: false })
  expect(outcome).toMatchObject({ kind: 'acquired' })
  return leaseId
}
