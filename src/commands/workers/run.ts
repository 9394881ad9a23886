import { nothingText, showCount } from '../../cli/counter.ts'
import { openProgressLine } from '../../cli/output/progress-line.ts'
import { type StoreReading, watch } from '../../cli/output/redraw.ts'
import { type Output, openOutput, writeCsv, writeTexts } from '../../cli/output.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { filterOf } from '../../cli/selection/read.ts'
import { openStoreFor, usualIntervalMs } from '../../cli/store.ts'
import { jsonDocument, jsonLine } from '../../formats/json.ts'
import {
  claimedJson,
  stepLoadJson,
  WORKER_LINE_FIELDS,
  workerJson,
  workerTables,
} from '../../formats/listing/workers.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import type { StreamFilter } from '../../ops/filter.ts'
import { summaries } from '../../ops/summaries.ts'
import { WorkerTally } from '../../ops/workers.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { WorkersOptions } from './options.ts'

/** Shows what workers have claimed, once or again and again. */
export async function showWorkers(options: WorkersOptions, runtime: Runtime): Promise<undefined> {
  checkOptions(options, runtime)
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  if (options.watch) {
    const intervalMs = options.interval ?? usualIntervalMs(store)
    const read = () => reading(options, store, output, runtime)
    await watch(read, { title: visibleText(store.address), intervalMs, output, runtime })
    return
  }
  const filter = filterOf(options, runtime.nowMs())
  const progress = openProgressLine(options, runtime)
  const startMs = runtime.nowMs()
  let tally: WorkerTally
  try {
    tally = await tallyOf(options, filter ?? {}, store, runtime, streams =>
      showCount(streams, startMs, progress, runtime),
    )
  } finally {
    await progress.clear()
  }
  await write(options, tally, store, output)
  if (options.quiet) return
  if (tally.streams === 0) await output.say(await nothingText(store, filter !== undefined, runtime))
  else await output.say(totalsText(tally))
}

async function tallyOf(
  { events = false }: WorkersOptions,
  filter: StreamFilter,
  store: StreamStore,
  { signal }: Runtime,
  onPage: (streams: number) => Promise<void> = async () => {},
): Promise<WorkerTally> {
  const ofEvents = filter.abandoned ? { eventState: ['abandoned'], ...filter } : filter
  const tally = new WorkerTally(ofEvents, { keepsEvents: events })
  for await (const page of summaries(store, filter, { signal, wholeLists: true })) {
    for (const item of page) tally.add(item, store.nowMs())
    await onPage(tally.streams)
  }
  return tally
}

async function write(
  { output: format }: WorkersOptions,
  tally: WorkerTally,
  store: StreamStore,
  output: Output,
): Promise<void> {
  const [workers, steps, events] = [tally.workers(), tally.steps(), tally.events()]
  const nowMs = store.nowMs()
  switch (format) {
    case 'json': {
      const { streams, unreadable } = tally
      return output.text(
        jsonDocument({
          workers: workers.map(workerJson),
          steps: steps.map(stepLoadJson),
          events: tally.keepsEvents ? events.map(event => claimedJson(event, nowMs)) : null,
          streams,
          unreadable,
        }),
      )
    }
    case 'ndjson':
    case 'csv': {
      const lines = [
        ...workers.map(worker => ({ record: 'worker', ...workerJson(worker) })),
        ...steps.map(step => ({ record: 'step', ...stepLoadJson(step) })),
        ...events.map(event => ({ record: 'event', ...claimedJson(event, nowMs) })),
      ]
      return format === 'csv' ? writeCsv(WORKER_LINE_FIELDS, lines, output) : writeTexts(lines.map(jsonLine), output)
    }
    default: {
      const { paint, width, time } = output
      return output.lines(
        workerTables({ workers, steps, events }, nowMs, time, { paint, ...(width === undefined ? {} : { width }) }),
      )
    }
  }
}

async function reading(
  options: WorkersOptions,
  store: StreamStore,
  output: Output,
  runtime: Runtime,
): Promise<StoreReading> {
  const tally = await tallyOf(options, filterOf(options, runtime.nowMs()) ?? {}, store, runtime)
  const tables = { workers: tally.workers(), steps: tally.steps(), events: tally.events() }
  const lines = (width: number | undefined) =>
    workerTables(tables, store.nowMs(), output.time, { paint: output.paint, ...(width === undefined ? {} : { width }) })
  const total = Math.max(0, lines(undefined).length - 1)
  return {
    text: totalsText(tally),
    total,
    drawable: total,
    lines: (rows, { width }) => lines(width).slice(0, rows + 1),
  }
}

/** `12 workers, 240 events running, 80 abandoned, 1 200 ready; 2 streams cannot be read` */
function totalsText(tally: WorkerTally): string {
  const steps = tally.steps()
  const sum = (of: (step: (typeof steps)[number]) => number) =>
    countText(steps.reduce((total, step) => total + of(step), 0))
  const events = `events: ${sum(step => step.ready)} ready, ${sum(step => step.running)} running, ${sum(step => step.abandoned)} abandoned`
  const bad = tally.unreadable === 0 ? '' : `; ${counted(tally.unreadable, 'stream')} cannot be read`
  return `${counted(tally.workers().length, 'worker')}, ${counted(steps.length, 'step')}; ${events}${bad}`
}

/** @throws UsageError if flags contradict each other */
function checkOptions({ interval, watch, output = 'table' }: WorkersOptions, { stdout, env }: Runtime): void {
  if (interval !== undefined && !watch) throw new UsageError('--interval needs -w')
  if (!watch) return
  if (output !== 'table') throw new UsageError(`-w does not go with -o ${output}`, { hint: 'Run workers in a loop.' })
  if (!stdout.isTty || env.TERM === 'dumb') {
    throw new UsageError('-w redraws the screen, and standard output is not a terminal that can', {
      hint: 'Run workers in a loop.',
    })
  }
}
