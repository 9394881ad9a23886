import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonDocument } from '../../formats/json.ts'
import { type LeaseReport, leaseReport, leaseReportJson } from '../../lab/lease-report.ts'
import { takeTurns } from '../../lab/lease-test.ts'
import { leaseReportLines } from '../../lab/report-text.ts'
import { machineMs, type Turn } from '../../lab/samples.ts'
import { waitStrategyOf } from '../../lab/wait-strategy.ts'
import { runAsWorker, runWorkerProcesses, SampleWriter } from '../../lab/worker-processes.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'
import { holderOf } from '../lease/flags.ts'
import type { LabOptions } from './options.ts'
import { contenders, createLabStream, labName, openLabStore, removeLabStream, workerStarter } from './setup.ts'

export interface LeaseLabOptions extends LabOptions {
  /** Duration of the test, ms. */
  readonly duration?: number
}

/** Test A: processes contend for the lease of one stream. */
export async function labLease(options: LeaseLabOptions, runtime: Runtime): Promise<Problem | undefined> {
  const store = await openLabStore(options, runtime)
  if (options.asWorker !== undefined) return work(store, options.asWorker, options, runtime)
  const output = await openOutput(options, runtime)
  const stream = labName('lease', runtime)
  await createLabStream(store, stream, 1, options, runtime)
  try {
    const report = await contend(store, stream, options, output, runtime)
    if (options.output === 'json') await output.text(jsonDocument(leaseReportJson(report)))
    else await output.lines(leaseReportLines(report, output))
    return report.overlaps.length === 0
      ? undefined
      : problem('proof-failed', 'two processes held the lease at the same time')
  } finally {
    await removeLabStream(store, stream, output, runtime)
  }
}

async function contend(
  store: StreamStore,
  stream: string,
  options: LeaseLabOptions,
  output: Output,
  runtime: Runtime,
): Promise<LeaseReport> {
  const { procs = 5, duration: durationMs = 20_000, hold: holdMs = 50, pace = 'usual' } = options
  const settings = { store: store.address, stream, procs, durationMs, holdMs, pace }
  if (options.output !== 'json') {
    const where = `${stream} on ${visibleText(store.address)}`
    await output.say(`${where}: ${contenders(procs, 'contend')} for its lease for ${durationMs / 1000} s`)
  }
  const flags = ['--duration', `${durationMs}ms`, '--hold', `${holdMs}ms`, '--pace', pace]
  const start = workerStarter('lease', store, stream, flags, runtime)
  return leaseReport(settings, await runWorkerProcesses({ size: procs, start, signal: runtime.signal }))
}

async function work(store: StreamStore, name: string, options: LeaseLabOptions, runtime: Runtime): Promise<undefined> {
  const { stream = '', duration: durationMs = 0, hold: holdMs = 0, pace = 'usual' } = options
  const { stdout, signal } = runtime
  await store.read(stream)
  const write = (text: string) => stdout.write(text)
  const samples = new SampleWriter<Turn>(turns => write(`${JSON.stringify({ kind: 'turns', turns })}\n`))
  const holder = holderOf({ by: name }, 'lab lease', runtime)
  await runAsWorker({ heard: runtime.readLines(), write, signal }, async stop => {
    const how = { holder, durationMs, holdMs, pace: waitStrategyOf(pace, Math.random), clock: machineMs, signal: stop }
    await takeTurns(store, stream, { ...how, report: turn => samples.add(turn) })
    await samples.flush()
  })
}
