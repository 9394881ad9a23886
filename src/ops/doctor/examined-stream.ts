import type { StreamSnapshot } from '../../store/store.ts'
import type { StreamDocument } from '../../stream/document.ts'
import { isFinal, isSuperseded, type StreamEvent } from '../../stream/event.ts'
import { EventStream, type Graph, linkEvents } from '../../stream/event-stream.ts'
import { type TimeReader, timeReaderFor } from '../../stream/time/deadlines.ts'
import { commandWords } from '../../util/strings.ts'

/** A stream under examination, with the inputs of all checks. It has at least one event. */
export interface Examined {
  readonly name: string
  readonly stored: StreamSnapshot
  readonly document: StreamDocument
  readonly stream: EventStream
  readonly root: StreamEvent
  /** All links, including those of superseded events. */
  readonly graph: Graph
  readonly read: TimeReader
  readonly nowMs: number
  /** The events without superseded ones; of events with the same id only the first. */
  readonly counted: readonly Counted[]
}

export interface Counted {
  readonly event: StreamEvent
  /** Position in the document. */
  readonly at: number
}

export function examine(stored: StreamSnapshot, document: StreamDocument, root: StreamEvent, nowMs: number): Examined {
  const stream = new EventStream(document.events)
  const counted: Counted[] = []
  for (const [at, event] of document.events.entries()) {
    if (stream.counts(at) && !isSuperseded(event)) counted.push({ event, at })
  }
  return {
    name: stored.name,
    stored,
    document,
    stream,
    root,
    graph: linkEvents(document.events),
    read: timeReaderFor(document, { nowMs, lastModifiedMs: stored.modifiedMs }).read,
    nowMs,
    counted,
  }
}

/** The open events. */
export function open({ counted }: Examined): readonly Counted[] {
  return counted.filter(({ event }) => !isFinal(event))
}

/** The words of a command that ends an event or, for the root, the stream; `--dry-run` makes copying safe. */
export function endCommand(verb: 'cancel' | 'abort', { name, root }: Examined, id: string): readonly string[] {
  return commandWords([verb], [name], [...(id === root.id ? [] : ['-e', id]), '--dry-run'])
}
