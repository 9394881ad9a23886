import type { StreamDocument } from '../document.ts'
import { ATTRIBUTES, type ForeignAttribute, LC_ATTRIBUTES, type StreamEvent } from '../event.ts'
import { MAX_READ_BYTES, MAX_WRITTEN_BYTES, MAX_WRITTEN_EVENTS } from '../limits.ts'
import { escapeAttribute } from '../xml/text.ts'
import { writtenBytes } from '../xml/write.ts'
import { refuse } from './checks.ts'
import type { Refusal } from './operation.ts'

/**
 * Refuses a document that has grown too large. For operations that let a stream grow the limit is 8 MiB and 20 000
 * events: every heartbeat rewrites the whole document, and ending its events must stay possible. For all other
 * operations it is the reading limit: beyond that, no program could open the stream again. The bytes are counted only
 * near the limit.
 */
export function checkSize(document: StreamDocument, growing: boolean): Refusal | undefined {
  const count = document.events.length
  const limitBytes = growing ? MAX_WRITTEN_BYTES : MAX_READ_BYTES
  if (growing && count > MAX_WRITTEN_EVENTS) {
    return full(document, `${count} events; at most ${MAX_WRITTEN_EVENTS} are written`)
  }
  if (mostBytes(document) <= limitBytes) return undefined
  const bytes = writtenBytes(document)
  return bytes > limitBytes ? full(document, `${bytes} bytes; at most ${limitBytes} are written`) : undefined
}

function full(document: StreamDocument, size: string): Refusal | undefined {
  const root = document.events[0]
  return (
    root &&
    refuse('stream-full', root, `the stream would have ${size}; complete, cancel or abort it and start a new one`)
  )
}

/**
 * An upper bound of the bytes written, close to them where most bytes are in events: a UTF-16 unit takes at most 3 in
 * UTF-8, an escaped character 6; the indentation of a journal's lines at most doubles it.
 */
export function mostBytes(document: StreamDocument): number {
  const { journal, prolog, epilog, tail, element, prefix, attributes, events, born, at } = document
  const morePrefix = Math.max(0, Buffer.byteLength(prefix) - USUAL_PREFIX.length)
  let bytes = 500 + 3 * Buffer.byteLength(journal) + foreignBytes(attributes) + (attributes.length + 20) * morePrefix
  bytes += 3 * (prolog.length + epilog.length + tail.length + 2 * element.length)
  bytes += 6 * (born.length + at.length)
  for (const event of events) {
    bytes += eventBytes(event)
    if (morePrefix > 0) bytes += (LC_ATTRIBUTES.length + event.foreign.length) * morePrefix
  }
  return bytes
}

const USUAL_PREFIX = 'lc'

/** Cached, as events are immutable. */
const BYTES = new WeakMap<StreamEvent, number>()

function eventBytes(event: StreamEvent): number {
  const known = BYTES.get(event)
  if (known !== undefined) return known
  let bytes = 50 + 3 * (event.before.length + event.content.length) + foreignBytes(event.foreign)
  for (const name of ATTRIBUTES) bytes += attributeBytes(name, event[name], event.empty.includes(name))
  for (const name of LC_ATTRIBUTES) bytes += USUAL_PREFIX.length + 1 + attributeBytes(name, event.lc[name] ?? '')
  BYTES.set(event, bytes)
  return bytes
}

/** ` name="value"` */
function attributeBytes(name: string, value: string, isWrittenEmpty = false): number {
  if (value === '') return isWrittenEmpty ? name.length + 4 : 0
  return name.length + 4 + Buffer.byteLength(escapeAttribute(value))
}

function foreignBytes(attributes: readonly ForeignAttribute[]): number {
  return attributes.reduce((bytes, { name, value }) => bytes + 3 * name.length + 6 * value.length + 8, 0)
}
