import { cached } from '../../cached.ts'
import { limitRow } from '../../data/limit-rows.ts'
import type { Activity, Data, WorkerRow } from '../../data/types.ts'
import type { ChangeTarget } from '../../ports.ts'
import type { Screen } from '../state.ts'
import { placeInSubscription } from './subscription-list.ts'

/** The stream that a row of a list is about, and its event if it is about one. @param key of the row */
export function targetOfRow(screen: Exclude<Screen, 'stream'>, key: string, data: Data): ChangeTarget | undefined {
  switch (screen) {
    case 'streams':
    case 'leases':
      return { stream: key }
    case 'watchdog':
      return targetOf(limitRow(data.watchdog, key))
    case 'activity': {
      const item = activityRow(data, key)
      return item && { stream: item.stream }
    }
    case 'workers':
      return targetOf(workerRow(data, key))
    case 'subscriptions': {
      const stream = placeInSubscription(key).stream
      return stream === undefined ? undefined : { stream }
    }
    case 'inboxes':
      return undefined
    default:
      return screen satisfies never
  }
}

/** The event that a row of a list is about; of a change its target. `undefined` for a row about a whole stream. */
export function eventOfRow(
  screen: Exclude<Screen, 'stream'>,
  key: string,
  data: Data,
): { readonly stream: string; readonly event: string } | undefined {
  const tx = screen === 'activity' ? activityRow(data, key)?.tx : undefined
  const event = tx === undefined ? undefined : tx.on || tx.changes[0]?.event
  const target = targetOfRow(screen, key, data)
  const found = event ?? target?.event
  return target === undefined || found === undefined ? undefined : { stream: target.stream, event: found }
}

function targetOf(
  row: { readonly stream: string; readonly event: string | undefined } | undefined,
): ChangeTarget | undefined {
  if (row === undefined) return undefined
  return row.event === undefined ? { stream: row.stream } : { stream: row.stream, event: row.event }
}

const activitiesByKey = cached(
  (items: readonly Activity[]): ReadonlyMap<string, Activity> => new Map(items.map(item => [item.key, item])),
)

export function activityRow({ activity }: Pick<Data, 'activity'>, key: string): Activity | undefined {
  return activitiesByKey(activity.items).get(key)
}

const workersByKey = cached(
  (rows: readonly WorkerRow[]): ReadonlyMap<string, WorkerRow> => new Map(rows.map(row => [row.key, row])),
)

export function workerRow({ workers }: Pick<Data, 'workers'>, key: string): WorkerRow | undefined {
  return workersByKey(workers.rows).get(key)
}
