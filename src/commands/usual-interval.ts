import type { EventStore } from '../store/store.ts'

/** How often to look where nobody says otherwise, ms: a listing over the network is not asked for every second. */
export function usualIntervalMs({ address }: EventStore): number {
  return /^(sqlite|memory):/.test(address) ? 1_000 : 2_000
}
