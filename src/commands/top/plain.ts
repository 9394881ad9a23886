import { type Output, openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { filterOf } from '../../cli/selection/read.ts'
import { usualIntervalMs } from '../../cli/store.ts'
import { textFormat } from '../../formats/field.ts'
import { healthOf } from '../../formats/listing/health.ts'
import { healthInWords, streamInWords } from '../../formats/listing/words.ts'
import { showTree } from '../../formats/stream/tree.ts'
import { shownStream } from '../../formats/stream/view.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import { viewInboxes } from '../../inbox/view.ts'
import { readStream, type StreamView } from '../../ops/read-stream.ts'
import { type SummarizedStream, summaries } from '../../ops/summaries.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { inboxInWords } from '../inbox/text.ts'
import { list } from '../ls/run.ts'
import { styleOf } from '../show/print.ts'
import { tailMany } from '../tail/many.ts'
import type { TailOptions } from '../tail/options.ts'
import { noticeOfOne, openPrinter } from '../tail/output.ts'
import { followFrom } from '../tail/run.ts'
import type { TopOptions } from './options.ts'

/** Number of streams listed at the start. */
const FIRST_STREAMS = 200

/**
 * The dashboard as lines, for pipes and screen readers: the streams once, then their transactions. Nothing is redrawn in
 * place. Runs until a signal.
 */
export async function plainTop(
  options: TopOptions,
  store: StreamStore,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  // transactions have local times, as in tail
  const news = await openOutput(options, runtime, 'local')
  const interval = plainInterval(options, store)
  if (options.stream === undefined) return plainStreams(options, store, output, news, runtime)
  const view = await awaited(options.stream, interval, store, output, runtime)
  if (view === undefined) return undefined
  await output.lines([...showTree(shownStream(view), styleOf(output)), ''])
  const printer = openPrinter({}, news, store, false)
  await followFrom(view, { interval }, store, printer, news, runtime)
  return undefined
}

async function plainStreams(
  { sort: _, ...options }: TopOptions,
  store: StreamStore,
  output: Output,
  news: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  // includes transactions made during the listing
  const since = { kind: 'at', ms: store.nowMs() } as const
  await listStreams(options, store, output, runtime)
  await output.lines([''])
  return runtime.signal.aborted ? undefined : followStreams(options, since, store, news, runtime)
}

/** Time between polls, ms. */
export function plainInterval({ interval }: TopOptions, store: StreamStore): number {
  return interval ?? usualIntervalMs(store)
}

/** The streams as a table, or in words. With several contexts `context` is that of the store. */
export async function listStreams(
  options: TopOptions,
  store: StreamStore,
  output: Output,
  runtime: Runtime,
): Promise<void> {
  const { contexts: _, sort: __, ...ofStore } = options
  const limit = options.limit ?? FIRST_STREAMS
  if (options.accessible || runtime.env.ACCESSIBLE === '1') await listInWords(options, limit, store, output, runtime)
  else await list({ ...ofStore, limit }, store, output, runtime)
}

/** Prints the transactions of the streams as they come, those of one of several stores with its name. */
export function followStreams(
  options: TopOptions,
  since: TailOptions['since'],
  store: StreamStore,
  news: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const filter = filterOf(options, runtime.nowMs()) ?? {}
  const tail: TailOptions = { follow: true, interval: plainInterval(options, store), ...placeOf(options) }
  return tailMany({ kind: 'filter', filter }, since === undefined ? tail : { ...tail, since }, store, news, runtime)
}

function placeOf({ contexts, context }: TopOptions): Pick<TailOptions, 'place'> {
  return contexts === undefined || context === undefined ? {} : { place: context }
}

/** A sentence for each stream, which a screen reader reads without its columns, and one for all. */
async function listInWords(
  options: TopOptions,
  limit: number,
  store: StreamStore,
  output: Output,
  { signal, nowMs }: Runtime,
): Promise<void> {
  const filter = filterOf(options, nowMs()) ?? {}
  const { place } = placeOf(options)
  const before = place === undefined ? '' : `${visibleText(place)}:`
  const all: Pick<SummarizedStream, 'summary' | 'fault'>[] = []
  for await (const page of summaries(store, filter, { signal })) {
    const format = textFormat(store.nowMs(), output.time)
    const lines = page.slice(0, Math.max(0, limit - all.length)).map(item => `${before}${streamInWords(item, format)}`)
    if (lines.length > 0) await output.lines(lines)
    for (const { summary, fault } of page) all.push({ summary, fault })
  }
  const rest = all.length - limit
  const more = rest > 0 ? `; ${counted(rest, 'stream')} not listed, --limit lists more` : ''
  await output.lines([
    `${before === '' ? '' : `${before} `}${healthInWords(all.length, healthOf(all, store.nowMs()))}${more}`,
  ])
  if (Object.keys(filter).length === 0) await listInboxesInWords(store, output, signal)
}

/** Bytes of a partition that are read to count what waits. */
const COUNTED_BYTES = 256 * 1024

async function listInboxesInWords(store: StreamStore, output: Output, signal: AbortSignal): Promise<void> {
  for await (const view of viewInboxes(store, { countedBytes: COUNTED_BYTES, signal }))
    await output.lines([inboxInWords(view, store.nowMs())])
}

/** Waits for a stream of this name; `undefined` after a signal. @throws faults of the first read */
async function awaited(
  name: string,
  intervalMs: number,
  store: StreamStore,
  output: Output,
  { signal, nowMs }: Runtime,
): Promise<StreamView | undefined> {
  let view = await readStream(store, name, signal)
  if (view === undefined)
    await output.say(`-- there is no stream ${visibleName(name)} yet; waiting for it (Ctrl-C ends)`)
  let lostAtMs: number | undefined
  const tell = (item: Parameters<typeof noticeOfOne>[0], outageMs = 0) =>
    output.say(`-- ${noticeOfOne(item, name, outageMs)}`)
  while (view === undefined && !signal.aborted) {
    await sleepUntilAborted(intervalMs, signal)
    try {
      view = await readStream(store, name, signal)
      if (lostAtMs !== undefined) await tell({ kind: 'resumed', missed: false }, nowMs() - lostAtMs)
      lostAtMs = undefined
    } catch (cause) {
      if (signal.aborted) return undefined
      if (!(cause instanceof StoreUnreachable)) throw cause
      if (lostAtMs === undefined) await tell({ kind: 'interrupted', cause })
      lostAtMs ??= nowMs()
    }
  }
  return view
}
