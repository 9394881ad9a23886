/** Waits, unless the signal aborts. Nothing to wait for still lets other work go on. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  // Not by timers/promises, which makes an error with a stack whenever it is aborted: workers do that with each event.
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, Math.max(0, ms))
    signal?.addEventListener('abort', end)
  })
}
