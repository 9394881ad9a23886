/**
 * After the signal what is in flight has so long, ms; then it is left: a repetition finds out by its command id. What is
 * left of the 10 s in which the process is gone is for the store, which waits 2 s for a change before it is closed.
 */
const DRAIN_MS = 7_500

/** True if the work came to its end by itself, false if the signal fired and it then took longer than a drain may. */
export async function drained(work: Promise<void>, signal: AbortSignal): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>(resolve => {
    const begin = () => {
      timer = setTimeout(() => resolve(false), DRAIN_MS)
    }
    if (signal.aborted) begin()
    else signal.addEventListener('abort', begin, { once: true })
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
