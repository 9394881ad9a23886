import { lengthsJson } from '../formats/stats/json.ts'
import { type Overlap, overlapsIn } from './lease-test.ts'
import { histogramOf, type Turn } from './samples.ts'
import type { PaceName } from './strategies.ts'
import type { FinishedWorker } from './worker-processes.ts'

/** The settings of Test A. */
export interface LeaseLabSettings {
  readonly store: string
  readonly stream: string
  readonly procs: number
  readonly durationMs: number
  readonly holdMs: number
  readonly pace: PaceName
}

/** The figures of one process. */
export interface LeaseWorker {
  readonly name: string
  readonly turns: number
  readonly attempts: number
  readonly heldMs: number
  /** Turns in which the lease was lost before its release. */
  readonly lost: number
  /** The wait before each turn, and the last one, which led to no turn. */
  readonly waitsMs: readonly number[]
}

export interface LeaseReport extends LeaseLabSettings {
  readonly workers: readonly LeaseWorker[]
  /** Jain's index of turns per process. */
  readonly fairness: number
  readonly overlaps: readonly Overlap[]
}

export function leaseReport(settings: LeaseLabSettings, members: readonly FinishedWorker[]): LeaseReport {
  const turnsOf = members.map(member => ({ name: member.name, turns: turnsIn(member) }))
  const workers = turnsOf.map(({ name, turns }) => workerOf(name, turns))
  const holdings = turnsOf.flatMap(({ name, turns }) =>
    turns.flatMap(({ held, lost }) => (held === null || lost ? [] : [{ process: name, ...held }])),
  )
  return {
    ...settings,
    workers,
    fairness: jainIndex(workers.map(({ turns }) => turns)),
    overlaps: overlapsIn(holdings),
  }
}

function turnsIn({ output }: FinishedWorker): Turn[] {
  return output.flatMap(line => (line.kind === 'turns' ? line.turns : []))
}

function workerOf(name: string, turns: readonly Turn[]): LeaseWorker {
  const held = turns.flatMap(turn => (turn.held === null ? [] : [turn.held]))
  return {
    name,
    turns: held.length,
    attempts: turns.reduce((sum, { attempts }) => sum + attempts, 0),
    heldMs: held.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0),
    lost: turns.filter(({ lost }) => lost).length,
    waitsMs: turns.map(({ waitedMs }) => waitedMs),
  }
}

export function sumOf(workers: readonly LeaseWorker[], read: (worker: LeaseWorker) => number): number {
  return workers.reduce((sum, worker) => sum + read(worker), 0)
}

/** The document of `lab lease -o json`. Fields are only ever added. */
export function leaseReportJson(report: LeaseReport) {
  const { workers, fairness, overlaps, ...settings } = report
  const turns = sumOf(workers, worker => worker.turns)
  const attempts = sumOf(workers, worker => worker.attempts)
  return {
    ...settings,
    turns,
    attempts,
    attemptsPerTurn: turns === 0 ? null : Number((attempts / turns).toFixed(2)),
    fairness: Number(fairness.toFixed(3)),
    waited: lengthsJson(histogramOf(workers.flatMap(({ waitsMs }) => waitsMs))),
    processes: workers.map(({ name, waitsMs, heldMs, ...counts }) => ({
      name,
      turns: counts.turns,
      attempts: counts.attempts,
      heldMs: Math.round(heldMs),
      lost: counts.lost,
      waited: lengthsJson(histogramOf(waitsMs)),
    })),
    exclusive: overlaps.length === 0,
    overlaps: overlaps.map(({ ms, ...who }) => ({ ...who, ms: Number(ms.toFixed(3)) })),
  }
}

/**
 * Jain's fairness index: 1 if all shares are equal, 1/n if one of n got everything; also 1 if all shares are 0.
 */
export function jainIndex(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0)
  const squares = shares.reduce((total, share) => total + share * share, 0)
  return squares === 0 ? 1 : (sum * sum) / (shares.length * squares)
}
