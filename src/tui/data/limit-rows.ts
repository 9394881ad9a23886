import { cached } from '../cached.ts'
import type { PlannedDecision, StreamLimit, WatchdogView } from './types.ts'

/** A row of the limits on the screen of watchdogs. */
export interface LimitRow {
  readonly key: string
  readonly stream: string
  /** Id of the event, if known. */
  readonly event: string | undefined
  readonly name: string
  readonly dueMs: number | undefined
  readonly limit: StreamLimit['limit']
  /** Its document cannot be read. */
  readonly isUnknown?: boolean
  /** It has passed, and a watchdog only tells of it. */
  readonly isNotified: boolean
  /** What the dry run would do. */
  readonly planned: PlannedDecision | undefined
}

/** The soonest limits, then what else the dry run would do, then limits that are only told of. */
export const limitRows = cached((watchdog: WatchdogView): readonly LimitRow[] => {
  const { next, notified, dryRun } = watchdog
  const planned = new Map(
    dryRun?.kind === 'done' ? dryRun.decisions.map(decision => [keyOf(decision.stream, decision.event), decision]) : [],
  )
  const take = (...keys: readonly string[]): PlannedDecision | undefined => {
    const key = keys.find(one => planned.has(one)) ?? ''
    const decision = planned.get(key)
    planned.delete(key)
    return decision
  }
  const soonest = next.map(one => ({
    ...rowOf(one, false, take(keyOf(one.stream, one.limit?.event), keyOf(one.stream, undefined))),
    key: one.stream,
  }))
  const told = notified.map(one => rowOf(one, true, take(keyOf(one.stream, one.limit?.event))))
  return [...soonest, ...[...planned.values()].map(plannedRow), ...told]
})

const rowsByKey = cached(
  (rows: readonly LimitRow[]): ReadonlyMap<string, LimitRow> => new Map(rows.map(row => [row.key, row])),
)

export function limitRow(watchdog: WatchdogView, key: string): LimitRow | undefined {
  return rowsByKey(limitRows(watchdog)).get(key)
}

function keyOf(stream: string, event: string | undefined): string {
  return `${stream}\n${event ?? ''}`
}

function rowOf(one: StreamLimit, isNotified: boolean, planned: LimitRow['planned']): LimitRow {
  const { stream, dueMs, limit, isUnknown = false } = one
  const event = limit?.event
  return {
    isUnknown,
    key: keyOf(stream, event),
    stream,
    event,
    name: limit?.name ?? '',
    dueMs,
    limit,
    isNotified,
    planned,
  }
}

function plannedRow(planned: PlannedDecision): LimitRow {
  const { stream, event, name = '', dueMs } = planned
  return { key: keyOf(stream, event), stream, event, name, dueMs, limit: undefined, isNotified: false, planned }
}
