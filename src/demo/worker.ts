import { randomUUID } from 'node:crypto'
import { readStream, type StreamView } from '../ops/read-stream.ts'
import { transact } from '../ops/transact/transact.ts'
import type { StreamStore } from '../store/store.ts'
import { isFinal, type StreamEvent } from '../stream/event.ts'
import type { Operation } from '../stream/operations/operation.ts'
import { claimRuns } from '../stream/time/deadlines.ts'
import { sleep } from '../util/concurrency.ts'
import { type DemoJob, jobFor } from './search-order.ts'

export interface DemoWorkerOptions {
  readonly name: string
  /** Speed-up factor. */
  readonly speed: number
  readonly signal: AbortSignal
}

/** The final report of a worker. */
export interface DemoWorkerReport {
  readonly worker: string
  /** Events that it ended. */
  readonly ended: number
  /** Events that another worker claimed first. */
  readonly racesLost: number
}

const CLAIM_MS = 3_000
const POLL_EVERY_MS = 80

/** Works on the stream until it is done: finds an event, claims it, works and reports. Other workers do the same. */
export async function runDemoWorker(
  store: StreamStore,
  stream: string,
  options: DemoWorkerOptions,
): Promise<DemoWorkerReport> {
  let ended = 0
  let racesLost = 0
  for (;;) {
    options.signal.throwIfAborted()
    const view = await readStream(store, stream, options.signal)
    if (view === undefined || view.stream.done) return { worker: options.name, ended, racesLost }
    const event = workable(view)
    const fence = event && (await claim(store, stream, event, options.name))
    if (event === undefined) await sleep(POLL_EVERY_MS / options.speed, options.signal)
    else if (fence === undefined) racesLost++
    else if (await work(store, stream, event, fence, options)) ended++
  }
}

/** The first event that can be started. Every worker picks the same one, so they race for it. */
function workable(view: StreamView): StreamEvent | undefined {
  return view.stream.events.find(event => {
    if (event.status === 'init') return true
    const abandoned = event.status === 'inprocess' && event.lc.owner !== undefined && !claimRuns(event, view.nowMs)
    return abandoned && !isFinal(event)
  })
}

/** The fence of the claim; `undefined` if another worker was faster. */
async function claim(
  store: StreamStore,
  stream: string,
  event: StreamEvent,
  owner: string,
): Promise<number | undefined> {
  const outcome = await change(store, stream, { op: 'start', event: event.id, owner, claimMs: CLAIM_MS }, owner)
  return outcome.kind === 'done' ? outcome.result.claim?.fence : undefined
}

async function work(
  store: StreamStore,
  stream: string,
  event: StreamEvent,
  fence: number,
  { name, speed, signal }: DemoWorkerOptions,
): Promise<boolean> {
  const job = jobFor(event)
  const heartbeatMs = CLAIM_MS / 3
  for (let leftMs = job.workMs / speed; leftMs > 0; leftMs -= heartbeatMs) {
    await sleep(Math.min(leftMs, heartbeatMs), signal)
    if (leftMs <= heartbeatMs) break
    await change(store, stream, { op: 'touch', event: event.id, fence, claimMs: CLAIM_MS, msg: job.progress }, name)
  }
  const outcome = await change(store, stream, report(event, fence, job), name)
  return outcome.kind === 'done'
}

function report(event: StreamEvent, fence: number, job: DemoJob): Operation {
  const target = { event: event.id, fence }
  const msg = job.msg === undefined ? {} : { msg: job.msg }
  if (job.end === 'complete') return { op: 'complete', ...target, ...msg }
  if (job.end === 'fail') return { op: 'fail', ...target, ...msg }
  return { op: 'advance', ...target, forks: job.forks, ...(job.next === undefined ? {} : { next: job.next }) }
}

function change(store: StreamStore, stream: string, operation: Operation, by: string) {
  return transact(store, stream, operation, { commandId: randomUUID(), by })
}
