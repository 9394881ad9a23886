import { livenessOf } from '../../ops/watchdog-state/state.ts'
import type { WatchdogsOfStores } from './types.ts'

/** The stores that no watchdog watches now, by context; of a single store `['']`. */
export function unwatchedStores(state: WatchdogsOfStores | undefined, nowMs: number): readonly string[] {
  if (state === undefined) return []
  const { watchdogs, stores = [''] } = state
  const running = watchdogs.filter(watchdog => RUNNING.has(livenessOf(watchdog, nowMs)))
  const watched = new Set(running.map(({ store = '' }) => store))
  return stores.filter(store => !watched.has(store))
}

const RUNNING: ReadonlySet<string> = new Set(['live', 'late'])
