import { lengthsJson } from '../formats/stats/json.ts'
import type { StreamView } from '../ops/read-stream.ts'
import type { WriteMode } from '../store/store.ts'
import { jainIndex } from './lease-report.ts'
import { histogramOf, type LabChange } from './samples.ts'
import type { PaceName } from './strategies.ts'
import { type ProofFault, prove } from './verify.ts'
import type { Member } from './worker-processes.ts'

/** What was asked for. */
export interface StreamLabSettings {
  readonly store: string
  readonly stream: string
  readonly events: number
  readonly procs: number
  /** Each process claims and completes one event after the other, or all of its share at once. */
  readonly mode: 'loop' | 'at-once'
  readonly pace: PaceName
  readonly write: WriteMode
  readonly claimMs: number
  readonly holdMs: number
  readonly kill: boolean
}

/** What one process did. */
export interface StreamWorker {
  readonly name: string
  /** Events it completed, by the journal. */
  readonly events: number
  /** Changes it was told are made; of a killed process those it came to tell of. */
  readonly changes: number
  /** Changes that were refused: another was faster. */
  readonly racesLost: number
  readonly waitsMs: readonly number[]
  /** When its last change was answered, ms from the start of its work. */
  readonly endedMs: number
  readonly killed: boolean
}

export interface StreamReport extends StreamLabSettings {
  readonly workers: readonly StreamWorker[]
  /** From the start of the work until the last change was answered. */
  readonly wallMs: number
  readonly version: number
  readonly attempts: number
  /** Jain's index of events per process that was there from start to end. */
  readonly fairness: number
  readonly faults: readonly ProofFault[]
}

export function streamReport(
  settings: StreamLabSettings,
  members: readonly Member[],
  { document, stream, transactions }: Pick<StreamView, 'document' | 'stream' | 'transactions'>,
): StreamReport {
  const told = members.map(member => ({ name: member.name, killed: member.killed, changes: changesIn(member) }))
  const acknowledged = told.flatMap(({ name, changes }) =>
    changes.filter(isCompletion).map(({ event }) => ({ worker: name, event })),
  )
  const killed = members.some(member => member.killed)
  const proof = prove({ events: stream.events, transactions: transactions(), acknowledged, killed })
  const workers = told.map(({ name, killed, changes }): StreamWorker => {
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

function changesIn({ told }: Member): LabChange[] {
  return told.flatMap(line => (line.kind === 'changes' ? line.changes : []))
}

function isCompletion({ op, outcome }: LabChange): boolean {
  return op === 'complete' && outcome === 'done'
}

/** Killed processes and those in their place had less time. */
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

/** How much of the whole time the longest wait took, 0 to 1. */
export function worstShare({ workers, wallMs }: StreamReport): number {
  return wallMs === 0 ? 0 : Math.max(0, ...workers.flatMap(({ waitsMs }) => waitsMs)) / wallMs
}

/** Changes a second. */
export function rateOf({ workers, wallMs }: StreamReport): number {
  return wallMs === 0 ? 0 : (workers.reduce((sum, { changes }) => sum + changes, 0) * 1000) / wallMs
}

/** The document of `lab stream -o json`; fields are only ever added. */
export function streamReportJson(report: StreamReport) {
  const { workers, faults, wallMs } = report
  return {
    store: report.store,
    stream: report.stream,
    events: report.events,
    procs: report.procs,
    mode: report.mode,
    pace: report.pace,
    write: report.write,
    claimMs: report.claimMs,
    holdMs: report.holdMs,
    kill: report.kill,
    wallMs: Number(wallMs.toFixed(1)),
    changesPerSecond: Number(rateOf(report).toFixed(1)),
    version: report.version,
    attempts: report.attempts,
    killed: workers.filter(({ killed }) => killed).length,
    fairness: Number(report.fairness.toFixed(3)),
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
