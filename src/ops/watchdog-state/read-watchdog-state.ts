import type { EventStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { readAside } from '../system-documents.ts'
import { parseWatchdogState } from './parse.ts'
import type { WatchdogState } from './state.ts'

/** Where watchdogs leave word of themselves. */
export const WATCHDOG_STATE = '.leasectl/watchdog/state.json'

/**
 * Reads what the watchdogs of a store last wrote. No document: none ever did. Takes no lease. Never fails for
 * the document: what cannot be read or understood is left out, and that is told.
 *
 * @throws the store's faults, the signal's reason
 */
export async function readWatchdogState(store: EventStore, signal?: AbortSignal): Promise<WatchdogState> {
  try {
    return parseWatchdogState(await readAside(store, WATCHDOG_STATE, signal))
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error
    return { watchdogs: [], damaged: true, fault: error.what }
  }
}
