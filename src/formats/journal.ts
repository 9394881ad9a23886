import type { LogEntry } from '../ops/log.ts'
import { CLAIM } from '../stream/journal/history.ts'
import type { JournalChange, Transaction } from '../stream/journal/journal.ts'
import { signalOf } from '../stream/signal.ts'
import { visibleName, visibleText } from '../util/visible-text.ts'
import { jsonTimeOf, orNull } from './json.ts'
import { statusWord } from './stream/view.ts'
import { clock, span, type TimeStyle } from './terminal/numbers.ts'
import { noPaint, type Paint, painted, type Style, type StyledPiece, styleOf } from './terminal/style.ts'
import type { Cell, Column } from './terminal/table.ts'
import { widthOf } from './terminal/width.ts'

export interface TransactionTextOptions {
  readonly time: TimeStyle
  readonly nowMs: number
  readonly paint?: Paint
  /** A foreign write that no transaction records yet: it has no version. */
  readonly provisional?: boolean
}

/** One transaction as text: a line for the target, one more for each other change. */
export function transactionLines(tx: Transaction, options: TransactionTextOptions): string[] {
  const paint = options.paint ?? noPaint
  const version = options.provisional ? 'v?' : `v${tx.version}`
  const [first, ...others] = orderedChanges(tx)
  const name = signalOf(tx)
  const head = `${timeField(tx.at, options)}  ${version.padEnd(4)}  ${visibleText(tx.op).padEnd(8)}`
  const target = first === undefined ? visibleText(tx.on) : changeText(first, tx, paint)
  const what = [name === undefined ? '' : visibleText(name), target].filter(part => part !== '').join('  ')
  const tail = [visibleText(tx.by), tx.why === '' ? '' : `"${visibleText(tx.why)}"`, notes(tx, options)]
  const line = [paint('dim', head), what, ...tail].filter(part => part !== '').join('  ')
  const indent = ' '.repeat(widthOf(head) + 2)
  return [line, ...others.map(change => `${indent}${changeText(change, tx, paint)}`)]
}

/** Their change of the root is a mark: it says no more than the operation. */
const MARKING: ReadonlySet<string> = new Set(['ack', 'suspend', 'resume', 'signal', 'append'])

/** The changes with that of the target first. */
export function orderedChanges(tx: Transaction): JournalChange[] {
  if (MARKING.has(tx.op)) return tx.changes.filter(({ attr }) => attr === undefined)
  const target = tx.changes.find(change => change.event === tx.on && change.how === 'target')
  return target === undefined ? [...tx.changes] : [target, ...tx.changes.filter(change => change !== target)]
}

const HOW: { readonly [How in JournalChange['how']]: string } = {
  target: '',
  cascade: 'from above',
  close: 'closed',
  join: 'joined',
  gate: 'opened',
  again: 'will be tried again',
  add: 'added',
}

function changeText(change: JournalChange, tx: Transaction, paint: Paint): string {
  return `${visibleText(change.event)}  ${painted(changePieces(change, tx), paint)}`
}

/** `waits again`, `now waits`: nothing for a gate that the event was added with. */
function gateText({ how }: JournalChange): string {
  return how === 'add' || how === 'again'
    ? HOW[how]
    : how === 'gate'
      ? 'now waits'
      : how === 'join'
        ? 'waits again'
        : ''
}

/** The change of one event, without its id: `init → ▶ inprocess (owner w1)`. */
export function changePieces(change: JournalChange, tx: Transaction): StyledPiece[] {
  const removed = change.to === '' && change.how !== 'add'
  const to = change.lc?.wait === undefined ? change.to : 'waiting'
  const { glyph, style } = styleOf(to)
  const from = change.from === '' || change.from === change.to ? '' : `${visibleText(change.from)} → `
  const details = [
    change.lc?.wait === undefined ? HOW[change.how] : gateText(change),
    change.owner === undefined ? '' : `owner ${visibleText(change.owner)}`,
    change.attempt === undefined || change.attempt <= 1 ? '' : `attempt ${change.attempt}`,
    change.attr === undefined
      ? ''
      : tx.op === 'foreign' && change.attr === CLAIM
        ? 'claim ended'
        : visibleText(change.attr),
  ].filter(part => part !== '')
  const pieces: StyledPiece[] = [
    [from, 'plain'],
    [removed ? '- removed' : `${glyph} ${statusWord(to)}`, style],
    [details.length === 0 ? '' : ` (${details.join(', ')})`, 'plain'],
  ]
  return pieces.filter(([text]) => text !== '')
}

function notes(tx: Transaction, options: TransactionTextOptions): string {
  const parts = [
    tx.other ? 'other attributes changed too' : '',
    options.provisional ? 'provisional: not recorded yet' : '',
  ]
  const text = parts.filter(part => part !== '').join('; ')
  return text === '' ? '' : `[${text}]`
}

function timeField(at: string, { time, nowMs }: TransactionTextOptions): string {
  const ms = Date.parse(at)
  if (Number.isNaN(ms)) return visibleText(at)
  return time === 'relative' ? `${span(nowMs - ms)} ago`.padStart(10) : clock(ms, nowMs, time)
}

/** A transaction in `tail -o ndjson`; a provisional one has no version. */
export function transactionJson(stream: string, tx: Transaction, provisional: boolean) {
  return {
    stream,
    version: provisional ? null : tx.version,
    at: jsonTimeOf(tx.at),
    by: orNull(tx.by),
    op: tx.op,
    on: orNull(tx.on),
    signal: signalOf(tx) ?? null,
    commandId: orNull(tx.commandId),
    why: orNull(tx.why),
    changes: tx.changes.map(({ event, from, to, how, owner, attempt, attr }) => ({
      id: event,
      from: orNull(from),
      to: orNull(to),
      how,
      ...(owner === undefined ? {} : { owner }),
      ...(attempt === undefined ? {} : { attempt }),
      ...(attr === undefined ? {} : { attr: attr.split(' ') }),
    })),
    other: tx.other,
    provisional,
  }
}

/** A transaction as one item of `log -o json` and one line of `-o ndjson`; fields are only ever added. */
export function logJson({ stream, tx }: LogEntry) {
  return transactionJson(stream, tx, tx.provisional)
}

/** The fields of a transaction in `log`. */
export const LOG_FIELDS = [
  'stream',
  'version',
  'at',
  'by',
  'op',
  'on',
  'signal',
  'commandId',
  'why',
  'changes',
  'other',
  'provisional',
] as const

/** Columns of `log`. */
export const LOG_COLUMNS: readonly Column[] = [
  { title: 'WHEN' },
  { title: 'STREAM', give: 1, min: 14, cut: 'middle' },
  { title: 'VERSION', align: 'right', spare: 2 },
  { title: 'WHO', give: 3, min: 10, spare: 1 },
  { title: 'WHAT', give: 2, min: 12 },
  { title: 'REASON', runsOn: true, min: 8 },
]

/** One row of `log`: texts without control characters, safe to print. */
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

/** A row of `log` with its colours. */
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

/** A foreign writer without a journal leaves no name; leasectl's own settling has none. */
function whoText({ by, op }: Tx): string {
  if (by !== '') return visibleText(by)
  return op === 'foreign' || op === 'adopt' ? 'another program' : '-'
}

/** `cancel 01.00 SearchStart (3 more)`; without a target, the one changed event or the number of them. */
function whatText(tx: Tx, eventName: string): string {
  const { op, on, changes: all, other } = tx
  const changes = MARKING.has(op) ? all.filter(({ attr }) => attr === undefined) : all
  const [only] = changes
  const parts = [op, ...(signalOf(tx) === undefined ? [] : [signalOf(tx) ?? ''])]
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
