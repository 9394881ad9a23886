import { changePieces, orderedChanges } from '../../../formats/journal.ts'
import type { StyledPiece } from '../../../formats/terminal/style.ts'
import type { JournalEntry } from '../../../ops/read-stream.ts'
import { signalOf } from '../../../stream/signal.ts'
import type { Scene } from '../../state/context.ts'
import { WIDE_COLUMNS } from '../../state/layout.ts'
import { type Area, filled, joined, rowOf, ruleRow, type ScreenRow, type StyledText } from '../row.ts'
import { safeId, safeText } from '../safe-text.ts'
import { clockOnly, clockText, type RowTime } from '../times.ts'
import { openOf } from './open.ts'

/** The end of the journal below a rule, the newest entry at the bottom. */
export function tailRows(scene: Scene, area: Area): ScreenRow[] {
  const room = area.rows - 1
  const { state, nowMs } = scene
  const options = { moment: { nowMs, time: state.time }, withOp: area.columns >= WIDE_COLUMNS }
  const transactions = room > 0 ? (openOf(scene)?.tail.slice(-room) ?? []) : []
  const rows = transactions.map(tx => rowOf([[' ', 'plain'], ...journalSpans(tx, options)], area.columns))
  return filled([ruleRow('tail', area.columns), ...rows], area)
}

export interface JournalOptions {
  readonly moment: RowTime
  /** Only the change of this event; without it that of the target, and the number of others. */
  readonly event?: string
  readonly withOp: boolean
}

/** One transaction in one line: time, version, operation, change, author and reason. */
export function journalSpans(tx: JournalEntry, options: JournalOptions): StyledText[] {
  const change = changeSpans(tx, options)
  const signal: StyledText[] = [[safeText(signalOf(tx) ?? ''), 'plain']]
  const op: StyledText[] = options.withOp || change.length === 0 ? [[safeText(tx.op).padEnd(8), 'plain']] : []
  const parts: StyledText[][] = [
    [...headSpans(tx, options.moment), ...(op.length > 0 ? [[' ', 'plain'] as const] : []), ...op],
  ]
  return joined([...parts, signal, change, ...authorSpans(tx)], '  ')
}

/** The same without the change, to be placed side by side. */
export function shortJournalSpans(tx: JournalEntry, moment: RowTime): StyledText[] {
  const by = tx.by === '' ? '' : `  ${safeText(tx.by)}`
  return [...headSpans(tx, moment), [` ${safeText(tx.op)}${by}`, 'plain']]
}

function headSpans({ at, version, provisional }: JournalEntry, moment: RowTime): StyledText[] {
  const ms = Date.parse(at)
  const time = Number.isNaN(ms) ? '?' : clockText(ms, clockOnly(moment))
  return [[`${time} ${provisional ? 'v?' : `v${version}`}`, 'dim']]
}

function changeSpans(tx: JournalEntry, { event }: JournalOptions): StyledText[] {
  const [first, ...others] = orderedChanges(tx)
  if (event !== undefined) {
    const own = tx.changes.find(change => change.event === event)
    return own === undefined ? [] : changePieces(own, tx).map(safePiece)
  }
  if (first === undefined) return tx.on === '' ? [] : [[safeId(tx.on), 'plain']]
  const more: StyledText[] = others.length > 0 ? [[` +${others.length}`, 'dim']] : []
  return [[`${safeId(first.event)} `, 'plain'], ...changePieces(first, tx).map(safePiece), ...more]
}

function safePiece([text, style]: StyledPiece): StyledText {
  return [safeText(text), style]
}

function authorSpans({ by, why, provisional }: JournalEntry): StyledText[][] {
  return [
    [[safeText(by), 'plain']],
    [[provisional ? 'not recorded yet' : '', 'dim']],
    [[why === '' ? '' : `"${safeText(why)}"`, 'plain']],
  ]
}
