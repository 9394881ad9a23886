import type { LogEntry } from '../ops/log.ts'
import { visibleName, visibleText } from '../stream/text.ts'
import { transactionJson } from './journal.ts'
import { clock, span, type TimeStyle } from './terminal/numbers.ts'
import type { Style } from './terminal/style.ts'
import type { Cell, Column } from './terminal/table.ts'

/** A transaction as one item of `log -o json` and one line of `-o ndjson`; fields are only ever added. */
export function logJson({ stream, tx }: LogEntry) {
  return transactionJson(stream, tx, tx.provisional)
}

/** Columns of the table of transactions. */
export const LOG_COLUMNS: readonly Column[] = [
  { title: 'WHEN' },
  { title: 'STREAM', give: 2, min: 14, cut: 'middle' },
  { title: 'VERSION', align: 'right' },
  { title: 'WHO', give: 3, min: 10 },
  { title: 'WHAT', give: 1, min: 12 },
  { title: 'REASON', runsOn: true, min: 8 },
]

/** One row of it: texts that are safe to print, none of them with a control character. */
export function logRow({ stream, tx, eventName }: LogEntry, nowMs: number, time: TimeStyle): string[] {
  return [
    timeCell(tx.at, nowMs, time),
    visibleName(stream),
    tx.provisional ? 'v?' : `v${tx.version}`,
    whoText(tx),
    whatText(tx, eventName),
    reasonText(tx),
  ]
}

/** The colours of a row. */
export function logCells([
  when = '',
  stream = '',
  version = '',
  who = '',
  what = '',
  why = '',
]: readonly string[]): Cell[] {
  const [op = ''] = what.split(' ', 1)
  return [{ text: when, style: 'dim' }, stream, version, who, { text: what, style: STYLES.get(op) ?? 'plain' }, why]
}

const STYLES: ReadonlyMap<string, Style> = new Map([
  ['abort', 'bad'],
  ['fail', 'bad'],
  ['cancel', 'warn'],
  ['foreign', 'warn'],
  ['complete', 'good'],
])

type Tx = LogEntry['tx']

function timeCell(at: string, nowMs: number, time: TimeStyle): string {
  const ms = Date.parse(at)
  if (Number.isNaN(ms)) return at === '' ? '-' : visibleText(at)
  return time === 'relative' ? `${span(nowMs - ms)} ago` : clock(ms, nowMs, time)
}

/** A writer that keeps no journal leaves no name either; what leasectl settles by itself has none. */
function whoText({ by, op }: Tx): string {
  if (by !== '') return visibleText(by)
  return op === 'foreign' || op === 'adopt' ? 'somebody else' : '-'
}

/** `cancel 01.00 SearchStart (3 more)`; without a target the one event that changed, or how many. */
function whatText({ op, on, changes, other }: Tx, eventName: string): string {
  const [only] = changes
  const parts = [op]
  if (on !== '') {
    const more = changes.filter(({ event }) => event !== on).length
    const attributes = changes.find(({ event, attr }) => event === on && attr !== undefined)?.attr ?? ''
    parts.push(on, eventName, attributes, more > 0 ? `(${more} more)` : '')
  } else if (only !== undefined && changes.length === 1) {
    parts.push(only.event, only.to === '' && only.how !== 'add' ? 'removed' : `→ ${only.to}`)
  } else if (changes.length > 1) {
    parts.push(`${changes.length} events`)
  }
  if (other) parts.push('other attributes')
  return parts
    .filter(part => part !== '')
    .map(visibleText)
    .join(' ')
}

function reasonText({ why, provisional }: Tx): string {
  return [visibleText(why), provisional ? '(not recorded yet)' : ''].filter(part => part !== '').join(' ')
}
