import type { StreamDocument } from './document.ts'
import { ATTRIBUTES, type ForeignAttribute, type StreamEvent } from './event.ts'
import { MAX_READ_BYTES, MAX_WRITTEN_BYTES, MAX_WRITTEN_EVENTS } from './limits.ts'
import type { Refusal } from './operation.ts'
import { refuse } from './operations/refuse.ts'
import { writeDocument } from './xml-write.ts'

/**
 * Refuses a document that grew beyond what is written. For what lets a stream grow that is 8 MiB and 20 000 events:
 * every heartbeat rewrites the whole of it, and room must stay for ending what is in it. Everything else may go up to
 * what is read: beyond, nobody could open the stream again. The text is only made where its length could matter.
 */
export function checkSize(document: StreamDocument, growing: boolean): Refusal | undefined {
  const count = document.events.length
  const limitBytes = growing ? MAX_WRITTEN_BYTES : MAX_READ_BYTES
  if (growing && count > MAX_WRITTEN_EVENTS) {
    return full(document, `${count} events; at most ${MAX_WRITTEN_EVENTS} are written`)
  }
  if (roughBytes(document) <= limitBytes) return undefined
  const bytes = Buffer.byteLength(writeDocument(document).text)
  return bytes > limitBytes ? full(document, `${bytes} bytes; at most ${limitBytes} are written`) : undefined
}

function full(document: StreamDocument, size: string): Refusal | undefined {
  const root = document.events[0]
  return (
    root &&
    refuse('stream-full', root, `the stream would have ${size}; complete, cancel or abort it and start a new one`)
  )
}

/** Never less than the bytes written: a UTF-16 unit takes at most 3 in UTF-8, an escaped character 6. */
function roughBytes(document: StreamDocument): number {
  const { journal, prolog, epilog, tail, element } = document
  let units = 500 + journal.length + prolog.length + epilog.length + tail.length + 2 * element.length
  units += foreignUnits(document.attributes)
  for (const event of document.events) units += eventUnits(event)
  return units * 6
}

/** An event is a value, so its size stays. */
const UNITS = new WeakMap<StreamEvent, number>()

function eventUnits(event: StreamEvent): number {
  const known = UNITS.get(event)
  if (known !== undefined) return known
  let units = 200 + event.before.length + event.content.length + foreignUnits(event.foreign)
  for (const name of ATTRIBUTES) units += event[name].length
  for (const value of Object.values(event.lc)) units += value.length
  UNITS.set(event, units)
  return units
}

function foreignUnits(attributes: readonly ForeignAttribute[]): number {
  return attributes.reduce((units, { name, value }) => units + name.length + value.length + 4, 0)
}
