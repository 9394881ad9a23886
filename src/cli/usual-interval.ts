import type { EventStore } from '../store/store.ts'

/** How often to look where nobody says otherwise, ms: a listing over the network is not asked for every second. */
export function usualIntervalMs({ address }: EventStore): number {
  return isNear(address) ? 1_000 : 2_000
}

/** Whether a store is on this machine: what is asked of it costs neither money nor a network. */
export function isNear(address: string): boolean {
  return /^(sqlite|memory):/.test(address)
}
