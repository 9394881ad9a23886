import { nothingText } from '../../cli/counter.ts'
import { isListFormat, type Output, openOutput, writeList } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { type Collected, collect, incompleteProblem, selectionSince } from '../../cli/selection/collect.ts'
import { openStoreFor } from '../../cli/store.ts'
import { keepHeapSmall } from '../../cli/v8-flags.ts'
import { sinceMsOf } from '../../cli/values.ts'
import { jsonTime } from '../../formats/json.ts'
import { STEP_FIELDS, stepJson } from '../../formats/stats/json.ts'
import { shareText, stepTable } from '../../formats/stats/table.ts'
import { clock, counted, countText } from '../../formats/terminal/numbers.ts'
import type { Selection } from '../../ops/selection.ts'
import { readTried, type TriedStream } from '../../ops/stats/attempts.ts'
import { endedAttempts, type StepStats, StepTally, sortedSteps } from '../../ops/stats/stats.ts'
import type { StatsOptions } from './options.ts'

/** Unreadable streams reported one by one; further ones are only counted. */
const MOST_REPORTED = 20

/** Shows figures for the steps of one or many streams. */
export async function showStats(options: StatsOptions, runtime: Runtime): Promise<Problem | undefined> {
  const sinceMs = options.since && sinceMsOf(options.since, runtime.nowMs())
  const selection = await selectionSince(options, 'stats', runtime)
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  if (selection.kind !== 'names') await keepHeapSmall()
  const tally = new StepTally(options.groupBy ?? 'name', sinceMs)
  const { signal } = runtime
  const tried = readTried(store, selection, { signal, ...(sinceMs === undefined ? {} : { sinceMs }) })
  const add = ({ stream, events }: Extract<TriedStream, { readonly kind: 'read' }>) => tally.add(stream, events)
  const collected = await collect(tried, add, selection, options, runtime, { mostReported: MOST_REPORTED })
  if (collected.fatal !== undefined) return collected.fatal
  const all = sortedSteps(tally.steps(), options.sort ?? 'count')
  const shown = all.slice(0, options.limit)
  await print({ all, shown, sinceMs, collected }, options, output)
  const ended = sinceMs === undefined ? undefined : `ended since ${clockText(sinceMs, runtime.nowMs(), output)}`
  if (!options.quiet && collected.streams === 0 && selection.kind === 'filter' && isFiltered(selection)) {
    const what = ended === undefined ? undefined : `nothing that matches ${ended}`
    await output.say(await nothingText(store, true, runtime, what))
  } else await output.say(totalsText(all, shown, collected, ended))
  return incompleteProblem(collected, 'The figures cover the other streams.')
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
  if (isListFormat(format)) {
    const { streams, unreadable } = collected
    const inFront = format === 'json' ? {} : head
    const items = shown.map(step => ({ ...inFront, ...stepJson(step, withOpen) }))
    const rest = { ...head, total: all.length, truncated: shown.length < all.length, streams, unreadable }
    return writeList(format, items, { fields: STEP_FIELDS, rest }, output)
  }
  const { paint, width } = output
  const options = { by: groupBy, open: withOpen, paint, ...(width === undefined ? {} : { width }) }
  return output.lines(stepTable(shown, options))
}

function isFiltered({ filter }: Extract<Selection, { readonly kind: 'filter' }>): boolean {
  return Object.keys(filter).length > 0
}

/** A past time in absolute form, even if other times are relative: `since 3h` would not read as a time. */
function clockText(ms: number, nowMs: number, { time }: Output): string {
  return clock(ms, nowMs, time === 'relative' ? 'local' : time)
}

/** `431 streams, 3 steps, 1870 events; 23 of 1800 ended tries failed (1%), 8 canceled, 70 open` */
function totalsText(
  all: readonly StepStats[],
  shown: readonly StepStats[],
  { streams }: Collected,
  since: string | undefined,
): string {
  const sum = (of: (step: StepStats) => number) => all.reduce((total, step) => total + of(step), 0)
  const what = counted(streams, 'stream')
  if (all.length === 0) return `${what}, ${since === undefined ? 'no events' : `nothing ${since}`}`
  const [failed, ended] = [sum(({ outcomes }) => outcomes.aborted), sum(endedAttempts)]
  const canceled = sum(({ outcomes }) => outcomes.canceled)
  const parts = [
    what,
    counted(all.length, 'step'),
    counted(
      sum(({ events }) => events),
      'event',
    ),
  ]
  const share = failed === 0 ? '' : ` (${shareText(failed / ended)})`
  const onRequest = canceled === 0 ? '' : `, ${countText(canceled)} canceled`
  const open = since === undefined ? `, ${countText(sum(({ outcomes }) => outcomes.open))} open` : ''
  const rest = shown.length < all.length ? `; showing ${shown.length} of ${all.length} steps` : ''
  const ends = `${countText(failed)} of ${countText(ended)} ended tries failed${share}${onRequest}${open}`
  return `${parts.join(', ')}; ${ends}${rest}`
}
