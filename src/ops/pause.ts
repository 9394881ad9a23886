import { setTimeout as delay } from 'node:timers/promises'

/** Waits, unless the signal aborts. Nothing to wait for still lets other work go on. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(Math.max(0, ms), undefined, { signal })
  } catch (error) {
    if (signal?.aborted !== true) throw error
  }
}
