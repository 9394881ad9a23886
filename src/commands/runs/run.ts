import { rm } from 'node:fs/promises'
import { commandLine, shellWord } from '../../cli/command-line.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { isListFormat, type Output, openOutput, writeList } from '../../cli/output.ts'
import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonDocument, jsonTime, jsonTimeOf, orNull } from '../../formats/json.ts'
import { counted, type TimeStyle, timeText } from '../../formats/terminal/numbers.ts'
import { type Cell, type Column, table } from '../../formats/terminal/table.ts'
import { formatDuration } from '../../stream/time/durations.ts'
import { errorCode } from '../../util/errors.ts'
import { visibleText } from '../../util/visible-text.ts'
import { OUTCOME_WORDS } from '../batch/options.ts'
import { type RunFileName, runFilesOf, runFolder, runPathOf } from '../batch/run-file/names.ts'
import { isLeft, type RunRecord, type RunTarget, readRunFile } from '../batch/run-file/read.ts'

export interface ListRunsOptions extends GlobalOptions {
  readonly limit?: number
}

/** A run file in a list. */
interface ListedRun {
  readonly file: RunFileName
  /** Without the targets, which can be many. */
  readonly run: Omit<RunRecord, 'targets'> | undefined
  readonly counts: RunCounts
  /** The run file that did the rest, or a part of it. */
  readonly continuedBy: string | undefined
  /** Why it cannot be read. */
  readonly error: string | undefined
}

/** Lists the run files of this user, the latest first. An unreadable one is listed with its error. */
export async function listRuns(options: ListRunsOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const files = await runFilesOf(runtime.env)
  const shown = files.slice(0, options.limit)
  const totals = { total: files.length, truncated: files.length > shown.length }
  if (options.output === 'name') await output.lines(shown.map(({ path }) => visibleText(path)))
  else await printRuns(options.output, await listed(shown), totals, output, runtime)
  if (files.length === 0) await output.say(`no run files in ${visibleText(runFolder(runtime.env))}`)
  else if (totals.truncated) await output.say(`showing ${shown.length} of ${files.length} (--limit N shows more)`)
  return undefined
}

/** The latest come first, so a run is known to be continued before it is read itself. */
async function listed(files: readonly RunFileName[]): Promise<ListedRun[]> {
  const continuedBy = new Map<string, string>()
  const runs: ListedRun[] = []
  // one after another: a run of many streams has megabytes
  for (const file of files) {
    const { run, error } = await readOrError(file.path)
    const { targets = [], ...head } = run ?? {}
    if (run?.rerunOf !== undefined) continuedBy.set(baseName(run.rerunOf), file.path)
    const more = { run: run && (head as Omit<RunRecord, 'targets'>), error, continuedBy: continuedBy.get(file.name) }
    runs.push({ file, counts: countsOf(targets), ...more })
  }
  return runs
}

async function readOrError(path: string): Promise<{ readonly run?: RunRecord; readonly error: string | undefined }> {
  try {
    return { run: await readRunFile(path), error: undefined }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return { error: error.message }
  }
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

async function printRuns(
  format: string | undefined,
  runs: readonly ListedRun[],
  totals: { readonly total: number; readonly truncated: boolean },
  output: Output,
  runtime: Runtime,
): Promise<void> {
  if (isListFormat(format)) await writeList(format, runs.map(runJson), { fields: RUN_FIELDS, rest: totals }, output)
  else {
    const width = output.width === undefined ? {} : { width: output.width }
    const rows = runs.map(one => runRow(one, output, runtime))
    await output.lines(table(RUN_COLUMNS, rows, { paint: output.paint, ...width }))
  }
}

const RUN_FIELDS = [
  'file',
  'startedAt',
  'verb',
  'store',
  'by',
  'reason',
  'commandId',
  'events',
  'flags',
  'rerunOf',
  'continuedBy',
  ...['total', 'left', 'notStarted', ...OUTCOME_WORDS].map(word => `counts.${word}`),
  'error',
] as const

const RUN_COLUMNS: readonly Column[] = [
  { title: 'STARTED' },
  { title: 'COMMAND' },
  { title: 'TARGETS', align: 'right' },
  { title: 'LEFT', align: 'right' },
  { title: 'STORE', give: 3, min: 12, cut: 'middle' },
  { title: 'REASON', give: 2, min: 8 },
  { title: 'FILE', runsOn: true, min: 20 },
]

function runRow({ file, run, counts, continuedBy, error }: ListedRun, { time }: Output, { nowMs }: Runtime): Cell[] {
  const name = visibleText(file.name)
  const when = agoText(file.startedMs, time, nowMs())
  if (run === undefined) return [when, file.verb, '', '', { text: visibleText(error ?? ''), style: 'bad' }, '', name]
  const left = counts.left === 0 ? '0' : continuedBy === undefined ? String(counts.left) : `${counts.left} (continued)`
  const style = counts.left > 0 && continuedBy === undefined ? 'warn' : 'plain'
  return [
    when,
    visibleText(run.verb),
    String(counts.total),
    { text: left, style },
    visibleText(run.store),
    visibleText(run.given.reason ?? ''),
    name,
  ]
}

function agoText(ms: number | undefined, time: TimeStyle, nowMs: number): string {
  const text = timeText(ms, nowMs, time)
  return time === 'relative' && ms !== undefined ? `${text} ago` : text
}

type RunCounts = Readonly<Record<(typeof OUTCOME_WORDS)[number] | 'notStarted' | 'left' | 'total', number>>

function countsOf(targets: readonly RunTarget[]): RunCounts {
  const of = (word: string | undefined) => targets.filter(({ outcome }) => outcome?.word === word).length
  const words = Object.fromEntries(OUTCOME_WORDS.map(word => [word, of(word)])) as Record<
    (typeof OUTCOME_WORDS)[number],
    number
  >
  const left = targets.filter(target => isLeft(target)).length
  return { total: targets.length, left, notStarted: of(undefined), ...words }
}

function runJson({ file, run, counts, continuedBy, error }: ListedRun) {
  return {
    file: file.path,
    startedAt: jsonTimeOf(run?.startedAt) ?? jsonTime(file.startedMs),
    verb: run?.verb ?? file.verb,
    store: run?.store ?? null,
    by: run?.given.by ?? null,
    reason: orNull(run?.given.reason),
    commandId: run?.given.commandId ?? null,
    events: run?.given.event ?? [],
    flags: run === undefined ? [] : flagsOf(run),
    rerunOf: run?.rerunOf ?? null,
    continuedBy: continuedBy ?? null,
    counts: run === undefined ? null : counts,
    error: error ?? null,
  }
}

export interface ShowRunOptions extends GlobalOptions {
  /** A path, a name of the folder, or `last`. */
  readonly run: string
}

/** Shows what a run did not do; with `-v` and `-o json` all its targets. */
export async function showRun(options: ShowRunOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const path = await runPathOf(options.run, runtime.env)
  const run = await readRunFile(path)
  if (options.output === 'json') {
    await output.text(jsonDocument(shownJson(path, run)))
    return undefined
  }
  const counts = countsOf(run.targets)
  await output.lines(headLines(path, run, counts, output, runtime))
  const shown = options.verbose ? run.targets : run.targets.filter(target => isLeft(target))
  if (shown.length > 0) {
    const width = output.width === undefined ? {} : { width: output.width }
    await output.lines(['', ...table(TARGET_COLUMNS, shown.map(targetRow), { paint: output.paint, ...width })])
  }
  const hidden = run.targets.length - shown.length
  if (hidden > 0) await output.say(`${counted(hidden, 'target')} done (-v shows them)`)
  if (counts.left > 0)
    await output.say(
      `the rest: ${commandLine(runtime, [...run.verb.split(' '), '--rerun', path, '--store', run.store])}`,
    )
  return undefined
}

function headLines(path: string, run: RunRecord, counts: RunCounts, { time }: Output, { nowMs }: Runtime): string[] {
  const { by, reason } = run.given
  const startedMs = run.startedAt === undefined ? undefined : Date.parse(run.startedAt)
  const words = [...OUTCOME_WORDS, 'notStarted' as const].filter(word => counts[word] > 0)
  const told = words.map(word => `${counts[word]} ${word === 'notStarted' ? 'not started' : word}`).join(', ')
  const facts: readonly (readonly [label: string, text: string | undefined])[] = [
    ['run', path],
    ['command', [run.verb, ...flagsOf(run).map(shellWord)].join(' ')],
    ['started', agoText(startedMs, time, nowMs())],
    ['store', run.store],
    ['by', by],
    ['reason', reason],
    ['rest of', run.rerunOf],
    ['targets', `${counted(counts.total, 'target')}${told === '' ? '' : `: ${told}`}`],
  ]
  return facts.flatMap(([label, text]) => (text === undefined ? [] : [`${label.padEnd(7)}  ${visibleText(text)}`]))
}

/** The flags of a run that a rerun keeps, as they are typed. */
function flagsOf({ given, how }: Pick<RunRecord, 'given' | 'how'>): readonly string[] {
  const { event = [], blob = [], force, reopenCanceled, stale } = given
  const { period, leaseWait, write, ifVersion, concurrency, rate, skipMissing } = how
  const one = (flag: string, value: string | number | undefined) => (value === undefined ? [] : [flag, String(value)])
  const time = (flag: string, ms: number | undefined) => one(flag, ms === undefined ? ms : formatDuration(ms))
  return [
    ...event.flatMap(id => ['-e', id]),
    ...blob.flatMap(name => ['--blob', name]),
    ...(force ? ['--force'] : []),
    ...(reopenCanceled ? ['--canceled'] : []),
    ...time('--stale', stale),
    ...time('--period', period === undefined ? period : period * 1_000),
    ...time('--lease-wait', leaseWait),
    ...one('--write', write),
    ...one('--if-version', ifVersion),
    ...one('--concurrency', concurrency),
    ...one('--rate', rate),
    ...(skipMissing ? ['--skip-missing'] : []),
  ]
}

const TARGET_COLUMNS: readonly Column[] = [
  { title: 'STREAM', give: 1, min: 20, cut: 'middle' },
  { title: 'EVENT' },
  { title: 'OUTCOME' },
  { title: 'WHY', runsOn: true, min: 20 },
]

function targetRow({ stream, event = '', outcome }: RunTarget): Cell[] {
  const word = outcome?.word ?? 'not started'
  return [visibleText(stream), visibleText(event), word, visibleText(outcome?.message ?? outcome?.code ?? '')]
}

function shownJson(path: string, run: RunRecord) {
  return {
    file: path,
    startedAt: jsonTimeOf(run.startedAt),
    verb: run.verb,
    store: run.store,
    by: run.given.by,
    reason: orNull(run.given.reason),
    commandId: run.given.commandId,
    events: run.given.event ?? [],
    flags: flagsOf(run),
    rerunOf: run.rerunOf ?? null,
    counts: countsOf(run.targets),
    targets: run.targets.map(({ stream, event, outcome }) => ({
      stream,
      event: event ?? null,
      outcome: outcome?.word ?? null,
      code: outcome?.code ?? null,
      message: outcome?.message ?? null,
    })),
  }
}

export interface PruneRunsOptions extends GlobalOptions {
  /** ms */
  readonly olderThan: number
  readonly dryRun?: boolean
}

/** Removes run files of runs that started longer ago. */
export async function pruneRuns(options: PruneRunsOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const beforeMs = runtime.nowMs() - options.olderThan
  const old = (await runFilesOf(runtime.env)).filter(({ startedMs }) => startedMs < beforeMs)
  for (const { path } of options.dryRun ? [] : old) {
    const fault = await rm(path, { force: true }).catch((error: unknown) => error)
    if (fault !== undefined) return cannotRemove(path, fault)
  }
  const files = old.map(({ path }) => path)
  if (options.output === 'json') await output.text(jsonDocument({ files, dryRun: options.dryRun ?? false }))
  else if (options.dryRun) await output.lines(files.map(visibleText))
  if (options.output !== 'json')
    await output.say(`${options.dryRun ? 'would remove' : 'removed'} ${counted(files.length, 'run file')}`)
  return undefined
}

function cannotRemove(path: string, cause: unknown): Problem {
  return problem('file-failed', `${path} cannot be removed (${errorCode(cause) ?? cause})`, { cause })
}
