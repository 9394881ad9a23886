import { readStream, type StreamView } from '../../ops/read-stream.ts'
import type { StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import type { Timing } from '../../util/clock.ts'

export type ReadResult =
  | { readonly kind: 'read'; readonly view: StreamView }
  /** The stream is gone, or is not a readable event stream: there are no events. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'stopped' }

export interface ReadRetries {
  readonly timing: Timing
  readonly signal: AbortSignal
  /** Called once for a stream whose read is retried. */
  readonly onTrouble: (message: string, error: unknown) => void
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/** Reads a stream with its history, and retries until the store answers: no event must be lost. */
export async function readWithRetry(
  store: StreamStore,
  stream: string,
  { timing, signal, onTrouble }: ReadRetries,
): Promise<ReadResult> {
  for (let tries = 0; !signal.aborted; tries += 1) {
    try {
      const view = await readStream(store, stream, signal)
      // Parsed here, since the history may turn out to be broken.
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
