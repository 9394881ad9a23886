import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setImmediate, setTimeout } from 'node:timers/promises'

/** Who is silent for so long after the program has ended is one that it left behind, ms. */
const SILENCE_MS = 100
/** So often it is looked, at most: by then all that waited to be read has been, and who still talks is another. */
const MOST_LOOKS = 5
/** More than a pipe or socket holds: what comes after so much was written after the end of the program. */
const MOST_AFTER_BYTES = 1_024 * 1_024

/** Something that is read to its end, at the speed of who takes it. */
export interface Pump {
  /**
   * Called when the program has ended: resolves when all it wrote was taken. Others may hold its stderr for ever; they are not
   * waited for.
   */
  drained(): Promise<void>
}

/** @param take resolves when more may come; must not reject */
export function pumped(source: Readable, take: (chunk: Uint8Array) => Promise<void>): Pump {
  let taken = 0
  let pending = false
  let leftBytes = Number.POSITIVE_INFINITY
  const over = new AbortController()
  const reading = (async () => {
    for await (const chunk of source) {
      pending = true
      await take(chunk)
      pending = false
      taken += 1
      leftBytes -= chunk.length
      if (leftBytes <= 0) break
    }
  })()
    // cut off below, or by the system: what came was taken
    .catch(() => {})
    .finally(() => over.abort())
  return {
    async drained() {
      leftBytes = MOST_AFTER_BYTES
      for (let looks = 0; looks < MOST_LOOKS && !over.signal.aborted; ) {
        const before = taken
        await setTimeout(SILENCE_MS, undefined, { signal: over.signal }).catch(() => {})
        // a process that was kept waiting itself has not looked yet
        await setImmediate()
        if (pending) continue
        if (taken === before) break
        looks += 1
      }
      source.destroy()
      await reading
      if (!source.closed) await once(source, 'close')
    },
  }
}
