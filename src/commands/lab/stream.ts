import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonDocument } from '../../formats/json.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import { streamReportLines } from '../../lab/report-text.ts'
import { type LabChange, machineMs } from '../../lab/samples.ts'
import { type StreamLabSettings, type StreamReport, streamReport, streamReportJson } from '../../lab/stream-report.ts'
import { claimable, type LabWorkOptions, workAtOnce, workInLoop } from '../../lab/stream-test.ts'
import { waitStrategyOf } from '../../lab/wait-strategy.ts'
import { warmUp } from '../../lab/warm-up.ts'
import { runAsWorker, runWorkerProcesses, SampleWriter } from '../../lab/worker-processes.ts'
import type { StreamStore, WriteMode } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { LabOptions } from './options.ts'
import {
  contenders,
  createLabStream,
  finalState,
  labName,
  openLabStore,
  removeLabStream,
  workerStarter,
} from './setup.ts'

export interface StreamLabOptions extends LabOptions {
  readonly events?: number
  readonly atOnce?: boolean
  readonly write?: WriteMode
  readonly kill?: boolean
  /** Duration of a claim, ms. */
  readonly claim?: number
  readonly keep?: boolean
}

/** Test B: processes claim and complete the events of one stream. */
export async function labStream(options: StreamLabOptions, runtime: Runtime): Promise<Problem | undefined> {
  refuseTogether(options)
  const store = await openLabStore(options, runtime)
  if (options.asWorker !== undefined) return work(store, options.asWorker, options, runtime)
  const output = await openOutput(options, runtime)
  const settings = settingsOf(options, store, labName('stream', runtime))
  await createLabStream(store, settings.stream, settings.events, options, runtime)
  try {
    const report = await contend(store, settings, output, options, runtime)
    if (options.output === 'json') await output.text(jsonDocument(streamReportJson(report)))
    else await output.lines(streamReportLines(report, output))
    if (report.faults.length === 0) return undefined
    return problem('proof-failed', 'the journal does not show that each event was completed exactly once')
  } finally {
    if (options.keep !== true) await removeLabStream(store, settings.stream, output, runtime)
    else await output.say(`${settings.stream} is kept`)
  }
}

function refuseTogether({ kill, atOnce, pace }: StreamLabOptions): void {
  const other = atOnce ? '--at-once' : pace === 'reference' ? '--pace reference' : undefined
  if (!kill || other === undefined) return
  throw new UsageError(`--kill and ${other} do not go together`, {
    hint: atOnce
      ? 'The process that replaces a killed one has to find events by itself.'
      : 'A killed process leaves its lease behind for a minute.',
  })
}

function settingsOf(options: StreamLabOptions, store: StreamStore, stream: string): StreamLabSettings {
  const { kill = false } = options
  return {
    store: store.address,
    stream,
    events: options.events ?? 99,
    procs: options.procs ?? 5,
    mode: options.atOnce ? 'at-once' : 'loop',
    pace: options.pace ?? 'usual',
    write: options.write ?? 'lease',
    claimMs: options.claim ?? (kill ? 3_000 : 60_000),
    holdMs: options.hold ?? (kill ? 100 : 0),
    kill,
  }
}

/** Average time between kills, ms: long enough for a new process to complete some events. */
const KILL_EVERY_MS = 600

async function contend(
  store: StreamStore,
  settings: StreamLabSettings,
  output: Output,
  options: StreamLabOptions,
  runtime: Runtime,
): Promise<StreamReport> {
  const { stream, events, procs, mode, pace, write, claimMs, holdMs, kill } = settings
  if (options.output !== 'json') {
    const where = `${stream} on ${visibleText(store.address)}`
    await output.say(
      `${where}: ${contenders(procs, 'work')} on ${counted(events, 'event')}, ${mode === 'loop' ? 'one event at a time each' : 'all events at once'}`,
    )
  }
  const values = { procs, pace, write, claim: `${claimMs}ms`, hold: `${holdMs}ms` }
  const flags = Object.entries(values).flatMap(([name, value]) => [`--${name}`, `${value}`])
  const modes = [...(mode === 'at-once' ? ['--at-once'] : []), ...(kill ? ['--kill'] : [])]
  const members = await runWorkerProcesses({
    size: procs,
    start: workerStarter('stream', store, stream, [...flags, ...modes], runtime),
    signal: runtime.signal,
    ...(kill ? { kills: { everyMs: KILL_EVERY_MS, random: Math.random } } : {}),
  })
  return streamReport(settings, members, await finalState(store, stream))
}

async function work(store: StreamStore, name: string, options: StreamLabOptions, runtime: Runtime): Promise<undefined> {
  const { stream = '', procs = 1, at = 0, pace = 'usual', write = 'lease' } = options
  const view = await finalState(store, stream)
  const share = claimable(view.stream.events, view.nowMs).filter((_, index) => index % procs === at)
  // A replacement has to work at once.
  if (options.kill !== true)
    await warmUp(store, `${stream}-${name}`, { name, write, events: view.stream.events.length })
  const say = (text: string) => runtime.stdout.write(text)
  const samples = new SampleWriter<LabChange>(changes => say(`${JSON.stringify({ kind: 'changes', changes })}\n`))
  await runAsWorker({ heard: runtime.readLines(), write: say, signal: runtime.signal }, async signal => {
    const fromMs = machineMs()
    const how: LabWorkOptions = {
      name,
      paceName: pace,
      pace: waitStrategyOf(pace, Math.random),
      write,
      claimMs: options.claim ?? 0,
      holdMs: options.hold ?? 0,
      random: Math.random,
      clock: () => machineMs() - fromMs,
      signal,
      report: change => samples.add(change),
    }
    await (options.atOnce ? workAtOnce(store, stream, share, how) : workInLoop(store, stream, how))
    await samples.flush()
  })
}
