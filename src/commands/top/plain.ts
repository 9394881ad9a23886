import { errorProblem } from '../../cli/error-problem.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { CommandFailed, type Problem } from '../../cli/problem.ts'
import { tellProblem } from '../../cli/problem-text.ts'
import type { Runtime, RuntimeStore } from '../../cli/runtime.ts'
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
import { LeasectlError } from '../../stream/errors.ts'
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
function plainInterval({ interval }: TopOptions, store: StreamStore): number {
  return interval ?? usualIntervalMs(store)
}

/** The streams as a table, or in words. With several contexts `context` is that of the store. */
async function listStreams(options: TopOptions, store: StreamStore, output: Output, runtime: Runtime): Promise<void> {
  const { contexts: _, sort: __, ...ofStore } = options
  const limit = options.limit ?? FIRST_STREAMS
  if (options.accessible || runtime.env.ACCESSIBLE === '1') await listInWords(options, limit, store, output, runtime)
  else await list({ ...ofStore, limit }, store, output, runtime)
}

/** Prints the transactions of the streams as they come, those of one of several stores with its name. */
function followStreams(
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

/**
 * Several stores as lines: the streams of each below its name once it has answered, then the transactions of all. A store
 * that does not answer is told and tried again; one that cannot be read at all is told and left out. Runs until a signal.
 *
 * @returns the problem of the first store if none of them can be read
 */
export async function plainSeveral(
  options: TopOptions,
  stores: readonly RuntimeStore[],
  runtime: Runtime,
): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const news = await openOutput(options, runtime, 'local')
  const problems = await Promise.all(stores.map(store => showOne(options, store, output, news, runtime)))
  const [first] = problems
  return problems.every(problem => problem !== undefined) ? first : undefined
}

async function showOne(
  options: TopOptions,
  opened: RuntimeStore,
  output: Output,
  news: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { store, context = '' } = opened
  const since = { kind: 'at', ms: store.nowMs() } as const
  try {
    await listUntilAnswered(options, opened, output, runtime)
    if (runtime.signal.aborted) return undefined
    return await followStreams({ ...options, context }, since, store, sayingOf(news, context), runtime)
  } catch (error) {
    const isExpected = error instanceof LeasectlError || error instanceof CommandFailed
    if (runtime.signal.aborted || !isExpected) throw error
    const problem = errorProblem(error, runtime, opened)
    await tellProblem({ ...problem, message: `${context}: ${problem.message}` }, options, runtime)
    return problem
  }
}

/** Lists the streams of a store in one piece, so that those of other stores do not come between them. */
async function listUntilAnswered(
  options: TopOptions,
  { store, context = '' }: RuntimeStore,
  output: Output,
  runtime: Runtime,
): Promise<void> {
  let isTold = false
  while (!runtime.signal.aborted) {
    const { piece, text } = pieceOf(output)
    try {
      await listStreams({ ...options, context }, store, piece, runtime)
      return await output.text(`${visibleText(`${context}, ${store.address}`)}\n${text()}\n`)
    } catch (cause) {
      if (!(cause instanceof StoreUnreachable) || runtime.signal.aborted) throw cause
      if (!isTold) await output.say(`-- ${context}: ${visibleText(cause.message)}; trying again`)
      isTold = true
      await sleepUntilAborted(plainInterval(options, store), runtime.signal)
    }
  }
}

/** An output that keeps what is written to it. */
function pieceOf(output: Output): { readonly piece: Output; text(): string } {
  const parts: string[] = []
  const keep = async (text: string | Uint8Array) =>
    void parts.push(typeof text === 'string' ? text : Buffer.from(text).toString())
  const piece: Output = {
    ...output,
    text: keep,
    lines: async lines => (lines.length === 0 ? undefined : keep(`${lines.join('\n')}\n`)),
  }
  return { piece, text: () => parts.join('') }
}

/** Its messages name the store. */
function sayingOf(output: Output, context: string): Output {
  return { ...output, say: sentence => output.say(sentence.replace(/^(-- )?/, `$1${visibleText(context)}: `)) }
}
