import type { Runtime } from '../../cli/runtime.ts'
import type { ChangeEnd, ChangeTarget, Outcome, Preview } from '../../tui/ports.ts'

/** A change that was looked at, and how to do it. */
export interface Prepared {
  readonly preview: Preview
  carryOut(reason: string, onOutcome: (outcome: Outcome) => void, signal: AbortSignal): Promise<ChangeEnd>
}

/** The runtime as the command would have it that does the same. */
export function changing(runtime: Runtime, argv: readonly string[], signal: AbortSignal): Runtime {
  return { ...runtime, argv, signal, kind: 'writes' }
}

/** Streams in the order given, each with the events that are meant of it; none: the stream as a whole. */
export function eventsByStream(targets: readonly ChangeTarget[]): ReadonlyMap<string, readonly string[]> {
  const streams = new Map<string, Set<string>>()
  const whole = new Set(targets.flatMap(({ stream, event }) => (event === undefined ? [stream] : [])))
  for (const { stream, event } of targets) {
    const events = streams.get(stream) ?? new Set()
    streams.set(stream, events)
    // an event of a stream that is meant as a whole is meant with it
    if (event !== undefined && !whole.has(stream)) events.add(event)
  }
  return new Map([...streams].map(([stream, events]) => [stream, [...events]]))
}
