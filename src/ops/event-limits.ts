import { isFinal, isSuperseded, type StreamEvent } from '../stream/event.ts'
import type { EventStream } from '../stream/event-stream.ts'
import { type DueAction, isDueAction } from '../stream/operations/operation.ts'
import { type Deadline, deadlineOf, type LimitKind, type TimeReader } from '../stream/time/deadlines.ts'

/** The time limit of an open event, and what a watchdog does when it has passed. */
export interface EventLimit {
  readonly event: string
  readonly name: string
  readonly kind: LimitKind
  /** As written in the event. */
  readonly timeout: string
  /** Epoch ms. */
  readonly dueMs: number
  readonly action: LimitAction
}

/** What a watchdog does at a limit: it ends the event, the stream or only the attempt, or notifies. */
export type LimitAction = DueAction | 'end-attempt'

/** The limits of all open events, the soonest first. @param usual what a watchdog does if the event leaves it open */
export function eventLimits(
  { stream, time }: { readonly stream: EventStream; readonly time: TimeReader },
  usual: DueAction,
): EventLimit[] {
  const limits: EventLimit[] = []
  for (const [position, event] of stream.events.entries()) {
    if (isFinal(event) || isSuperseded(event) || !stream.counts(position)) continue
    const limit = deadlineOf(stream, event, time)
    if (limit === undefined) continue
    const { id, name, timeout } = event
    const { kind, dueMs } = limit
    limits.push({ event: id, name, kind, timeout, dueMs, action: actionOf(stream, event, limit, usual) })
  }
  return limits.sort((a, b) => a.dueMs - b.dueMs)
}

/**
 * What a watchdog does when the limit of an event has passed. A limit of the root applies to the whole stream. Unknown
 * values of `lc:onDue` are ignored.
 */
export function actionOf(
  stream: EventStream,
  event: StreamEvent,
  { kind }: Pick<Deadline, 'kind'>,
  usual: DueAction,
): LimitAction {
  if (kind === 'attempt') return 'end-attempt'
  const { onDue } = event.lc
  const action = isDueAction(onDue) ? onDue : usual
  return action === 'abort-event' && stream.isRoot(event) ? 'abort-stream' : action
}
