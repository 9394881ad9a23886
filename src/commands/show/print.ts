import type { Output } from '../../cli/output.ts'
import { jsonDocument } from '../../formats/json.ts'
import type { ShowOptions as Look } from '../../formats/stream/header.ts'
import { showJson } from '../../formats/stream/json.ts'
import { type Layout, showLines } from '../../formats/stream/layout.ts'
import type { ShownStream } from '../../formats/stream/view.ts'
import { countText } from '../../formats/terminal/count-text.ts'
import type { Picture } from './snapshot.ts'

/** Streams one after the other, in the format asked for. As JSON one is a document, of several named it has items. */
export async function printPictures(
  pictures: readonly Picture[],
  format: string | undefined,
  several: boolean,
  output: Output,
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
        const lines = showLines({ shown, layout: layoutOf(format), transactions }, lookOf(output))
        await output.lines(at === 0 ? lines : ['', ...lines])
      }
  }
}

/** Mermaid refuses a chart with more arrows unless its `maxEdges` is raised. */
const MERMAID_EDGES = 500

/** One chart of all streams. */
export async function printMermaid(streams: readonly ShownStream[], output: Output): Promise<void> {
  const { mermaidOfAll } = await import('../../formats/stream/mermaid.ts')
  const text = mermaidOfAll(streams)
  await output.text(text)
  const arrows = text.match(/ (-->|-\.->) /g)?.length ?? 0
  if (arrows > MERMAID_EDGES)
    await output.say(
      `the chart has ${countText(arrows)} arrows: to draw more than ${MERMAID_EDGES}, raise maxEdges of Mermaid`,
    )
}

/** JSON or YAML documents; nothing for the one that was named and cannot be read. */
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

/** The layout that `-o` names; others are a tree. */
export function layoutOf(format: string | undefined): Layout {
  return format === 'table' || format === 'timeline' ? format : 'tree'
}

/** How lines are drawn on this output. */
export function lookOf({ time, paint, width }: Output): Look {
  return { time, paint, ...(width === undefined ? {} : { width }) }
}
