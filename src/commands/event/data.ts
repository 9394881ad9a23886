import type { GlobalOptions } from '../../cli/options.ts'
import { missingEventProblem, missingProblem, replacedProblem } from '../../cli/outcome-problem.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { jsonDocument } from '../../formats/json.ts'
import { type DataLine, dataJson, dataJsonOrNull, dataTable, upstreamLines } from '../../formats/stream/data.ts'
import { readDataBytes } from '../../ops/event-data.ts'
import { readStream, resultsFor, type StreamView } from '../../ops/read-stream.ts'
import type { StreamStore } from '../../store/store.ts'
import { DATA_KINDS, type DataKind, type EventData } from '../../stream/data.ts'
import type { StreamEvent } from '../../stream/event.ts'
import { visibleText } from '../../util/visible-text.ts'
import { lifeOf } from './flags.ts'

export interface EventDataOptions extends GlobalOptions {
  readonly stream: string
  readonly event: string
  readonly input?: boolean
  readonly result?: boolean
}

/** Lists what data an event has and works with, or prints its input or its result. */
export async function showEventData(options: EventDataOptions, runtime: Runtime): Promise<Problem | undefined> {
  const { stream, event: id, input, result, output: format } = options
  if (input && result) throw new UsageError('--input and --result are two things', { hint: 'Give one of them.' })
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const view = await readStream(store, stream, runtime.signal)
  if (view === undefined) return missingProblem(stream)
  const life = lifeOf(options, runtime)
  if (life !== undefined && view.document.born !== life) return replacedProblem(stream)
  const event = view.stream.find(id)
  if (event === undefined) return missingEventProblem(stream, id)
  const kind = input ? 'input' : result ? 'result' : undefined
  if (kind === undefined && format !== 'raw') return list(view, event, format, output)
  return printContent(store, view, event, kind, format, output, runtime)
}

async function list(
  view: StreamView,
  event: StreamEvent,
  format: string | undefined,
  output: Output,
): Promise<undefined> {
  const upstream = resultsFor(view, event)
  if (format === 'json') {
    const inputs = upstream.map(({ event, name, data }) => ({ event, name, ...dataJson(data) }))
    const own = { input: dataJsonOrNull(event.input), result: dataJsonOrNull(event.result) }
    await output.text(jsonDocument({ stream: view.name, event: event.id, ...own, inputs }))
    return
  }
  const own = DATA_KINDS.flatMap((kind): DataLine[] => {
    const data = event[kind]
    return data === undefined ? [] : [{ kind, event: event.id, name: event.name, data }]
  })
  const lines = [...own, ...upstreamLines(upstream)]
  const { paint, time, width } = output
  if (lines.length > 0) await output.lines(dataTable(lines, { paint, time, ...(width === undefined ? {} : { width }) }))
  else await output.say(`${visibleText(event.id)} has no data`)
}

/**
 * Prints the content of data: unchanged into a pipe or file, with visible control characters on a terminal.
 *
 * @param wanted without one, the result or, if there is none, the input
 */
export async function printContent(
  store: StreamStore,
  view: StreamView,
  event: StreamEvent,
  wanted: DataKind | undefined,
  format: string | undefined,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const kind = wanted ?? (event.result === undefined ? 'input' : 'result')
  const data = event[kind]
  if (data === undefined) return noData(view.name, event, wanted)
  const life = { stream: view.name, born: view.document.born }
  const bytes = await readDataBytes(store, life, data, runtime.signal)
  if (format === 'json') {
    const named = { stream: view.name, event: event.id, kind, ...dataJson(data), ...contentJson(bytes) }
    await output.text(jsonDocument(named))
  } else if (!runtime.stdout.isTty) await output.text(bytes)
  else await printVisibly(data, bytes, output)
  return undefined
}

function noData(stream: string, { id }: StreamEvent, kind: DataKind | undefined): Problem {
  return problem('no-data', `${stream} ${id} has no ${kind ?? 'data'}`, { stream, event: id })
}

function contentJson(bytes: Uint8Array): { readonly text: string | null; readonly base64: string | null } {
  const text = textOf(bytes)
  return text === undefined ? { text: null, base64: Buffer.from(bytes).toString('base64') } : { text, base64: null }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

async function printVisibly({ type }: EventData, bytes: Uint8Array, output: Output): Promise<void> {
  const text = textOf(bytes)
  if (text === undefined) {
    await output.say(`${bytes.length} bytes of ${visibleText(type)}, which is no text: write them into a file with >`)
    return
  }
  await output.lines(
    text
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .map(visibleText),
  )
}
