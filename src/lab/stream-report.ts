import { lengthsJson } from '../formats/stats/json.ts'
import type { StreamView } from '../ops/read-stream.ts'
import type { WriteMode } from '../store/store.ts'
import { jainIndex } from './lease-report.ts'
import { histogramOf, type LabChange } from './samples.ts'
import type { PaceName } from './strategies.ts'
import { type Violation, verifyJournal } from './verify.ts'
import type { FinishedWorker } from './worker-processes.ts'

/** The settings of Test B. */
export interface StreamLabSettings {
  readonly store: string
  readonly stream: string
  readonly events: number
  readonly procs: number
  /** Each process claims and completes one event at a time, or its whole share at once. */
  readonly mode: 'loop' | 'at-once'
  readonly pace: PaceName
  readonly write: WriteMode
  readonly claimMs: number
  readonly holdMs: number
  readonly kill: boolean
}

/** The figures of one process. */
export interface StreamWorker {
  readonly name: string
  /** Events it completed according to the journal. */
  readonly events: number
  /** Changes that were confirmed to it; for a killed process, those it had reported. */
  readonly changes: number
  /** Changes refused because another process was faster. */
  readonly racesLost: number
  readonly waitsMs: readonly number[]
  /** Time of the answer to its last change, ms from the start of its work. */
  readonly endedMs: number
  readonly killed: boolean
}

export interface StreamReport extends StreamLabSettings {
  readonly workers: readonly StreamWorker[]
  /** From the start of the work to the answer to the last change. */
  readonly wallMs: number
  readonly version: number
  readonly attempts: number
  /** Jain's index of events per process, over the processes that ran from start to end. */
  readonly fairness: number
  readonly faults: readonly Violation[]
}

export function streamReport(
  settings: StreamLabSettings,
  members: readonly FinishedWorker[],
  { document, stream, transactions }: Pick<StreamView, 'document' | 'stream' | 'transactions'>,
): StreamReport {
  const processes = members.map(member => ({ name: member.name, killed: member.killed, changes: changesIn(member) }))
  const acknowledged = processes.flatMap(({ name, changes }) =>
    changes.filter(isCompletion).map(({ event }) => ({ worker: name, event })),
  )
  const killed = members.some(member => member.killed)
  const proof = verifyJournal({ events: stream.events, transactions: transactions(), acknowledged, killed })
  const workers = processes.map(({ name, killed, changes }): StreamWorker => {
    const events = proof.completedBy.get(name)?.length ?? 0
    return { name, events, killed, ...figuresOf(changes) }
  })
  return {
    ...settings,
    workers,
    wallMs: Math.max(0, ...workers.map(({ endedMs }) => endedMs)),
    version: document.version,
    attempts: proof.attempts,
    fairness: jainIndex(lasting(workers, settings.procs).map(({ events }) => events)),
    faults: proof.faults,
  }
}

function changesIn({ output }: FinishedWorker): LabChange[] {
  return output.flatMap(line => (line.kind === 'changes' ? line.changes : []))
}

function isCompletion({ op, outcome }: LabChange): boolean {
  return op === 'complete' && outcome === 'done'
}

/** The processes that ran all the time; killed ones and their replacements had less of it. */
function lasting(workers: readonly StreamWorker[], procs: number): StreamWorker[] {
  return workers.slice(0, procs).filter(({ killed }) => !killed)
}

function figuresOf(changes: readonly LabChange[]) {
  const done = changes.filter(({ outcome }) => outcome === 'done').length
  return {
    changes: done,
    racesLost: changes.length - done,
    waitsMs: changes.map(({ tookMs }) => tookMs),
    endedMs: Math.max(0, ...changes.map(({ atMs }) => atMs)),
  }
}

/** The longest wait as a share of the whole time, 0 to 1. */
export function worstShare({ workers, wallMs }: StreamReport): number {
  return wallMs === 0 ? 0 : Math.max(0, ...workers.flatMap(({ waitsMs }) => waitsMs)) / wallMs
}

/** Changes per second. */
export function rateOf({ workers, wallMs }: StreamReport): number {
  return wallMs === 0 ? 0 : (workers.reduce((sum, { changes }) => sum + changes, 0) * 1000) / wallMs
}

/** The document of `lab stream -o json`. Fields are only ever added. */
export function streamReportJson(report: StreamReport) {
  const { workers, wallMs, version, attempts, fairness, faults, ...settings } = report
  return {
    ...settings,
    wallMs: Number(wallMs.toFixed(1)),
    changesPerSecond: Number(rateOf(report).toFixed(1)),
    version,
    attempts,
    killed: workers.filter(({ killed }) => killed).length,
    fairness: Number(fairness.toFixed(3)),
    worstWaitShare: Number(worstShare(report).toFixed(3)),
    waited: lengthsJson(histogramOf(workers.flatMap(({ waitsMs }) => waitsMs))),
    processes: workers.map(({ waitsMs, endedMs, ...worker }) => ({
      name: worker.name,
      events: worker.events,
      changes: worker.changes,
      racesLost: worker.racesLost,
      endedMs: Number(endedMs.toFixed(1)),
      killed: worker.killed,
      waited: lengthsJson(histogramOf(waitsMs)),
    })),
    exactlyOnce: faults.length === 0,
    faults: faults.map(({ event, what }) => ({ event, what })),
  }
}
