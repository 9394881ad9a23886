import { jsonDocument } from '../formats/json.ts'
import { showJson } from '../formats/show-json.ts'
import { showTable, showTree } from '../formats/show-tree.ts'
import type { ShownStream } from '../formats/stream-view.ts'
import { readStream, type StreamView } from '../ops/read-stream.ts'
import type { EventStore } from '../store/store.ts'
import { decodeDocument } from '../stream/decode.ts'
import { visibleText } from '../stream/texts.ts'
import type { GlobalOptions } from './options.ts'
import { missingProblem } from './outcome-problem.ts'
import { type Output, openOutput } from './output.ts'
import { type Problem, UsageError } from './problem.ts'
import type { Runtime } from './runtime.ts'
import { shownStream } from './shown-stream.ts'
import { openStoreFor } from './store.ts'

export interface ShowOptions extends GlobalOptions {
  readonly streams: readonly string[]
}

/** Shows one or several streams; nothing is printed if one of them is missing. */
export async function showStreams(options: ShowOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const names = [...new Set(options.streams)]
  if (options.output === 'xml' && names.length > 1)
    throw new UsageError('-o xml shows one stream', { hint: 'Name one.' })
  const store = await openStoreFor(options, runtime, output)
  if (options.output === 'xml') return showXml(names[0] ?? '', store, output, runtime)
  const views: StreamView[] = []
  for (const name of names) {
    const view = await readStream(store, name, runtime.signal)
    if (view === undefined) return missingProblem(name)
    views.push(view)
  }
  await print(views.map(shownStream), options, output)
  return undefined
}

async function print(shown: readonly ShownStream[], options: ShowOptions, output: Output): Promise<void> {
  switch (options.output) {
    case 'json': {
      const [only, ...others] = shown.map(showJson)
      await output.text(jsonDocument(others.length === 0 ? (only ?? {}) : { items: [only, ...others] }))
      return
    }
    case 'yaml': {
      const { yamlDocuments } = await import('../formats/yaml.ts')
      await output.text(yamlDocuments(shown.map(showJson)))
      return
    }
    default:
      for (const [at, stream] of shown.entries()) {
        const lines = options.output === 'table' ? showTable(stream, lookOf(output)) : showTree(stream, lookOf(output))
        await output.lines(at === 0 ? lines : ['', ...lines])
      }
  }
}

function lookOf({ time, paint, width }: Output) {
  return { time, paint, ...(width === undefined ? {} : { width }) }
}

/** The stored document: byte by byte into a pipe or file, with its control characters made visible on a terminal. */
async function showXml(
  name: string,
  store: EventStore,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const stored = await store.read(name, runtime.signal)
  if (stored === undefined) return missingProblem(name)
  if (!runtime.stdout.isTty) await output.text(stored.body)
  else await output.lines(decodeDocument(stored.body).trimEnd().split(/\r?\n/).map(visibleText))
  return undefined
}
