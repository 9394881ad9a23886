import { LogHistogram } from '../ops/stats/histogram.ts'

/** One wait for the lease by a process of Test A, and the turn it led to. */
export interface Turn {
  /** Tries to acquire. */
  readonly attempts: number
  /** From the first try until the lease was held or the time was up, ms. */
  readonly waitedMs: number
  /** From when until when it was surely held, by the machine's monotonic clock; `null` where the time was up before. */
  readonly held: { readonly fromMs: number; readonly toMs: number } | null
  /** The release said that the lease was gone: it ended or was broken while it was thought to be held. */
  readonly lost: boolean
}

/** One change that a process of Test B asked for. */
export interface LabChange {
  readonly op: 'start' | 'complete'
  readonly event: string
  /** `done`; or the code of the refusal: somebody else was faster. */
  readonly outcome: string
  /** From asking until the answer, ms: waiting for the lease and the change itself. */
  readonly tookMs: number
  /** When it was answered, ms from the start of the work. */
  readonly atMs: number
}

/** What a worker process writes, a line each. */
export type WorkerLine =
  | { readonly kind: 'ready' }
  | { readonly kind: 'turns'; readonly turns: readonly Turn[] }
  | { readonly kind: 'changes'; readonly changes: readonly LabChange[] }
  | { readonly kind: 'done' }

/** Lengths of time as a histogram. */
export function histogramOf(lengthsMs: readonly number[]): LogHistogram {
  const histogram = new LogHistogram()
  for (const ms of lengthsMs) histogram.add(Math.max(0, ms))
  return histogram
}

/** The monotonic clock of the machine, ms: the same for all its processes. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
