import { LogHistogram } from '../ops/stats/histogram.ts'

/** One wait of a process of Test A for the lease, and the turn that followed. */
export interface Turn {
  /** Attempts to acquire the lease. */
  readonly attempts: number
  /** From the first attempt until the lease was held or the time was up, ms. */
  readonly waitedMs: number
  /** The period in which the lease was certainly held, by the machine's monotonic clock; `null` if the time was up first. */
  readonly held: { readonly fromMs: number; readonly toMs: number } | null
  /** The release found the lease gone: it had expired or been broken during the turn. */
  readonly lost: boolean
}

/** One change requested by a process of Test B. */
export interface LabChange {
  readonly op: 'start' | 'complete'
  readonly event: string
  /** `done`, or the code of the refusal if another process was faster. */
  readonly outcome: string
  /** From request to answer, ms: the wait for the lease and the change itself. */
  readonly tookMs: number
  /** Time of the answer, ms from the start of the work. */
  readonly atMs: number
}

/** A line of output from a worker process. */
export type WorkerLine =
  | { readonly kind: 'ready' }
  | { readonly kind: 'turns'; readonly turns: readonly Turn[] }
  | { readonly kind: 'changes'; readonly changes: readonly LabChange[] }
  | { readonly kind: 'done' }

export function histogramOf(lengthsMs: readonly number[]): LogHistogram {
  const histogram = new LogHistogram()
  for (const ms of lengthsMs) histogram.add(Math.max(0, ms))
  return histogram
}

/** The machine's monotonic clock, ms; the same for all processes. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
