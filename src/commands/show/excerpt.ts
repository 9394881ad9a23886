import type { ShownStream } from '../../formats/stream/view.ts'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../stream/document.ts'
import { nextIds, type StreamEvent } from '../../stream/event.ts'
import { EventStream } from '../../stream/event-stream.ts'
import { visibleText } from '../../stream/text.ts'
import { writeDocument } from '../../stream/xml/write.ts'

/** A stream reduced to some of its events and the links among them. */
export function excerptOf(shown: ShownStream, events: readonly StreamEvent[]): ShownStream {
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

/** Some events as XML, as they are stored, in a document element without version and history. */
export function excerptXml(document: StreamDocument, events: readonly StreamEvent[], visible: boolean): string[] {
  const { element, attributes, prefix } = document
  const { text } = writeDocument({ ...EMPTY_DOCUMENT, element, attributes, prefix, events })
  const lines = text.trimEnd().split('\n')
  return visible ? lines.map(visibleText) : lines
}
