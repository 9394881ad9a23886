import { readStream, type StreamView } from '../../ops/read-stream.ts'
import type { EventStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import type { Timing } from '../../util/clock.ts'

export type PatientlyRead =
  | { readonly kind: 'read'; readonly view: StreamView }
  /** It is gone, or cannot be read as an event stream: there is nothing to tell. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'stopped' }

export interface Patience {
  readonly timing: Timing
  readonly signal: AbortSignal
  /** Told once of a stream that is tried again. */
  readonly onTrouble: (message: string, error: unknown) => void
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/** Reads a stream with its history. A store that does not answer is asked until it does: what happened is not to be lost. */
export async function readPatiently(
  store: EventStore,
  stream: string,
  { timing, signal, onTrouble }: Patience,
): Promise<PatientlyRead> {
  for (let tries = 0; !signal.aborted; tries += 1) {
    try {
      const view = await readStream(store, stream, signal)
      // the history is read here, where it may turn out to be broken
      view?.transactions()
      return view === undefined ? { kind: 'nothing' } : { kind: 'read', view }
    } catch (error) {
      if (error instanceof StreamFault) return { kind: 'nothing' }
      if (tries === 0 && !signal.aborted) onTrouble(`${stream} cannot be read for hooks now`, error)
      await timing.pause(Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS), signal)
    }
  }
  return { kind: 'stopped' }
}
