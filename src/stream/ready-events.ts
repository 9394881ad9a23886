import { isFinal, isSuperseded, isWaitingJoin, type StreamEvent } from './event.ts'
import { sortedById } from './event-id.ts'
import type { EventStream } from './event-stream.ts'

/** Open events of a stream, sorted by id. */
export interface OpenEvents {
  /**
   * Open events without open events below: the stream waits on these. Waiting joins are left out, as they wait
   * themselves.
   */
  readonly leaves: readonly StreamEvent[]
  /** `init` events that can be started. */
  readonly ready: readonly StreamEvent[]
}

/**
 * Finds leaves and ready events among the open events of a stream. Open events below a final one, which foreign writers
 * may leave, are neither: no event above depends on them. In a held stream only the root can be started.
 */
export function openWork(stream: EventStream, open: readonly StreamEvent[]): OpenEvents {
  if (stream.held && stream.root !== undefined) return { leaves: [stream.root], ready: [] }
  const above = aboveOpen(stream, open)
  const endedAbove = belowFinal(stream)
  const live = sortedById(
    open.filter(event => !endedAbove.has(event) && !isWaitingJoin(event)),
    ({ id }) => id,
  )
  return {
    leaves: live.filter(event => !above.has(event)),
    ready: live.filter(event => event.status === 'init'),
  }
}

/** Open events without superseded ones; of events with the same id only the first. */
export function openEvents(stream: EventStream): StreamEvent[] {
  return stream.events.filter((event, at) => !isFinal(event) && !isSuperseded(event) && stream.counts(at))
}

/** Events above an open one. */
function aboveOpen(stream: EventStream, open: readonly StreamEvent[]): ReadonlySet<StreamEvent> {
  return reached(stream, open, position => stream.predecessorPositions(position))
}

/** Events below a final one. */
function belowFinal(stream: EventStream): ReadonlySet<StreamEvent> {
  const final = stream.events.filter(event => isFinal(event) && !isSuperseded(event))
  return reached(stream, final, position => stream.successorPositions(position))
}

/** All events reached from these by at least one step; each event is visited once, so cycles end. */
function reached(
  stream: EventStream,
  from: readonly StreamEvent[],
  neighbours: (position: number) => readonly number[],
): ReadonlySet<StreamEvent> {
  const found = new Set<StreamEvent>()
  const left = [...from]
  for (let event = left.pop(); event !== undefined; event = left.pop()) {
    for (const position of neighbours(stream.positionOf(event.id))) {
      const neighbour = stream.at(position)
      if (neighbour === undefined || found.has(neighbour)) continue
      found.add(neighbour)
      left.push(neighbour)
    }
  }
  return found
}
