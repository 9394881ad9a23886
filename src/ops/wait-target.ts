import { isFinal } from '../stream/event.ts'
import type { EventStream } from '../stream/event-stream.ts'
import type { Summary } from '../stream/summary.ts'

/** What is waited for. */
export type WaitTarget =
  | { readonly kind: 'stream'; readonly end: StreamEnd }
  /** `done` is any final status. */
  | { readonly kind: 'event'; readonly event: string; readonly status: string }

/**
 * How a stream may end: `success`, completed without errors; `completed`, with or without; `done`, whichever way;
 * `canceled` and `aborted`.
 */
export type StreamEnd = 'success' | 'completed' | 'done' | 'canceled' | 'aborted'

/** `otherwise`: it ended, but not as asked for; only a retry could still bring that about. */
export type WaitVerdict = 'met' | 'otherwise' | 'open'

/** Whether a stream has ended as asked for. One that was not started is open. */
export function streamVerdict(end: StreamEnd, summary: Pick<Summary, 'status' | 'outcome'> | undefined): WaitVerdict {
  if (summary === undefined || !isFinal(summary)) return 'open'
  const { status, outcome } = summary
  if (end === 'done') return 'met'
  if (end === 'success') return status === 'completed' && outcome === '' ? 'met' : 'otherwise'
  return status === end ? 'met' : 'otherwise'
}

/**
 * Whether an event has the status asked for. When the stream has ended, what is open or not there does not come any
 * more. `init` and `inprocess` pass: they are met only if they are seen.
 */
export function eventVerdict(event: string, status: string, stream: EventStream): WaitVerdict {
  const found = stream.find(event)
  if (found !== undefined) {
    const final = isFinal(found)
    if (found.status === status || (status === 'done' && final)) return 'met'
    if (final) return 'otherwise'
  }
  return stream.done ? 'otherwise' : 'open'
}
