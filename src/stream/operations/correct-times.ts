import { isFinal, isSuperseded, type StreamEvent } from '../event.ts'
import { FAR_MS, isFarAhead } from '../time/clock-ahead.ts'
import { isoTime } from '../time/dates.ts'
import { claimEndMs } from '../time/deadlines.ts'
import type { Draft } from './draft.ts'

/**
 * Sets times of open events that a wrong clock wrote far ahead to now, so that their timeouts count from now and their
 * claims keep their duration. A stream that began ahead is left alone: there this clock may be the slow one.
 */
export function correctTimes(draft: Draft): void {
  const { root } = draft.stream
  if (root === undefined || isFarAhead(openedIn(draft, root), draft.nowMs)) return
  const latest = isoTime(draft.nowMs + FAR_MS)
  for (const [at, event] of draft.stream.events.entries()) {
    if (isFinal(event) || isSuperseded(event)) continue
    const opened = event.lc.opened || event.created
    // Texts in our own form sort like their times; parsing all of them would cost more than the rest.
    if (isOwnBefore(event.timestamp, latest) && isOwnBefore(opened, latest)) continue
    correctEventTimes(draft, at)
  }
}

function correctEventTimes(draft: Draft, at: number): void {
  const { nowMs, now } = draft
  const event = draft.at(at)
  const touchedMs = draft.readTime(event.timestamp)
  if (touchedMs !== undefined && isFarAhead(touchedMs, nowMs)) {
    const endMs = claimEndMs(event)
    const until = endMs === undefined ? {} : { until: isoTime(Math.max(0, nowMs + endMs - touchedMs)) }
    draft.patch(at, { attributes: { timestamp: now }, lc: until })
  }
  if (isFarAhead(openedIn(draft, event), nowMs)) draft.patch(at, { lc: { opened: now } })
}

function openedIn(draft: Draft, event: StreamEvent): number | undefined {
  return draft.readTime(event.lc.opened || event.created)
}

function isOwnBefore(text: string, latest: string): boolean {
  return text === '' || (text.length === latest.length && text.endsWith('Z') && text <= latest)
}
