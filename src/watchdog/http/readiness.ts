import { executionStatus, type Observer, type PassReport } from '../report.ts'

/** What a probe is answered: whether all is well, and why; never a text of strangers. */
export interface Health {
  readonly ok: boolean
  /** A line each; at least one. */
  readonly reasons: readonly string[]
}

/** What readiness is judged by. Times of a clock that only goes forward, ms. */
export interface ReadyState {
  readonly intervalMs: number
  /** The last sweep that came to its end, and how long it took. */
  readonly swept?: { readonly atMs: number; readonly tookMs: number }
  /** The code for which the last pass came to no end. */
  readonly failure?: string
  readonly breaker?: PassReport['breaker']
  /** The store let none of the decisions of the last pass that had any; why, by its code, the last one. */
  readonly undone?: string
  readonly shards?: { readonly held: number; readonly total: number }
  readonly isStopping: boolean
}

/** So many sweeps may be missed. */
const SWEEPS = 3
const SLACK_MS = 10_000

/**
 * Whether the watchdog does what it is there for: it has seen all streams, lately, and ends what is due. A watchdog
 * that holds no shard stands by for the others, and is ready. Sweeps that take longer than the interval get more time.
 */
export function ready(state: ReadyState, nowMs: number): Health {
  const faults = [...stopping(state), ...late(state, nowMs), ...tripped(state), ...powerless(state)]
  if (faults.length > 0) return { ok: false, reasons: faults }
  return { ok: true, reasons: ['ready', ...standby(state)] }
}

function stopping({ isStopping }: ReadyState): string[] {
  return isStopping ? ['stopping'] : []
}

function late({ swept, failure, intervalMs }: ReadyState, nowMs: number): string[] {
  const why = failure === undefined ? '' : `; the last pass failed: ${failure}`
  if (swept === undefined) return [`no sweep has ended yet${why}`]
  const allowedMs = SWEEPS * Math.max(intervalMs, swept.tookMs) + SLACK_MS
  const agoMs = nowMs - swept.atMs
  if (agoMs <= allowedMs) return []
  return [`the last sweep ended ${seconds(agoMs)} ago, more than ${seconds(allowedMs)}${why}`]
}

function tripped({ breaker }: ReadyState): string[] {
  if (breaker?.isOpen !== true) return []
  const { wouldEnd, openEvents, maxShare } = breaker
  return [
    `the breaker is open: ${wouldEnd} of ${openEvents} open events would be ended, more than --max-share ${percent(maxShare)}`,
  ]
}

function powerless({ undone }: ReadyState): string[] {
  return undone === undefined ? [] : [`no decision of the last pass could be carried out: ${undone}`]
}

function standby({ shards }: ReadyState): string[] {
  if (shards === undefined || shards.held > 0) return []
  return [`standby: none of ${shards.total} shards is held here`]
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)}s`
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`
}

/** Keeps what readiness is judged by. */
export interface Readiness extends Observer {
  /** From now on it is not ready any more: it drains. */
  stopping(): void
  health(): Health
}

/** @param monotonicMs a clock that only goes forward, ms */
export function openReadiness(intervalMs: number, monotonicMs: () => number): Readiness {
  let state: ReadyState = { intervalMs, isStopping: false }
  let code = 'unknown'
  return {
    carried(carried) {
      if (carried.outcome === 'failed' || carried.outcome === 'unknown') code = carried.code ?? carried.outcome
    },
    passed(report) {
      const { kind, tookMs, breaker } = report
      const { failure: _, undone: before, ...rest } = state
      const done = executionStatus(report)
      const undone = done === 'nothing' ? code : done === 'some' ? undefined : before
      state = {
        ...rest,
        breaker,
        ...(kind === 'sweep' ? { swept: { atMs: monotonicMs(), tookMs } } : {}),
        ...(undone === undefined ? {} : { undone }),
      }
    },
    failed(failure) {
      state = { ...state, failure: failure.code }
    },
    shards(held, total) {
      state = { ...state, shards: { held: held.length, total } }
    },
    stopping() {
      state = { ...state, isStopping: true }
    },
    health: () => ready(state, monotonicMs()),
  }
}
