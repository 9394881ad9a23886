import { commandLine } from '../../cli/command-line.ts'
import { creationWords } from '../../cli/error-problem.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { openProgressLine } from '../../cli/output/progress-line.ts'
import { openOutput } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { SelectionOptions } from '../../cli/selection/flags.ts'
import { readSelection } from '../../cli/selection/read.ts'
import { checkMayChange, openStoreFor } from '../../cli/store.ts'
import { VERSION } from '../../cli/version.ts'
import type { ShownFinding } from '../../formats/doctor.ts'
import { orphanedData, orphanFinding } from '../../ops/doctor/data.ts'
import { inboxFindings } from '../../ops/doctor/inboxes.ts'
import { examineStore, type StoreExamination } from '../../ops/doctor/store.ts'
import type { Finding } from '../../ops/doctor/stream.ts'
import { examineStreams } from '../../ops/doctor/streams.ts'
import { subscriptionFindings } from '../../ops/doctor/subscriptions.ts'
import type { Selection } from '../../ops/selection.ts'
import type { StreamStore } from '../../store/store.ts'
import { LeasectlError } from '../../stream/errors.ts'
import { inboxesSeen } from '../inbox/views.ts'
import { subscriptionsSeen } from '../subscription/views.ts'
import { type DoctorOutput, DoctorTally, openDoctorOutput } from './output.ts'

export interface DoctorOptions extends GlobalOptions, SelectionOptions {
  readonly readOnly?: boolean
  readonly deep?: boolean
  /** Remove data that no event names. */
  readonly repair?: boolean
}

/** Examines the store, then the selected streams, and prints findings as it goes. */
export async function examineAll(options: DoctorOptions, runtime: Runtime): Promise<Problem | undefined> {
  if (options.repair && options.readOnly) throw new UsageError('--repair does not go with --read-only')
  const selection = await readSelection(options, runtime)
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  if (options.repair && runtime.opened !== undefined) await checkMayChange(runtime.opened)
  const isReadOnly = runtime.opened?.isReadOnly === true
  if (isReadOnly) await output.say('the context is read-only: create, lease, write, release and remove are not tried')
  const tally = new DoctorTally()
  const readOnly = options.readOnly === true || isReadOnly
  const examination = await examineOneStore(store, { ...options, readOnly }, runtime)
  tally.addStore(examination.findings)
  const report = openDoctorOutput(options.output, options.verbose === true || selection?.kind === 'names', output)
  await report.store(examination, shown(examination.findings, runtime))
  const readable = selection !== undefined && mayRead(examination, selection)
  let complete = selection === undefined
  try {
    if (readable) complete = await examineSelected(store, selection, tally, report, options, runtime)
  } finally {
    await report.end({ examined: selection && tally.examined, complete, counts: tally.counts })
  }
  if (selection === undefined && tally.counts.error === 0) {
    await output.say(`no streams examined; ${commandLine(runtime, ['doctor', '--all'])} examines them too`)
  }
  return tally.problem(selection)
}

/** Examines the store. An interruption must not leave the probe blob behind, so the first Ctrl-C waits for its removal. */
async function examineOneStore(
  store: StreamStore,
  { readOnly = false, deep = false, all = false, repair = false }: DoctorOptions,
  runtime: Runtime,
): Promise<StoreExamination> {
  const { actor, signal } = runtime
  if (!readOnly) runtime.begin('writes')
  const found = await examineStore(store, { write: !readOnly, deep, newId: () => runtime.newId(), actor, signal })
  const isReadable = ['list', 'read'].every(step =>
    found.probe.some(({ name, outcome }) => name === step && outcome === 'ok'),
  )
  const orphans = isReadable && (all || repair) ? await orphanFindings(store, repair, signal) : []
  const beside = isReadable ? await findingsBeside(store, signal) : []
  runtime.begin('reads')
  return { ...found, findings: [...orphans, ...beside, ...found.findings, VERSIONS] }
}

/** A fault of the store ends no examination: the probe has found it. */
async function findingsBeside(store: StreamStore, signal: AbortSignal): Promise<readonly Finding[]> {
  try {
    const subscriptions = subscriptionFindings(await subscriptionsSeen(store, signal))
    return [...subscriptions, ...inboxFindings(await inboxesSeen(store, signal))]
  } catch (error) {
    if (error instanceof LeasectlError) return []
    throw error
  }
}

/** Looks for data that no event names; with `--repair` removes it. */
async function orphanFindings(store: StreamStore, remove: boolean, signal: AbortSignal): Promise<readonly Finding[]> {
  const finding = orphanFinding(await orphanedData(store, { remove, signal }), remove)
  return finding === undefined ? [] : [finding]
}

const VERSIONS: Finding = {
  severity: 'ok',
  code: 'versions',
  subject: '',
  message: `leasectl ${VERSION}, Node ${process.versions.node}, SQLite ${process.versions.sqlite}`,
}

/** False if listing or reading failed: it would fail again for each stream. */
function mayRead({ probe }: StoreExamination, { kind }: Selection): boolean {
  const failed = probe.filter(({ outcome }) => outcome !== 'ok').map(({ name }) => name)
  return !failed.includes('read') && (kind !== 'filter' || !failed.includes('list'))
}

/** Streams per update of the progress line, which is cleared before findings are printed. */
const PROGRESS_EVERY = 100

async function examineSelected(
  store: StreamStore,
  selection: Selection,
  tally: DoctorTally,
  report: DoctorOutput,
  options: DoctorOptions,
  runtime: Runtime,
): Promise<true> {
  const progress = openProgressLine(options, runtime)
  try {
    for await (const item of examineStreams(store, selection, {
      deep: options.deep === true,
      signal: runtime.signal,
    })) {
      runtime.signal.throwIfAborted()
      const findings = item.kind === 'missing' ? [MISSING] : item.findings
      if (item.kind === 'missing') tally.addMissing(item.name, findings)
      else tally.addStream(findings)
      if (findings.length > 0) await progress.clear()
      await report.stream(item.name, shown(findings, runtime))
      if (tally.examined % PROGRESS_EVERY === 0) await progress.show(`${tally.examined} streams examined`)
    }
  } finally {
    await progress.clear()
  }
  return true
}

const MISSING: Finding = {
  severity: 'error',
  code: 'stream-not-found',
  subject: '',
  message: 'no such stream',
  hint: 'Is it the right store? ls lists its streams.',
}

function shown(findings: readonly Finding[], runtime: Runtime): readonly ShownFinding[] {
  return findings.map(finding => {
    // The store does not know which command has the flag.
    if (finding.code === 'container-missing') {
      const { hint: _, ...rest } = finding
      return { ...rest, tryCommand: commandLine(runtime, creationWords(runtime)) }
    }
    return finding.command === undefined ? finding : { ...finding, tryCommand: commandLine(runtime, finding.command) }
  })
}
