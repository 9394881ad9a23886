import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { VERSION } from '../../cli/version.ts'
import { jsonText } from '../../formats/json.ts'
import { CHROME_TRACE, chromeTraceText } from '../../formats/traces/chrome.ts'
import { type OtelOptions, type ResourceSpans, resourceSpans } from '../../formats/traces/otel.ts'
import type { StreamView } from '../../ops/read-stream.ts'
import { ownText } from '../../util/strings.ts'
import { goneOutcome, problemOutcome, type TransferOutcome } from '../transfer/outcome.ts'
import { openReport } from '../transfer/report.ts'
import { transfer } from '../transfer/transfer.ts'
import { load, unreadableOutcome } from './documents.ts'
import { type Endpoint, openEndpoint } from './otlp.ts'
import { openFileSink, type TextSink } from './output-file.ts'
import type { ExportRequest, ExportTarget } from './target.ts'

type Traces = Extract<ExportTarget, { readonly kind: 'traces' }>

/** Exports the traces of all streams to a file, to stdout or to a collector. */
export async function exportTraces(
  target: Traces,
  { store, names, options, output, runtime }: ExportRequest,
): Promise<Problem | undefined> {
  const to = await openTarget(target, options.replace === true, runtime)
  const report = openReport(target.to === undefined ? 'none' : 'text', options, output, runtime)
  const work = async (name: string) => {
    const loaded = await load(store, name)
    if (loaded.kind === 'gone') return goneOutcome(name)
    if (loaded.kind === 'unreadable') return unreadableOutcome(name, loaded.error, runtime)
    return () => to.add(loaded.view)
  }
  const { concurrency } = options
  try {
    const stopped = await transfer({ items: names, nameOf: name => name, work, concurrency }, report, runtime)
    // A file without some of the streams would look complete.
    if (stopped !== undefined) await to.abandon()
    const last = stopped === undefined ? await to.end() : []
    for (const outcome of last) await report.add(outcome)
    return await report.end(stopped ?? last.find(({ stop }) => stop)?.problem)
  } catch (error) {
    await to.abandon()
    throw error
  }
}

async function openTarget({ format, to }: Traces, replace: boolean, runtime: Runtime): Promise<TraceTarget> {
  const options = { service: runtime.env.OTEL_SERVICE_NAME || 'leasectl', version: VERSION }
  if (to !== undefined && 'endpoint' in to) return endpointTarget(openEndpoint(to.endpoint, runtime), options)
  const sink = to === undefined ? stdoutSink(runtime) : await openFileSink(to.file, { replace })
  return format === 'chrome' ? chromeTarget(sink, to?.file) : otlpTarget(sink, options, to?.file)
}

function stdoutSink({ stdout }: Runtime): TextSink {
  return { write: text => stdout.write(text), finish: async () => {}, abandon: async () => {} }
}

/** A destination for traces of many streams. It returns the outcome of a stream once that is known. */
interface TraceTarget {
  add(view: StreamView): Promise<readonly TransferOutcome[]>
  end(): Promise<readonly TransferOutcome[]>
  abandon(): Promise<void>
}

/** Spans per line or request: collectors limit the size of both. */
const MAX_SPANS = 500

/** One document for a trace viewer. Its streams are done when it is complete. @param file path of the file, if any */
function chromeTarget(sink: TextSink, file?: string): TraceTarget {
  const names: string[] = []
  return {
    async add(view) {
      names.push(ownText(view.name))
      await sink.write((names.length === 1 ? CHROME_TRACE.head : ',\n') + chromeTraceText(view, names.length))
      return []
    },
    async end() {
      await sink.write(names.length === 0 ? CHROME_TRACE.head + CHROME_TRACE.tail : CHROME_TRACE.tail)
      await sink.finish()
      return names.map(name => written(name, file))
    },
    abandon: () => sink.abandon(),
  }
}

/** One JSON document per line, as in OpenTelemetry's file format. */
function otlpTarget(sink: TextSink, options: OtelOptions, file?: string): TraceTarget {
  const names: string[] = []
  return {
    async add(view) {
      names.push(ownText(view.name))
      for (const part of resourceSpans(view, options, MAX_SPANS)) await sink.write(otlpText([part]))
      return []
    },
    async end() {
      await sink.finish()
      return names.map(name => written(name, file))
    },
    abandon: () => sink.abandon(),
  }
}

/** Requests to a collector. Each holds several small streams or part of a large one. */
function endpointTarget(endpoint: Endpoint, options: OtelOptions): TraceTarget {
  let parts: ResourceSpans[] = []
  let spans = 0
  const send = async (request: readonly ResourceSpans[], streams: readonly string[]) => {
    const why = await endpoint.send(otlpText(request))
    return streams.map(stream => sent(stream, why))
  }
  let waiting: string[] = []
  const flush = async () => {
    const [request, streams] = [parts, waiting]
    parts = []
    waiting = []
    spans = 0
    return streams.length === 0 ? [] : send(request, streams)
  }
  return {
    async add(view) {
      const own = resourceSpans(view, options, MAX_SPANS)
      const first = own.next()
      if (first.done) return [empty(view.name)]
      const count = spansIn(first.value)
      const before = spans + count > MAX_SPANS ? await flush() : []
      if (count === MAX_SPANS) return [...before, await sendAll(startingWith(first.value, own), view.name, send)]
      parts.push(first.value)
      spans += count
      waiting.push(view.name)
      return before
    },
    end: flush,
    abandon: async () => {},
  }
}

type Send = (request: readonly ResourceSpans[], streams: readonly string[]) => Promise<readonly TransferOutcome[]>

async function sendAll(parts: Iterable<ResourceSpans>, stream: string, send: Send): Promise<TransferOutcome> {
  for (const part of parts) {
    const refused = (await send([part], [stream])).find(({ problem }) => problem !== undefined)
    if (refused !== undefined) return refused
  }
  return sent(stream, undefined)
}

function* startingWith<T>(first: T, others: Iterable<T>): Generator<T> {
  yield first
  yield* others
}

/** A collector that refuses one stream would refuse the others too, unless it rejected single spans. */
function sent(stream: string, why: Problem | undefined): TransferOutcome {
  if (why === undefined) return { stream, word: 'done', note: 'sent' }
  return { ...problemOutcome('failed', stream, why), stop: why.code !== 'spans-refused' }
}

function empty(stream: string): TransferOutcome {
  return { stream, word: 'done', note: 'no events, so no spans' }
}

function spansIn({ scopeSpans }: ResourceSpans): number {
  return scopeSpans.reduce((sum, scope) => sum + scope.spans.length, 0)
}

function otlpText(parts: readonly ResourceSpans[]): string {
  return `${jsonText({ resourceSpans: parts }, 0)}\n`
}

function written(stream: string, file: string | undefined): TransferOutcome {
  return { stream, word: 'done', note: 'written', ...(file === undefined ? {} : { place: file }) }
}
