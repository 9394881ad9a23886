import { leaseLostProblem, missingProblem } from '../../cli/outcome-problem.ts'
import type { Output } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonDocument } from '../../formats/json.ts'
import { diffJson, diffLines, type StreamDifference } from '../../formats/stream/diff.ts'
import type { HeaderOptions as Look } from '../../formats/stream/header.ts'
import { showJson } from '../../formats/stream/json.ts'
import { showLines, type TreeLayout } from '../../formats/stream/layout.ts'
import type { ShownStream } from '../../formats/stream/view.ts'
import { countText } from '../../formats/terminal/numbers.ts'
import { type StreamView, type ViewAt, viewNow } from '../../ops/read-stream.ts'
import type { StreamStore } from '../../store/store.ts'
import { BadDocument } from '../../stream/errors.ts'
import { differences } from '../../stream/journal/versions.ts'
import { checkLength, decodeDocument } from '../../stream/xml/decode.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import type { Picture } from './snapshot.ts'

/** Prints streams in the format of `-o`. In JSON, one stream is a document; several are its items. */
export async function printPictures(
  pictures: readonly Picture[],
  format: string | undefined,
  several: boolean,
  output: Output,
  levels: { readonly depth?: number } = {},
): Promise<void> {
  switch (format) {
    case 'json':
    case 'yaml':
      await printDocuments(
        pictures.map(({ shown }) => showJson(shown)),
        format,
        several,
        output,
      )
      return
    case 'mermaid': {
      if (pictures.length > 0)
        await printMermaid(
          pictures.map(({ shown }) => shown),
          output,
        )
      return
    }
    default:
      for (const [at, { shown, transactions }] of pictures.entries()) {
        const lines = showLines({ shown, layout: layoutOf(format), transactions, ...levels }, styleOf(output))
        await output.lines(at === 0 ? lines : ['', ...lines])
      }
  }
}

/** Mermaid refuses a chart with more arrows unless `maxEdges` is raised. */
const MERMAID_EDGES = 500

/** Prints one chart of all streams. */
export async function printMermaid(streams: readonly ShownStream[], output: Output): Promise<void> {
  const { mermaidOfAll } = await import('../../formats/stream/mermaid.ts')
  const text = mermaidOfAll(streams)
  await output.text(text)
  const arrows = text.match(/ (-->|-\.->) /g)?.length ?? 0
  if (arrows > MERMAID_EDGES)
    await output.say(
      `the chart has ${countText(arrows)} arrows; Mermaid needs a higher maxEdges to draw more than ${MERMAID_EDGES}`,
    )
}

/** Prints JSON or YAML documents; nothing if the only stream could not be read. */
export async function printDocuments(
  documents: readonly object[],
  format: 'json' | 'yaml',
  several: boolean,
  output: Output,
): Promise<void> {
  const [only] = documents
  if (only === undefined && !several) return
  if (format === 'json') return output.text(jsonDocument(several || only === undefined ? { items: documents } : only))
  const { yamlDocuments } = await import('../../formats/yaml.ts')
  return output.text(yamlDocuments(documents))
}

/** The layout that `-o` selects; other formats use a tree. */
export function layoutOf(format: string | undefined): TreeLayout {
  return format === 'table' || format === 'timeline' ? format : 'tree'
}

/** The style of this output. */
export function styleOf({ time, paint, width }: Output): Look {
  return { time, paint, ...(width === undefined ? {} : { width }) }
}

/**
 * Prints the stored document: unchanged into a pipe or file, with visible control characters on a terminal.
 * @throws BadDocument if it exceeds the size limit, so that the store returned only part of it
 */
export async function showXml(
  name: string,
  leaseId: string | undefined,
  store: StreamStore,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const read = leaseId === undefined ? undefined : await store.readLeased(name, leaseId, runtime.signal)
  if (read?.kind === 'lost') return leaseLostProblem(name, read.code, runtime)
  const stored = read?.kind === 'read' ? read.stored : await store.read(name, runtime.signal)
  if (stored === undefined || read?.kind === 'missing') return missingProblem(name)
  try {
    checkLength(stored.body)
    if (!runtime.stdout.isTty) await output.text(stored.body)
    else await output.lines(decodeDocument(stored.body).trimEnd().split(/\r?\n/).map(visibleText))
  } catch (error) {
    throw error instanceof BadDocument ? error.in(name) : error
  }
  return undefined
}

/** Compares two versions of a stream, or a version and now. @throws UsageError if `from` is the later version */
export function differenceOf(view: StreamView, from: ViewAt, until: ViewAt | undefined): StreamDifference {
  const to = until ?? viewNow(view)
  if (from.past.length > to.past.length)
    throw new UsageError(`--diff: v${from.version} of ${view.name} is later than v${to.version}`, {
      hint: 'Give the earlier version to --diff and the later one to --at.',
    })
  const between = to.past.slice(from.past.length)
  const events = differences(from.document.events, to.document.events, between)
  return { name: view.name, from, to, events, between, nowMs: view.nowMs }
}

export async function printDifferences(
  all: readonly StreamDifference[],
  format: string | undefined,
  several: boolean,
  output: Output,
): Promise<void> {
  if (format === 'json' || format === 'yaml') await printDocuments(all.map(diffJson), format, several, output)
  else
    for (const [at, diff] of all.entries()) {
      const lines = diffLines(diff, styleOf(output))
      await output.lines(at === 0 ? lines : ['', ...lines])
    }
  for (const { name, from, events } of all)
    if (events.length === 0) await output.say(`${visibleName(name)}: nothing has changed since v${from.version}`)
}
