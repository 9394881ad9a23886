import type { Runtime } from './runtime.ts'

/** For how long streams are counted that nobody asked to see, ms. */
const COUNTING_MS = 2_000

/** The time that is given to counting. It begins to run when it is first asked about. */
export interface Patience {
  /** Aborts with the runtime's, and when the time is over: a page that does not come is not waited for. */
  readonly signal: AbortSignal
  /** The time is over, and what was under way was stopped for it. */
  readonly ended: boolean
  lasts(): boolean
  close(): void
}

export function patienceOf(runtime: Runtime): Patience {
  const over = new AbortController()
  let untilMs: number | undefined
  let timer: NodeJS.Timeout | undefined
  return {
    signal: AbortSignal.any([runtime.signal, over.signal]),
    get ended() {
      return over.signal.aborted
    },
    lasts() {
      untilMs ??= runtime.nowMs() + COUNTING_MS
      timer ??= setTimeout(() => over.abort(), COUNTING_MS)
      return runtime.nowMs() < untilMs
    },
    close: () => clearTimeout(timer),
  }
}
