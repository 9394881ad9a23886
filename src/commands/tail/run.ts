import { missingProblem } from '../../cli/outcome-problem.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { readSelection } from '../../cli/selection/read.ts'
import { openStoreFor } from '../../cli/store.ts'
import { guardSearches, keepHeapSmall } from '../../cli/v8-flags.ts'
import { sinceMsOf } from '../../cli/values.ts'
import { follow } from '../../ops/follow/follow.ts'
import { type JournalEntry, readStream, type StreamView } from '../../ops/read-stream.ts'
import type { Selection } from '../../ops/selection.ts'
import type { StreamStore } from '../../store/store.ts'
import { tailMany } from './many.ts'
import { DEFAULT_INTERVAL_MS, linesOf, type TailOptions } from './options.ts'
import { noticeOfOne, openPrinter, type TransactionPrinter } from './output.ts'

/** Prints the latest transactions of one stream or many, and with `-f` new ones as they come. */
export async function tailStreams(options: TailOptions, runtime: Runtime): Promise<Problem | undefined> {
  if (options.interval !== undefined && !options.follow) throw new UsageError('--interval needs -f')
  const selection = await selectionOf(options, runtime)
  const only = selection.kind === 'names' && selection.names.length === 1 ? selection.names[0] : undefined
  if (only === undefined && options.fromVersion !== undefined) {
    throw new UsageError('--from-version needs a single stream: every stream has its own versions', {
      hint: 'Give one stream, or use --since.',
    })
  }
  if (options.include ?? options.exclude ?? options.highlight) await guardSearches()
  const output = await openOutput(options, runtime, 'local')
  const store = await openStoreFor(options, runtime, output)
  if (only !== undefined) return tailOne(only, options, store, output, runtime)
  await keepHeapSmall()
  return tailMany(selection, options, store, output, runtime)
}

/** Without a name or filter, all streams are selected, provided that another flag bounds the output. */
async function selectionOf(options: TailOptions, runtime: Runtime): Promise<Selection> {
  const { since, stream, names = stream === undefined ? [] : [stream], ...which } = options
  const selection = await readSelection({ ...which, names }, runtime)
  if (selection !== undefined) return selection
  if (options.follow || since !== undefined) return { kind: 'filter', filter: {} }
  throw new UsageError('tail needs streams', {
    hint: 'Give stream names, -f to follow all, --since 1h, or a filter such as --match.',
  })
}

/** As `tailStreams`, for one stream. */
async function tailOne(
  stream: string,
  options: TailOptions,
  store: StreamStore,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const view = await readStream(store, stream, runtime.signal)
  if (view === undefined) return missingProblem(stream)
  const printer = openPrinter(options, output, store, false)
  const past = chosen(view, options, printer, runtime.nowMs())
  // `follow` shows writes by other programs that are not in the journal yet, so they are skipped here.
  for (const tx of past) if (!options.follow || !tx.provisional) await printer.print(stream, tx)
  await printer.flush()
  if (options.follow) await followFrom(view, options, store, printer, output, runtime)
  else if (past.length === 0) await output.say('no transactions')
  return undefined
}

function chosen(
  view: StreamView,
  options: TailOptions,
  printer: TransactionPrinter,
  nowMs: number,
): readonly JournalEntry[] {
  const { since, fromVersion = 0 } = options
  const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : sinceMsOf(since, nowMs)
  const wanted = view
    .transactions()
    .filter(tx => tx.provisional || tx.version >= fromVersion)
    .filter(tx => !(Date.parse(tx.at) < sinceMs) && printer.wants(view.name, tx))
  const lines = linesOf(options)
  return lines === 0 ? [] : wanted.slice(-lines)
}

/** Prints what happens to a stream after this state of it, until the signal aborts. */
export async function followFrom(
  view: StreamView,
  { interval = DEFAULT_INTERVAL_MS }: TailOptions,
  store: StreamStore,
  printer: TransactionPrinter,
  output: Output,
  { signal, nowMs }: Runtime,
): Promise<void> {
  const fromVersion = view.transactions().reduce((last, tx) => (tx.provisional ? last : Math.max(last, tx.version)), 0)
  const { born } = view.document
  let lostAtMs = 0
  for await (const item of follow(store, view.name, { fromVersion, born, intervalMs: interval, signal })) {
    if (item.kind === 'interrupted') lostAtMs = nowMs()
    if (item.kind !== 'transaction') {
      await output.say(`-- ${noticeOfOne(item, view.name, nowMs() - lostAtMs)}`)
    } else if (printer.wants(view.name, item.tx)) {
      await printer.print(view.name, item.tx)
      await printer.flush()
    }
  }
}
