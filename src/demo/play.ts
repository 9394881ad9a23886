import { randomUUID } from 'node:crypto'
import { type JournalEntry, readStream, type StreamView } from '../ops/read-stream.ts'
import { transact } from '../ops/transact/transact.ts'
import type { StreamStore } from '../store/store.ts'
import { sleep } from '../util/concurrency.ts'
import { searchOrder } from './search-order.ts'
import type { DemoWorkerReport } from './worker.ts'

/** A worker process. The demo ends when all of them have ended. */
export interface WorkerProcess {
  /** Rejects when the process fails. */
  readonly report: Promise<DemoWorkerReport>
  stop(): void
}

export interface PlayOptions {
  readonly stream: string
  readonly by: string
  readonly workers: number
  readonly signal: AbortSignal
  /** Starts a worker in its own process. */
  readonly startWorker: (name: string) => WorkerProcess
  /** Called after every poll of the stream, with the transactions since the last one. */
  readonly show: (view: StreamView, news: readonly JournalEntry[]) => void | Promise<void>
}

/** The result of the demo: the final stream and the report of each worker. */
export interface DemoResult {
  readonly view: StreamView
  readonly reports: readonly DemoWorkerReport[]
}

const POLL_EVERY_MS = 120

/**
 * Plays SearchOrder: creates the stream, starts worker processes and shows every step until the stream is done.
 *
 * @throws the store's faults, a worker's failure, the signal's reason; workers are always stopped
 */
export async function play(store: StreamStore, options: PlayOptions): Promise<DemoResult> {
  await store.createContainer(options.signal)
  const created = await transact(store, options.stream, searchOrder(randomUUID()), {
    commandId: randomUUID(),
    by: options.by,
    why: 'demo',
  })
  if (created.kind !== 'done') throw new Error(`the stream ${options.stream} could not be created: ${created.kind}`)
  const workers = Array.from({ length: options.workers }, (_, at) => options.startWorker(`worker-${at + 1}`))
  const reports = Promise.all(workers.map(worker => worker.report))
  try {
    const view = await Promise.race([watch(store, options), failureOf(reports)])
    return { view, reports: await reports }
  } finally {
    for (const worker of workers) worker.stop()
  }
}

/** Polls the stream until it is done. */
async function watch(store: StreamStore, options: PlayOptions): Promise<StreamView> {
  let version = 0
  for (;;) {
    const view = await readStream(store, options.stream, options.signal)
    if (view === undefined) throw new Error(`the stream ${options.stream} was removed while the demo ran`)
    const news = view.transactions().filter(tx => tx.version > version)
    version = view.document.version
    await options.show(view, news)
    if (view.stream.done) return view
    await sleep(POLL_EVERY_MS, options.signal)
  }
}

/** Rejects when a worker fails. Never resolves, as only a failure matters before the stream is done. */
async function failureOf(reports: Promise<unknown>): Promise<never> {
  await reports
  return new Promise<never>(() => undefined)
}
