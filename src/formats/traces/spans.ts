import type { StreamView } from '../../ops/read-stream.ts'
import { isFinal } from '../../stream/event.ts'
import { type EventSpan, eventSpans } from '../../stream/journal/phases.ts'

/** An event as a bar for traces, which need a closed interval. Epoch ms. */
export interface EventBar extends EventSpan {
  /** When it was started, else created. */
  readonly fromMs: number
  /** When it ended, else now. */
  readonly toMs: number
  readonly open: boolean
}

/** A bar for each event that counts. One without readable times begins with the stream. */
export function eventBars(view: StreamView): readonly EventBar[] {
  const spans = eventSpans(view.stream, view.transactions(), view.time)
  const known = spans.map(beginOf).filter(ms => ms !== undefined)
  const firstMs = known.reduce((first, ms) => Math.min(first, ms), view.nowMs)
  return spans.map(span => {
    const fromMs = beginOf(span) ?? firstMs
    const open = !isFinal(span.event)
    return { ...span, open, fromMs, toMs: Math.max(fromMs, open ? view.nowMs : (span.endedMs ?? fromMs)) }
  })
}

function beginOf({ startedMs, createdMs, endedMs }: EventSpan): number | undefined {
  return startedMs ?? createdMs ?? endedMs
}
