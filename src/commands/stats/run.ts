import { setImmediate as otherWork } from 'node:timers/promises'
import { nothingText } from '../../cli/counter.ts'
import { errorProblem } from '../../cli/error-problem.ts'
import { missingProblem } from '../../cli/outcome-problem.ts'
import { itemsWriter, type Output, openOutput, writeTexts } from '../../cli/output.ts'
import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import { tellProblem } from '../../cli/problem-text.ts'
import { openProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { readSelection } from '../../cli/selection/read.ts'
import { openStoreFor } from '../../cli/store.ts'
import { keepHeapSmall } from '../../cli/v8-flags.ts'
import { atMs } from '../../cli/values.ts'
import { jsonLine, jsonText, jsonTime } from '../../formats/json.ts'
import { stepJson } from '../../formats/stats/json.ts'
import { shareText, stepTable } from '../../formats/stats/table.ts'
import { clock, counted, countText } from '../../formats/terminal/numbers.ts'
import type { Selection } from '../../ops/selection.ts'
import { readTried, type TriedStream } from '../../ops/stats/attempts.ts'
import { endedAttempts, failedAttempts, type StepStats, StepTally, sortedSteps } from '../../ops/stats/stats.ts'
import { visibleName } from '../../util/visible-text.ts'
import type { StatsOptions } from './options.ts'

/** The numbers of the steps of one or many streams. */
export async function showStats(options: StatsOptions, runtime: Runtime): Promise<Problem | undefined> {
  const sinceMs = options.since && atMs(options.since, runtime.nowMs())
  const selection = await selectionOf(options, runtime)
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  if (selection.kind !== 'names') await keepHeapSmall()
  const tally = new StepTally(options.groupBy ?? 'name', sinceMs)
  const { signal } = runtime
  const tried = readTried(store, selection, { signal, ...(sinceMs === undefined ? {} : { sinceMs }) })
  const collected = await collect(tried, tally, selection, options, runtime)
  if (collected.fatal !== undefined) return collected.fatal
  const all = sortedSteps(tally.steps(), options.sort ?? 'count')
  const shown = all.slice(0, options.limit)
  await print({ all, shown, sinceMs, collected }, options, output)
  const ended = sinceMs === undefined ? undefined : `ended since ${clockText(sinceMs, runtime.nowMs(), output)}`
  if (!options.quiet && collected.streams === 0 && selection.kind === 'filter' && isFiltered(selection)) {
    const what = ended === undefined ? undefined : `nothing that matches ${ended}`
    await output.say(await nothingText(store, true, runtime, what))
  } else await output.say(totalsText(all, shown, collected, ended))
  return incomplete(collected)
}

async function selectionOf({ since, ...which }: StatsOptions, runtime: Runtime): Promise<Selection> {
  const selection = await readSelection(which, runtime)
  if (selection !== undefined) return selection
  if (since !== undefined) return { kind: 'filter', filter: {} }
  throw new UsageError('the numbers of which streams?', {
    hint: 'Name them, or say --since 1h, or use a filter such as --match; --all is the whole store.',
  })
}

interface Found {
  readonly all: readonly StepStats[]
  readonly shown: readonly StepStats[]
  readonly sinceMs: number | undefined
  readonly collected: Collected
}

async function print(
  { all, shown, sinceMs, collected }: Found,
  { output: format, groupBy = 'name' }: StatsOptions,
  output: Output,
): Promise<void> {
  const head = { groupBy, since: jsonTime(sinceMs) }
  const withOpen = sinceMs === undefined
  switch (format) {
    case 'json': {
      const items = itemsWriter(output)
      await items.write(shown.map(step => jsonText(stepJson(step, withOpen), 0)))
      const { streams, unreadable } = collected
      return items.end({ ...head, total: all.length, truncated: shown.length < all.length, streams, unreadable })
    }
    case 'ndjson':
      return writeTexts(
        shown.map(step => jsonLine({ ...head, ...stepJson(step, withOpen) })),
        output,
      )
    default: {
      const { paint, width } = output
      const options = { by: groupBy, open: withOpen, paint, ...(width === undefined ? {} : { width }) }
      return output.lines(stepTable(shown, options))
    }
  }
}

function isFiltered({ filter }: Extract<Selection, { readonly kind: 'filter' }>): boolean {
  return Object.keys(filter).length > 0
}

/** A time in the past is told as one, however others are shown: `since 3h` would be none. */
function clockText(ms: number, nowMs: number, { time }: Output): string {
  return clock(ms, nowMs, time === 'relative' ? 'local' : time)
}

/** `431 streams, 3 steps, 1 870 events; 23 of 1 800 ended tries failed (1%), 70 open`. */
function totalsText(
  all: readonly StepStats[],
  shown: readonly StepStats[],
  { streams }: Collected,
  since: string | undefined,
): string {
  const sum = (of: (step: StepStats) => number) => all.reduce((total, step) => total + of(step), 0)
  const what = counted(streams, 'stream')
  if (all.length === 0) return `${what}, ${since === undefined ? 'no events' : `nothing ${since}`}`
  const [failed, ended] = [sum(failedAttempts), sum(endedAttempts)]
  const parts = [
    what,
    counted(all.length, 'step'),
    counted(
      sum(({ events }) => events),
      'event',
    ),
  ]
  const share = failed === 0 ? '' : ` (${shareText(failed / ended)})`
  const open = since === undefined ? `, ${countText(sum(({ outcomes }) => outcomes.open))} open` : ''
  const rest = shown.length < all.length ? `; showing ${shown.length} of ${all.length} steps` : ''
  return `${parts.join(', ')}; ${countText(failed)} of ${countText(ended)} ended tries failed${share}${open}${rest}`
}

function incomplete({ streams, unreadable, named }: Collected): Problem | undefined {
  if (unreadable === 0) return undefined
  const more = unreadable > named.length ? ` +${unreadable - named.length}` : ''
  return problem('batch-incomplete', `${unreadable} of ${streams} streams could not be read`, {
    facts: [['streams', named.map(visibleName).join(' ') + more]],
    hint: 'The numbers are those of the others.',
  })
}

/** What became of the streams. */
interface Collected {
  /** Streams that were read, or could not be. */
  readonly streams: number
  readonly unreadable: number
  /** The first of these. */
  readonly named: readonly string[]
  /** Nothing is printed then. */
  readonly fatal: Problem | undefined
}

const PROGRESS_EVERY = 500
/** An embedded store answers without a pause: signals have to get their turn. */
const TURN_EVERY = 50
/** Further streams that cannot be read are only counted. */
const MOST_TOLD = 20
const MOST_NAMED = 5

/** Adds up all streams as they are read. What cannot be read is told; the rest goes on. */
async function collect(
  tried: AsyncIterable<TriedStream>,
  tally: StepTally,
  selection: Selection,
  options: StatsOptions,
  runtime: Runtime,
): Promise<Collected> {
  const progress = openProgressLine(options, runtime)
  const named: string[] = []
  const missing: Problem[] = []
  let streams = 0
  let unreadable = 0
  try {
    for await (const item of tried) {
      runtime.signal.throwIfAborted()
      // what vanished between listing and reading is no longer one of those that were asked for
      if (item.kind === 'missing' && selection.kind === 'filter') continue
      if (++streams % PROGRESS_EVERY === 0) await progress.show(`${streams} streams read`)
      if (streams % TURN_EVERY === 0) await otherWork()
      if (item.kind === 'read') tally.add(item.stream, item.events)
      else if (item.kind === 'missing' && selection.kind === 'names') missing.push(missingProblem(item.stream))
      else {
        const fault = item.kind === 'missing' ? missingProblem(item.stream) : errorProblem(item.cause, runtime)
        if (isOnly(selection)) return { streams, unreadable, named, fatal: fault }
        if (++unreadable <= MOST_NAMED) named.push(item.stream)
        if (unreadable > MOST_TOLD) continue
        await progress.clear()
        await tellProblem(fault, options, runtime)
      }
    }
  } finally {
    await progress.clear()
  }
  return { streams, unreadable, named, fatal: allMissing(missing) }
}

function isOnly(selection: Selection): boolean {
  return selection.kind === 'names' && selection.names.length === 1
}

/** Of names that were typed each has to exist, and all that do not are told. */
function allMissing([first, ...others]: readonly Problem[]): Problem | undefined {
  if (first === undefined || others.length === 0) return first
  return { ...first, facts: others.map(({ message }) => ['also', message] as const) }
}
