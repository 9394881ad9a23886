import type { Output } from '../../cli/output.ts'
import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import { selectedJson } from '../../formats/stream/json.ts'
import { showLines, type TreeLayout } from '../../formats/stream/layout.ts'
import type { ShownStream } from '../../formats/stream/view.ts'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../stream/document.ts'
import { InvalidValue } from '../../stream/errors.ts'
import { nextIds, type StreamEvent } from '../../stream/event.ts'
import { EventStream } from '../../stream/event-stream.ts'
import { writeDocument } from '../../stream/xml/write.ts'
import { isNothing, parseXPath, type Selected } from '../../stream/xpath/xpath.ts'
import { visibleText } from '../../util/visible-text.ts'
import { layoutOf, printDocuments, printMermaid, styleOf } from './print.ts'
import type { Picture } from './snapshot.ts'

/** Evaluates an XPath expression on a stream. */
export type Selector = (picture: Picture) => Selected

/** @throws UsageError if the expression is not valid XPath */
export async function selectorOf(expression: string): Promise<Selector> {
  const xpath = await parseXPath(expression).catch(refuse)
  return ({ document, shown }) => {
    try {
      return xpath.select(document)
    } catch (error) {
      return refuse(error, ` on ${shown.name}`)
    }
  }
}

function refuse(error: unknown, where = ''): never {
  if (!(error instanceof InvalidValue)) throw error
  throw new UsageError(`--select${where}: ${error.message}`, {
    cause: error.cause,
    hint: error.hint ?? "Write it as ./Event[@status='init'] or count(./Event[contains(@name, 'Search')]).",
  })
}

/** The selected events; `undefined` if the expression gave values. */
export function selectedEvents(selected: Selected, { shown }: Picture): readonly StreamEvent[] | undefined {
  if (selected.kind === 'values') return undefined
  return selected.positions.flatMap(position => shown.stream.at(position) ?? [])
}

/** Prints the matches of each stream. With `must`, no match at all is a problem. */
export async function printSelected(
  pictures: readonly Picture[],
  select: Selector,
  options: { readonly format: string | undefined; readonly several: boolean; readonly must: boolean },
  output: Output,
): Promise<Problem | undefined> {
  const { format, several, must } = options
  const found = pictures.map(picture => ({ picture, selected: select(picture) }))
  if (format === 'json' || format === 'yaml') {
    const documents = found.map(({ picture, selected }) =>
      selectedJson(picture.shown, selectedEvents(selected, picture), valuesOf(selected)),
    )
    await printDocuments(documents, format, several, output)
  } else {
    for (const [at, { picture, selected }] of found.entries())
      await printOne(picture, selected, format, several, at === 0, output)
  }
  if (found.length === 0 || !found.every(({ selected }) => isNothing(selected))) return undefined
  if (must) return problem('no-match', 'nothing matches --select', { exit: 3 })
  if (found.every(({ selected }) => selected.kind === 'events')) await output.say('nothing matches --select')
  return undefined
}

function valuesOf(selected: Selected) {
  return selected.kind === 'values' ? selected.values : undefined
}

async function printOne(
  picture: Picture,
  selected: Selected,
  format: string | undefined,
  several: boolean,
  first: boolean,
  output: Output,
): Promise<void> {
  const { shown, document, transactions } = picture
  if (selected.kind === 'values') {
    const name = several ? `${visibleText(shown.name)}\t` : ''
    return output.lines(selected.values.map(value => `${name}${visibleText(String(value))}`))
  }
  const only = selectedEvents(selected, picture) ?? []
  if (format === 'xml') return output.lines(excerptXml(document, only, output.width !== undefined))
  if (format === 'mermaid') return printMermaid([excerptOf(shown, only)], output)
  const layout: TreeLayout = layoutOf(format)
  const lines = showLines({ shown, layout, transactions, only }, styleOf(output))
  return output.lines(first ? lines : ['', ...lines])
}

/** A stream reduced to some of its events and the links between them. */
function excerptOf(shown: ShownStream, events: readonly StreamEvent[]): ShownStream {
  const ids = new Set(events.map(({ id }) => id))
  const linked = events.map(event => ({
    ...event,
    next: nextIds(event)
      .filter(id => ids.has(id))
      .join('|'),
    prev: ids.has(event.prev) ? event.prev : '',
  }))
  return { ...shown, stream: new EventStream(linked) }
}

/** Events as stored XML, in a document element without version and history. */
function excerptXml(document: StreamDocument, events: readonly StreamEvent[], visible: boolean): string[] {
  const { element, attributes, prefix } = document
  const { text } = writeDocument({ ...EMPTY_DOCUMENT, element, attributes, prefix, events })
  const lines = text.trimEnd().split('\n')
  return visible ? lines.map(visibleText) : lines
}
