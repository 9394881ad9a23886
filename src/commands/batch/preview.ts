import { itemsWriter, type Output, writeTexts } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import { problemJson } from '../../cli/problem-text.ts'
import { refusalJson } from '../../formats/change.ts'
import { textFormat } from '../../formats/field.ts'
import { jsonLine, jsonText, orNull } from '../../formats/json.ts'
import { lesserColumns, usualColumns } from '../../formats/listing/columns.ts'
import { stateStyle } from '../../formats/listing/health.ts'
import { listingJson } from '../../formats/listing/json.ts'
import { statusLook } from '../../formats/stream/view.ts'
import { counted, countText, type TimeStyle } from '../../formats/terminal/numbers.ts'
import { hasColour, paintFor } from '../../formats/terminal/style.ts'
import { type Cell, type Column, table } from '../../formats/terminal/table.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { type BatchAction, isProblem } from './action.ts'
import type { BatchPlan, PreviewRow } from './plan.ts'
import { type BatchContext, countsByName, leftOutText } from './result.ts'

/** Number of rows in a preview on stderr; nobody reads more. */
export const ROWS_SHOWN = 20

/** Prints the preview on stderr before the question: the first targets, and counts of all. */
export async function sayPreview(
  plan: BatchPlan,
  { action, options, runtime }: BatchContext,
  output: Output,
): Promise<void> {
  const { stderr, env } = runtime
  const paint = await paintFor(hasColour(options.color ?? 'auto', env, stderr.isTty))
  const shown = plan.rows.slice(0, ROWS_SHOWN)
  const more = plan.targets.length - shown.length
  const lines = [
    ...previewLines(shown, action, runtime.nowMs(), { time: output.time, paint, width: stderr.columns }),
    ...(more > 0 ? [`and ${countText(more)} more`] : []),
    planText(plan),
  ]
  await output.say(lines.join('\n'))
}

/** Prints the preview of `--dry-run` as data. */
export async function printPreview(
  plan: BatchPlan,
  { action, options, runtime }: BatchContext,
  output: Output,
): Promise<void> {
  const { rows } = plan
  if (options.output === 'ndjson') {
    await writeTexts(
      rows.map(row => jsonLine(rowJson(row, runtime.nowMs()))),
      output,
    )
  } else if (options.output === 'json') {
    const items = itemsWriter(output)
    await items.write(rows.map(row => jsonText(rowJson(row, runtime.nowMs()), 0)))
    const { jobs, leftOut } = plan
    await items.end({
      total: rows.length,
      dryRun: true,
      verb: action.name,
      streams: jobs.length,
      leftOut,
      leftOutBecause: Object.fromEntries(plan.leftOutBecause),
    })
  } else {
    await output.lines(previewLines(rows, action, runtime.nowMs(), output))
  }
  await output.say(`${planText(plan)}. A dry run: nothing was changed.`)
}

/** `58 streams: 40 inprocess, 18 blocked; 1 not tried; 2 already final, left out` */
export function planText(plan: BatchPlan): string {
  const { settled, leftOut, byState, refusedEvents } = plan
  const states = [...byState].map(([state, count]) => `${countText(count)} ${stateStyle(state).word}`)
  const refused = refusedEvents.values().reduce((sum, count) => sum + count, 0)
  return [
    `${countOf(plan)}${states.length === 0 ? '' : `: ${states.join(', ')}`}`,
    ...(settled.length === 0 ? [] : [`${countText(settled.length)} not tried`]),
    ...(refused === 0 ? [] : [`${counted(refused, 'event')} not retried (${countsByName(refusedEvents)})`]),
    ...(leftOut === 0 ? [] : [leftOutText(plan)]),
  ].join('; ')
}

/** `58 streams`, or `116 events of 58 streams`. */
export function countOf({ jobs }: Pick<BatchPlan, 'jobs'>): string {
  const streams = counted(jobs.length, 'stream')
  const targets = jobs.flatMap(job => job.targets)
  const byEvent = targets.some(({ event }) => event !== undefined)
  return byEvent ? `${counted(targets.length, 'event')} of ${streams}` : streams
}

/** Longest name that a user must type, in characters. */
const MAX_TYPED = 60

/** The name of the only stream, if it can be typed. */
export function nameToType({ jobs }: Pick<BatchPlan, 'jobs'>): string | undefined {
  const [only, ...others] = jobs.flatMap(({ targets }) => targets.map(({ stream }) => stream))
  if (only === undefined || others.length > 0) return undefined
  return only.length <= MAX_TYPED && visibleName(only) === only ? only : undefined
}

interface PreviewColumn extends Column {
  cell(row: PreviewRow, nowMs: number, time: TimeStyle): Cell
}

type Look = Pick<Output, 'time' | 'paint' | 'width'>

function previewLines(rows: readonly PreviewRow[], { previewLine }: BatchAction, nowMs: number, look: Look): string[] {
  if (previewLine === undefined) return previewTable(rows, nowMs, look)
  return rows.map(row => {
    const why = problemOf(row)
    return `${previewLine(row.item, nowMs)}${why === undefined ? '' : `, not tried: ${visibleText(why.code)}`}`
  })
}

function previewTable(rows: readonly PreviewRow[], nowMs: number, { time, paint, width }: Look): string[] {
  const columns = columnsFor(rows, time)
  const cells = rows.map(row => columns.map(column => column.cell(row, nowMs, time)))
  return table(columns, cells, { paint, ...(width === undefined ? {} : { width }) })
}

/** The columns of `ls` and the version; columns for events and untried targets only if there are any. */
function columnsFor(rows: readonly PreviewRow[], time: TimeStyle): PreviewColumn[] {
  const listing = [...usualColumns(time), ...lesserColumns(['version'], time)].map(({ cell, ...column }) => ({
    ...column,
    cell: ({ item }: PreviewRow, nowMs: number, style: TimeStyle) => cell({ item }, textFormat(nowMs, style)),
  }))
  return [
    ...listing.slice(0, 1),
    ...(rows.some(({ target }) => target.event !== undefined) ? [EVENT, EVENT_STATUS] : []),
    ...listing.slice(1),
    ...(rows.some(row => problemOf(row) !== undefined) ? [NOT_TRIED] : []),
  ]
}

const EVENT: PreviewColumn = { title: 'EVENT', cell: ({ target }) => visibleText(target.event ?? '') }

const EVENT_STATUS: PreviewColumn = {
  title: 'EVENT STATUS',
  cell({ state }) {
    const { glyph, style, word } = statusLook(state)
    return { text: `${glyph} ${word}`, style }
  },
}

const NOT_TRIED: PreviewColumn = {
  title: 'NOT TRIED',
  cell(row) {
    const why = problemOf(row)
    return why === undefined ? '' : { text: visibleText(why.code), style: 'warn' }
  },
}

/** Why it is not tried; `undefined` also for a target that needs no change. */
export function problemOf({ objection }: PreviewRow): Problem | undefined {
  return objection !== undefined && isProblem(objection) ? objection : undefined
}

function rowJson(row: PreviewRow, nowMs: number): object {
  const { target, item, state, refused } = row
  const why = problemOf(row)
  const { name: _, ...listed } = listingJson(item, nowMs)
  return {
    stream: target.stream,
    event: target.event ?? null,
    eventStatus: target.event === undefined ? null : orNull(state),
    ...listed,
    error: why === undefined ? null : problemJson(why),
    refused: refused.map(refusalJson),
  }
}
