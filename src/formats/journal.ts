import { ROOT_ID } from '../stream/event-id.ts'
import type { JournalChange, Transaction } from '../stream/journal/journal.ts'
import { CLAIM } from '../stream/journal/restore.ts'
import { visibleText } from '../stream/text.ts'
import { jsonTimeOf, orNull } from './json.ts'
import { lookOf, statusWord } from './stream/status.ts'
import { clock, span, type TimeStyle } from './terminal/numbers.ts'
import { noPaint, type Paint, type Piece, painted } from './terminal/style.ts'
import { widthOf } from './terminal/width.ts'

export interface TransactionTextOptions {
  readonly time: TimeStyle
  readonly nowMs: number
  readonly paint?: Paint
  /** A foreign write that no transaction has recorded yet: it has no number. */
  readonly provisional?: boolean
}

/** One transaction for people: a line for the target, one more for every other change. */
export function transactionLines(tx: Transaction, options: TransactionTextOptions): string[] {
  const paint = options.paint ?? noPaint
  const version = options.provisional ? 'v?' : `v${tx.version}`
  const [first, ...others] = orderedChanges(tx)
  const head = `${timeField(tx.at, options)}  ${version.padEnd(4)}  ${visibleText(tx.op).padEnd(8)}`
  const what = first === undefined ? visibleText(tx.on) : changeText(first, tx, paint)
  const tail = [visibleText(tx.by), tx.why === '' ? '' : `"${visibleText(tx.why)}"`, notes(tx, options)]
  const line = [paint('dim', head), what, ...tail].filter(part => part !== '').join('  ')
  const indent = ' '.repeat(widthOf(head) + 2)
  return [line, ...others.map(change => `${indent}${changeText(change, tx, paint)}`)]
}

/** The change of the target first. */
export function orderedChanges(tx: Transaction): JournalChange[] {
  const target = tx.changes.find(change => change.event === tx.on && change.how === 'target')
  return target === undefined ? [...tx.changes] : [target, ...tx.changes.filter(change => change !== target)]
}

const HOW: { readonly [How in JournalChange['how']]: string } = {
  target: '',
  cascade: 'from above',
  close: 'closed',
  join: 'joined',
  add: 'added',
}

function changeText(change: JournalChange, tx: Transaction, paint: Paint): string {
  return `${visibleText(change.event)}  ${painted(changePieces(change, tx), paint)}`
}

/** What became of one event, without its id: `init → ▶ inprocess (owner w1)`. */
export function changePieces(change: JournalChange, tx: Transaction): Piece[] {
  const removed = change.to === '' && change.how !== 'add'
  const to = isWaitingJoin(change, tx) ? 'waiting' : change.to
  const { glyph, style } = lookOf(to)
  const from = change.from === '' || change.from === change.to ? '' : `${visibleText(change.from)} → `
  const details = [
    change.how === 'join' && change.to !== 'init' ? 'waits again' : HOW[change.how],
    change.owner === undefined ? '' : `owner ${visibleText(change.owner)}`,
    change.attempt === undefined || change.attempt <= 1 ? '' : `attempt ${change.attempt}`,
    change.attr === undefined
      ? ''
      : tx.op === 'foreign' && change.attr === CLAIM
        ? 'claim ended'
        : visibleText(change.attr),
  ].filter(part => part !== '')
  const pieces: Piece[] = [
    [from, 'plain'],
    [removed ? '- removed' : `${glyph} ${statusWord(to)}`, style],
    [details.length === 0 ? '' : ` (${details.join(', ')})`, 'plain'],
  ]
  return pieces.filter(([text]) => text !== '')
}

/** Its status is `inprocess` too, but nobody works on it: only a fork adds such an event. */
function isWaitingJoin({ event, how, to }: JournalChange, { op }: Transaction): boolean {
  return how === 'add' && to === 'inprocess' && event !== ROOT_ID && (op === 'init' || op === 'advance')
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

/** A transaction as `tail -o ndjson` prints it; a provisional one has no version. */
export function transactionJson(stream: string, tx: Transaction, provisional: boolean) {
  return {
    stream,
    version: provisional ? null : tx.version,
    at: jsonTimeOf(tx.at),
    by: orNull(tx.by),
    op: tx.op,
    on: orNull(tx.on),
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
