import type { StreamDocument } from '../document.ts'
import { isLinkable } from '../event-id.ts'
import { EventStream } from '../event-stream.ts'
import { MAX_READ_BYTES } from '../limits.ts'
import { mostBytes } from './size-limit.ts'

/**
 * Gives each parent without `next` the ids of the events whose `prev` names it: the .NET library takes it for granted
 * that a parent has one, and fails. A `next` that is there stays as it is. Returns the same document if none was missing.
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
  // Ending what is in a document must not make it larger than what is read.
  return mostBytes(document) + added > MAX_READ_BYTES ? document : { ...document, events }
}

/** Bytes of the longest escape of a character. */
const ESCAPED = 6

/** Empty where a successor cannot be named: with the others alone the parent would close before that one has ended. */
function nextOf(stream: EventStream, position: number): string {
  const ids = stream.followingPositions(position).flatMap(at => stream.at(at)?.id ?? [])
  return ids.every(isLinkable) ? ids.join('|') : ''
}
