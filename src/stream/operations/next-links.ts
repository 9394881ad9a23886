import type { StreamDocument } from '../document.ts'
import { isLinkable } from '../event-id.ts'
import { EventStream } from '../event-stream.ts'
import { MAX_READ_BYTES } from '../limits.ts'
import { mostBytes } from './size-limit.ts'

/**
 * Sets a missing `next` of each parent to the ids of the events whose `prev` names it: the .NET library fails on a
 * parent without `next`. An existing `next` stays. Returns the same document if none was missing.
 */
export function withNext(document: StreamDocument): StreamDocument {
  const stream = EventStream.of(document.events)
  let added = 0
  const events = document.events.map((event, at) => {
    const next = event.next === '' ? nextOf(stream, at) : ''
    if (next === '') return event
    added += ' next=""'.length + ESCAPED * Buffer.byteLength(next)
    return { ...event, next }
  })
  if (added === 0) return document
  // Ending events must not let a document exceed the reading limit.
  return mostBytes(document) + added > MAX_READ_BYTES ? document : { ...document, events }
}

/** Bytes of the longest escape of a character. */
const ESCAPED = 6

/**
 * Empty if a successor cannot be named: with only the others in `next` the parent would close before that one has
 * ended.
 */
function nextOf(stream: EventStream, position: number): string {
  const ids = stream.followingPositions(position).flatMap(at => stream.at(at)?.id ?? [])
  return ids.every(isLinkable) ? ids.join('|') : ''
}
