import { shellWord } from '../../cli/command-line.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Processes, Runtime } from '../../cli/runtime.ts'
import { type DemoResult, play, type WorkerProcess } from '../../demo/play.ts'
import { type DemoWorkerReport, runDemoWorker } from '../../demo/worker.ts'
import { transactionLines } from '../../formats/journal.ts'
import { showTree } from '../../formats/stream/tree.ts'
import { shownStream } from '../../formats/stream/view.ts'
import type { JournalEntry, StreamView } from '../../ops/read-stream.ts'
import { takeAsSigterm } from '../../process/as-sigterm.ts'
import type { StreamStore } from '../../store/store.ts'
import { clockName, ownAddress } from '../lab/own-streams.ts'
import type { ProgramRuntime } from '../top/dashboard.ts'
import { noScreen } from '../top/run.ts'

export interface DemoOptions extends GlobalOptions {
  readonly speed?: number
  /** Show the demo in the dashboard. */
  readonly top?: boolean
  /** Set in the worker processes that the demo starts. */
  readonly asWorker?: string
  readonly stream?: string
}

const WORKERS = 3
/** Latest transactions shown below the tree on a terminal. */
const LAST_LINES = 6

/** Plays SearchOrder on the given store or else the embedded one, never on a store from the environment. */
export async function playDemo(options: DemoOptions, runtime: ProgramRuntime): Promise<Problem | undefined> {
  const address = await ownAddress('demo', options, runtime)
  const { store } = await runtime.openStore({ store: address })
  const speed = options.speed ?? 1
  if (options.asWorker !== undefined) return work(store, options.asWorker, options.stream ?? '', speed, runtime)
  if (options.top) requireScreen(runtime)
  const output = await openOutput(options, runtime, 'relative')
  const stream = `demo/search-order-${clockName(runtime.nowMs())}`
  await output.say(`${stream} on ${store.address}: ${WORKERS} worker processes contend for its events`)
  const flags = ['--stream', stream, '--speed', String(speed), '--store', store.address]
  const startWorker = (name: string) => workerProcess(runtime, ['--as-worker', name, ...flags])
  if (options.top) {
    const { playInTop } = await import('../top/demo.ts')
    const played = await playInTop({ stream, by: runtime.actor, workers: WORKERS, startWorker }, options, runtime)
    await output.lines([
      ...(played === undefined ? [`${stream} was stopped before its end.`, ''] : closing(played)),
      ...(await suggestions(stream, store, runtime)),
    ])
    return undefined
  }
  // The workers are processes of their own.
  using _signals = takeAsSigterm()
  const stage = await openStage(output, runtime)
  try {
    const { signal, actor: by } = runtime
    const played = await play(store, { stream, by, workers: WORKERS, signal, startWorker, show: stage.show })
    await stage.close()
    await output.lines([
      ...tree(played.view, output),
      '',
      ...closing(played),
      ...(await suggestions(stream, store, runtime)),
    ])
  } finally {
    await stage.close()
  }
  return undefined
}

function requireScreen(runtime: Runtime): void {
  const why = noScreen(runtime)
  if (why === undefined) return
  throw new UsageError(`--top needs a terminal: ${why}`, { hint: 'Without --top the demo prints what happens.' })
}

async function work(
  store: StreamStore,
  name: string,
  stream: string,
  speed: number,
  runtime: Runtime,
): Promise<undefined> {
  const report = await runDemoWorker(store, stream, { name, speed, signal: runtime.signal })
  await runtime.stdout.write(`${JSON.stringify(report)}\n`)
}

function workerProcess(runtime: Processes, words: readonly string[]): WorkerProcess {
  const child = runtime.startSelf(['demo', ...words])
  return { report: child.stdout.then(text => JSON.parse(text) as DemoWorkerReport), stop: () => child.stop() }
}

/** Shows the demo: a live tree on a terminal, otherwise a line per transaction. */
interface Stage {
  readonly show: (view: StreamView, news: readonly JournalEntry[]) => Promise<void>
  close(): Promise<void>
}

async function openStage(output: Output, runtime: Runtime): Promise<Stage> {
  if (runtime.stdout.isTty && runtime.env.TERM !== 'dumb' && !runtime.env.CI) return liveStage(output, runtime)
  const show: Stage['show'] = async (view, news) => {
    for (const tx of news) await output.lines(linesOf(tx, view, output, 'local'))
  }
  return { show, close: async () => {} }
}

async function liveStage(output: Output, runtime: Runtime): Promise<Stage> {
  const live = await runtime.openLiveView()
  let closed = false
  return {
    show: async view => {
      const tail = view
        .transactions()
        .slice(-LAST_LINES)
        .flatMap(tx => linesOf(tx, view, output, 'local').slice(0, 1))
      live.draw([...tree(view, output), '', ...tail])
    },
    close: async () => {
      if (!closed) await live.close()
      closed = true
    },
  }
}

function tree(view: StreamView, { time, paint, width }: Output): string[] {
  return showTree(shownStream(view), { time, paint, ...(width === undefined ? {} : { width }) })
}

function linesOf(tx: JournalEntry, view: StreamView, { paint }: Output, time: 'local'): string[] {
  return transactionLines(tx, { time, nowMs: view.nowMs, paint, provisional: tx.provisional })
}

function closing({ view, reports }: DemoResult): string[] {
  const ended = reports.map(({ worker, ended }) => `${worker} ${ended}`).join(', ')
  const lost = reports.reduce((sum, { racesLost }) => sum + racesLost, 0)
  return [
    `${view.document.version} transactions under the lease, each applied once.`,
    `Events ended: ${ended}; races for an event lost: ${lost}.`,
    'Supplier 3 failed early, so the order completed with errors, whichever branch ended last.',
    '',
  ]
}

async function suggestions(stream: string, store: StreamStore, runtime: Runtime): Promise<string[]> {
  const usual = await runtime.describeStore({})
  const where = usual.address === store.address ? '' : ` --store ${shellWord(store.address)}`
  const line = (words: string) => `  ${runtime.startedAs} ${words}${where}`
  return [
    'Next:',
    line(`tail -n all ${stream}`),
    line(`show -o xml ${stream}`),
    line('init orders/4711 --fork Search,Pay --join Done'),
  ]
}
