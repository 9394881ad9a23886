import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { VERSION } from '../../cli/version.ts'
import { openReport } from '../transfer/report.ts'
import { DEFAULT_CONCURRENCY, finished, transfer } from '../transfer/transfer.ts'
import { gone, load, unreadable } from './load.ts'
import { openEndpoint } from './otlp.ts'
import { openFileSink, type Sink } from './output-file.ts'
import type { ExportRequest } from './request.ts'
import type { ExportTarget } from './target.ts'
import { chromeTarget, endpointTarget, otlpTarget, type TraceTarget } from './trace-targets.ts'

type Traces = Extract<ExportTarget, { readonly kind: 'traces' }>

/** One trace document of all streams: to a file, to stdout or to a collector. */
export async function exportTraces(
  target: Traces,
  { store, names, options, output, runtime }: ExportRequest,
): Promise<Problem | undefined> {
  const to = await openTarget(target, options.replace === true, runtime)
  const report = openReport(target.to === undefined ? 'none' : 'text', options, output, runtime)
  const work = async (name: string) => {
    const loaded = await load(store, name)
    if (loaded.kind === 'gone') return finished(gone(name))
    if (loaded.kind === 'unreadable') return finished(unreadable(name, loaded.error, runtime))
    return () => to.add(loaded.view)
  }
  const atOnce = options.concurrency ?? DEFAULT_CONCURRENCY
  try {
    const stopped = await transfer({ items: names, nameOf: name => name, work, atOnce }, report, runtime)
    // A file that lacks streams would look like one of all.
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

function stdoutSink({ stdout }: Runtime): Sink {
  return { write: text => stdout.write(text), finish: async () => {}, abandon: async () => {} }
}
