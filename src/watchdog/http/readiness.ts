import type { Health } from '../../http/probes.ts'
import { executionStatus, type Observer, type PassReport } from '../report.ts'

/** Input of readiness. Times are monotonic, ms. */
export interface ReadyState {
  readonly intervalMs: number
  /** The last completed sweep and its duration. */
  readonly swept?: { readonly atMs: number; readonly tookMs: number }
  /** The code that the last pass failed with. */
  readonly failure?: string
  readonly breaker?: PassReport['breaker']
  /** Set if the last pass with decisions could execute none of them: the code of the last failure. */
  readonly undone?: string
  readonly shards?: { readonly held: number; readonly total: number }
  readonly isStopping: boolean
}

/** Number of sweeps that may be missed. */
const SWEEPS = 3
const SLACK_MS = 10_000

/**
 * Readiness: the watchdog has recently seen all streams and ends overdue events. A watchdog that holds no shard is a
 * ready standby. Sweeps that take longer than the interval get more time.
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
  if (swept === undefined) return [`no sweep is completed yet${why}`]
  const allowedMs = SWEEPS * Math.max(intervalMs, swept.tookMs) + SLACK_MS
  const agoMs = nowMs - swept.atMs
  if (agoMs <= allowedMs) return []
  return [`the last sweep ended ${seconds(agoMs)} ago, more than ${seconds(allowedMs)}${why}`]
}

function tripped({ breaker }: ReadyState): string[] {
  if (breaker?.isOpen !== true) return []
  const { wouldEnd, openEvents, maxShare } = breaker
  return [
    `the circuit breaker is open: ${wouldEnd} of ${openEvents} open events would be ended, more than --max-share ${percent(maxShare)}`,
  ]
}

function powerless({ undone }: ReadyState): string[] {
  return undone === undefined ? [] : [`no decision of the last pass could be executed: ${undone}`]
}

function standby({ shards }: ReadyState): string[] {
  if (shards === undefined || shards.held > 0) return []
  return [`standby: holds none of ${shards.total} shards`]
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)}s`
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`
}

/** Collects the input of readiness. */
export interface Readiness extends Observer {
  /** Not ready from now on: the watchdog drains. */
  stopping(): void
  health(): Health
}

/** @param monotonicMs monotonic clock, ms */
export function openReadiness(intervalMs: number, monotonicMs: () => number): Readiness {
  let state: ReadyState = { intervalMs, isStopping: false }
  let code = 'unknown'
  return {
    executed(carried) {
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
