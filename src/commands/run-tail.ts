import { jsonLine } from '../formats/json.ts'
import { transactionJson, transactionLines } from '../formats/transaction-text.ts'
import { type FollowItem, follow } from '../ops/follow.ts'
import { readStream, type SeenTransaction, type StreamView } from '../ops/read-stream.ts'
import type { EventStore } from '../store/store.ts'
import { visibleText } from '../stream/texts.ts'
import type { GlobalOptions } from './options.ts'
import { missingProblem } from './outcome-problem.ts'
import { type Output, openOutput } from './output.ts'
import { type Problem, UsageError } from './problem.ts'
import type { Runtime } from './runtime.ts'
import { openStoreFor } from './store.ts'

export interface TailOptions extends GlobalOptions {
  readonly stream: string
  readonly follow?: boolean
  /** How many of the last transactions; `Infinity` for all. */
  readonly lines?: number
  /** ms between two looks. */
  readonly interval?: number
  readonly fromVersion?: number
}

const DEFAULT_LINES = 10
const DEFAULT_INTERVAL_MS = 1_000

/** The last transactions, and with `-f` those to come. */
export async function tailStream(options: TailOptions, runtime: Runtime): Promise<Problem | undefined> {
  if (options.interval !== undefined && !options.follow) throw new UsageError('--interval needs -f')
  const output = await openOutput(options, runtime, 'local')
  const store = await openStoreFor(options, runtime, output)
  const view = await readStream(store, options.stream, runtime.signal)
  if (view === undefined) return missingProblem(options.stream)
  const print = printer(options, output, store)
  const past = chosen(view, options)
  if (!options.follow) {
    for (const tx of past) await print(tx)
    if (past.length === 0) await output.say('no transactions')
    return undefined
  }
  const recorded = past.filter(tx => !tx.provisional)
  for (const tx of recorded) await print(tx)
  await followFrom(view, options, store, print, output, runtime)
  return undefined
}

/** Unrecorded foreign writes are left to `follow`, so that each is shown once. */
function chosen(view: StreamView, { lines = DEFAULT_LINES, fromVersion }: TailOptions): readonly SeenTransaction[] {
  const all = view.transactions()
  if (fromVersion !== undefined) return all.filter(tx => tx.provisional || tx.version >= fromVersion)
  return lines === 0 ? [] : all.slice(-lines)
}

async function followFrom(
  view: StreamView,
  { stream, interval }: TailOptions,
  store: EventStore,
  print: (tx: SeenTransaction) => Promise<void>,
  output: Output,
  runtime: Runtime,
): Promise<void> {
  const fromVersion = view.transactions().reduce((last, tx) => (tx.provisional ? last : Math.max(last, tx.version)), 0)
  const { born } = view.document
  const intervalMs = interval ?? DEFAULT_INTERVAL_MS
  for await (const item of follow(store, stream, { fromVersion, born, intervalMs, signal: runtime.signal })) {
    if (item.kind === 'transaction') await print(item.tx)
    else await output.say(`-- ${sentence(item, visibleText(stream))}`)
  }
}

function sentence(item: Exclude<FollowItem, { kind: 'transaction' }>, stream: string): string {
  switch (item.kind) {
    case 'interrupted':
      return `connection lost: ${visibleText(item.cause instanceof Error ? item.cause.message : String(item.cause))}; trying again`
    case 'resumed':
      return item.missed
        ? `connected again; ${stream} was created anew meanwhile`
        : 'connected again; nothing was missed'
    case 'done':
      return `${stream} is done; a retry may reopen it (Ctrl-C ends)`
    case 'gone':
      return `${stream} was removed; waiting for it to come back (Ctrl-C ends)`
    default:
      return item satisfies never
  }
}

function printer({ output: format, stream }: TailOptions, output: Output, store: EventStore) {
  if (format === 'ndjson')
    return (tx: SeenTransaction) => output.text(jsonLine(transactionJson(stream, tx, tx.provisional)))
  return (tx: SeenTransaction) =>
    output.lines(
      transactionLines(tx, {
        time: output.time,
        nowMs: store.nowMs(),
        paint: output.paint,
        provisional: tx.provisional,
      }),
    )
}
