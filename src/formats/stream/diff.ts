import type { JournalEntry, ViewAt } from '../../ops/read-stream.ts'
import { attemptOf, fenceOf, isFinal, type StreamEvent } from '../../stream/event.ts'
import type { EventDifference } from '../../stream/journal/versions.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { jsonTime, jsonTimeOf, orNull } from '../json.ts'
import { clock, counted, span, timeText } from '../terminal/numbers.ts'
import { noPaint } from '../terminal/style.ts'
import { type Cell, type Column, table } from '../terminal/table.ts'
import { type HeaderOptions, wallClock } from './header.ts'
import { statusCell } from './tree.ts'

/** The difference between two versions of a stream. */
export interface StreamDifference {
  readonly name: string
  readonly from: ViewAt
  readonly to: ViewAt
  readonly events: readonly EventDifference<JournalEntry>[]
  /** The transactions between them, oldest first. */
  readonly between: readonly JournalEntry[]
  /** Current time, epoch ms. */
  readonly nowMs: number
}

const COLUMNS: readonly Column[] = [
  { title: 'EVENT', give: 1, min: 16 },
  { title: 'FROM' },
  { title: 'TO' },
  { title: 'OWNER', give: 3, min: 6 },
  { title: 'LAST', give: 2, min: 8 },
  { title: 'WHEN', align: 'right' },
  { title: 'BY', give: 4, min: 6 },
  { title: 'WHY', give: 5, min: 6 },
]

/** The difference as text: versions, counts, then a row per event with the author and reason of its last change. */
export function diffLines(diff: StreamDifference, options: HeaderOptions): string[] {
  const paint = options.paint ?? noPaint
  const rows = diff.events.map(event => row(event, diff.nowMs, options))
  const withWhy = rows.some(cells => cells.at(-1) !== '')
  const columns = withWhy ? COLUMNS : COLUMNS.slice(0, -1)
  const title = `${paint('strong', visibleName(diff.name))}  ${paint('dim', `v${diff.from.version} → v${diff.to.version}`)}`
  const size = options.width === undefined ? {} : { width: options.width }
  return [title, counts(diff, options), ...foreignLine(diff), '', ...table(columns, rows, { paint, ...size })]
}

function counts({ from, to, events, between, nowMs }: StreamDifference, options: HeaderOptions): string {
  const at = (ms: number | undefined) => (ms === undefined ? '?' : clock(ms, nowMs, wallClock(options.time)))
  const lasted = from.atMs === undefined || to.atMs === undefined ? '' : ` (${span(to.atMs - from.atMs)})`
  const of = (kind: EventDifference['kind'], word: string) => {
    const count = events.filter(event => event.kind === kind).length
    return count === 0 ? [] : [`${count} ${word}`]
  }
  return [
    `${at(from.atMs)} → ${at(to.atMs)}${lasted}`,
    counted(between.filter(tx => !tx.provisional).length, 'transaction'),
    ...of('added', 'added'),
    ...of('changed', 'changed'),
    ...of('removed', 'removed'),
    ...of('again', 'as before'),
  ].join('  ')
}

function foreignLine({ between }: StreamDifference): string[] {
  const parts = [
    between.some(tx => tx.other) ? 'a foreign writer changed other attributes too' : '',
    between.some(tx => tx.provisional) ? 'one of them, a foreign write, is not recorded yet' : '',
  ].filter(part => part !== '')
  return parts.length === 0 ? [] : [parts.join('; ')]
}

function row(difference: EventDifference<JournalEntry>, nowMs: number, { time }: HeaderOptions): Cell[] {
  const { id, kind, before, after, times, last } = difference
  const name = visibleText((after ?? before)?.name ?? '')
  const at = last === undefined ? Number.NaN : Date.parse(last.at)
  return [
    `${visibleText(id)} ${name}`.trim(),
    before === undefined ? { text: '+ added', style: 'dim' } : statusCell(before),
    toCell(kind, after, times),
    claimText(before, after),
    last === undefined ? '-' : lastText(difference, last),
    timeText(Number.isNaN(at) ? undefined : at, nowMs, time),
    last === undefined || last.by === '' ? '-' : visibleText(last.by),
    visibleText(last?.why ?? ''),
  ]
}

function toCell(kind: EventDifference['kind'], after: StreamEvent | undefined, times: number): Cell {
  if (after === undefined) return { text: '- removed', style: 'warn' }
  return kind === 'again' ? { text: `= as before, ${counted(times, 'change')}`, style: 'dim' } : statusCell(after)
}

/** `v5 complete`; attributes set by this or an earlier transaction are named. */
function lastText({ attributes }: EventDifference, { version, op, provisional }: JournalEntry): string {
  const names = attributes.map(visibleText).join(' ')
  const set = names === '' ? '' : op === 'set' ? ` ${names}` : ` (set ${names})`
  return `${provisional ? 'v?' : `v${version}`} ${visibleText(op)}${set}`
}

function claimText(before: StreamEvent | undefined, after: StreamEvent | undefined): string {
  const [was, is] = [ownerOf(before), ownerOf(after)]
  if (was === is || was === '') return is === '' ? '-' : visibleText(is)
  return `${visibleText(was)} → ${is === '' ? '-' : visibleText(is)}`
}

/** The owner; of an ended event, the owner that ended it. */
function ownerOf(event: StreamEvent | undefined): string {
  return event?.lc.owner ?? ''
}

/** The difference as JSON; fields are only ever added. */
export function diffJson({ name, from, to, events, between }: StreamDifference) {
  const of = (kind: EventDifference['kind']) => events.filter(event => event.kind === kind).length
  return {
    name,
    from: { version: from.version, at: jsonTime(from.atMs) },
    to: { version: to.version, at: jsonTime(to.atMs) },
    transactions: between.filter(tx => !tx.provisional).length,
    counts: { added: of('added'), changed: of('changed'), removed: of('removed'), again: of('again') },
    other: between.some(tx => tx.other),
    provisional: between.some(tx => tx.provisional),
    events: events.map(({ id, kind, before, after, times, attributes, last }) => ({
      id,
      name: orNull((after ?? before)?.name),
      change: kind,
      from: sideJson(before),
      to: sideJson(after),
      changes: times,
      attributes,
      last: last === undefined ? null : lastJson(last),
    })),
  }
}

function sideJson(event: StreamEvent | undefined) {
  if (event === undefined) return null
  return {
    status: orNull(event.status),
    owner: orNull(event.lc.owner),
    fence: fenceOf(event) ?? null,
    attempt: attemptOf(event),
    waiting: !isFinal(event) && event.lc.wait !== undefined,
    superseded: event.lc.superseded !== undefined,
  }
}

function lastJson({ version, at, by, op, on, commandId, why, provisional }: JournalEntry) {
  return {
    version: provisional ? null : version,
    at: jsonTimeOf(at),
    by: orNull(by),
    op,
    on: orNull(on),
    commandId: orNull(commandId),
    why: orNull(why),
  }
}
