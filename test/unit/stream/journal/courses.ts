import { type EventHistory, phasesOf } from '../../../../src/stream/journal/phases.ts'
import { timeReaderFor } from '../../../../src/stream/time/dates.ts'
import { type Play, START_MS } from '../../../support/stream-builder.ts'

/** The phases of each event of a play. */
export function courses(play: Play): ReadonlyMap<string, EventHistory> {
  const { read } = timeReaderFor(play.document, { nowMs: play.nowMs })
  return phasesOf(play.document.events, play.journal, read)
}

/** `ready 0-20, running 20-`: seconds after the beginning; an end as `✗ 30`. */
export function course(play: Play, id: string): string {
  const seconds = (ms: number | undefined) => (ms === undefined ? '' : String((ms - START_MS) / 1_000))
  const { spans = [], ends = [] } = courses(play).get(id) ?? {}
  const parts = [
    ...spans.map(({ phase, fromMs, toMs }) => `${phase} ${seconds(fromMs)}-${seconds(toMs)}`),
    ...ends.map(({ atMs, status }) => `${status} ${seconds(atMs)}`),
  ]
  return parts.join(', ')
}

/** The time this number of seconds after the beginning. */
export const iso = (seconds: number): string => new Date(START_MS + seconds * 1_000).toISOString()
