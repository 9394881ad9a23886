import { missingProblem } from '../../cli/outcome-problem.ts'
import type { Output } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { atMs } from '../../cli/time-points.ts'
import { follow } from '../../ops/follow/follow.ts'
import { readStream, type SeenTransaction, type StreamView } from '../../ops/read-stream.ts'
import type { EventStore } from '../../store/store.ts'
import { DEFAULT_INTERVAL_MS, linesOf, type TailOptions } from './options.ts'
import { openPrinter, type Printer } from './output.ts'
import { sentenceOfOne } from './sentences.ts'

/** The last transactions of one stream, and with `-f` those to come. */
export async function tailOne(
  stream: string,
  options: TailOptions,
  store: EventStore,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const view = await readStream(store, stream, runtime.signal)
  if (view === undefined) return missingProblem(stream)
  const printer = openPrinter(options, output, store, false)
  const past = chosen(view, options, printer, runtime.nowMs())
  // Unrecorded foreign writes are left to `follow`, so that each is shown once.
  for (const tx of past) if (!options.follow || !tx.provisional) await printer.print(stream, tx)
  await printer.flush()
  if (options.follow) await followFrom(view, options, store, printer, output, runtime)
  else if (past.length === 0) await output.say('no transactions')
  return undefined
}

function chosen(view: StreamView, options: TailOptions, printer: Printer, nowMs: number): readonly SeenTransaction[] {
  const { since, fromVersion = 0 } = options
  const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : atMs(since, nowMs)
  const wanted = view
    .transactions()
    .filter(tx => tx.provisional || tx.version >= fromVersion)
    .filter(tx => !(Date.parse(tx.at) < sinceMs) && printer.wants(view.name, tx))
  const lines = linesOf(options)
  return lines === 0 ? [] : wanted.slice(-lines)
}

/** What happens to a stream from this state of it on, until the signal aborts. */
export async function followFrom(
  view: StreamView,
  { interval = DEFAULT_INTERVAL_MS }: TailOptions,
  store: EventStore,
  printer: Printer,
  output: Output,
  { signal, nowMs }: Runtime,
): Promise<void> {
  const fromVersion = view.transactions().reduce((last, tx) => (tx.provisional ? last : Math.max(last, tx.version)), 0)
  const { born } = view.document
  let lostAtMs = 0
  for await (const item of follow(store, view.name, { fromVersion, born, intervalMs: interval, signal })) {
    if (item.kind === 'interrupted') lostAtMs = nowMs()
    if (item.kind !== 'transaction') {
      await output.say(`-- ${sentenceOfOne(item, view.name, nowMs() - lostAtMs)}`)
    } else if (printer.wants(view.name, item.tx)) {
      await printer.print(view.name, item.tx)
      await printer.flush()
    }
  }
}
