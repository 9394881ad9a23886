/**
 * What the failures of a stream have meant for the whole of it, by its policy (`lc:onFailure` of the root).
 */
import { isFinal, isGated, isSkipped, isSuperseded } from './event.ts'
import type { EventStream } from './event-stream.ts'
import { progressOf } from './gate.ts'

/**
 * `errors`: an event below the root was aborted or canceled. `blocked`: a failure holds the stream up. `compensating`:
 * it is undoing what it did. `compensated`: it has. `compensation-failed`: it could not undo everything.
 */
export const OUTCOMES = ['errors', 'blocked', 'compensating', 'compensated', 'compensation-failed'] as const
/** One of these outcomes. */
export type StreamOutcome = (typeof OUTCOMES)[number]

/** Whether the stream is undoing what it has done. */
export function isCompensating({ root }: EventStream): boolean {
  return root !== undefined && root.lc.outcome === 'compensating' && !isFinal(root)
}

/** Whether a failure holds the stream up until it is retried or skipped. */
function isBlocked(stream: EventStream): boolean {
  if (stream.root?.lc.onFailure !== 'block' || stream.done) return false
  return stream.events.some((event, at) => {
    if (isSuperseded(event) || !stream.counts(at)) return false
    return isGated(event) ? progressOf(stream, event) === 'failed' : blocks(stream, at)
  })
}

/** Whether the event keeps a stream that blocks on failures from going on above it. */
export function blocks(stream: EventStream, position: number): boolean {
  const event = stream.at(position)
  if (stream.root?.lc.onFailure !== 'block' || event?.status !== 'aborted') return false
  if (isSkipped(event) || isSuperseded(event) || position === 0) return false
  return !stream.predecessorPositions(position).some(at => isFinal(stream.at(at) ?? event))
}

/** What the failures of a stream have meant for it; `''` without any. @param hasErrors an event below the root failed */
export function outcomeOf(stream: EventStream, hasErrors: boolean): StreamOutcome | '' {
  const outcome = stream.root?.lc.outcome
  if (isOutcome(outcome) && outcome.startsWith('compensat')) return outcome
  if (isBlocked(stream)) return 'blocked'
  return hasErrors ? 'errors' : ''
}

export function isOutcome(text: string | undefined): text is StreamOutcome {
  return (OUTCOMES as readonly (string | undefined)[]).includes(text)
}
