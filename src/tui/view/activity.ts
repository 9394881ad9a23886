import { changePieces, orderedChanges } from '../../formats/journal.ts'
import { spacedCounted } from '../../formats/terminal/numbers.ts'
import type { JournalEntry } from '../../ops/read-stream.ts'
import type { JournalChange } from '../../stream/journal/journal.ts'
import { signalOf } from '../../stream/signal.ts'
import type { Activity } from '../data/types.ts'
import type { TitleOf } from '../state/columns.ts'
import type { Scene } from '../state/context.ts'
import { activityRow } from '../state/lists/row-target.ts'
import { nameIn } from '../store-key.ts'
import { columnsOf } from './columns-of.ts'
import { emptyRows, noMatch, waitingRows } from './empty.ts'
import { type Area, filled, rowOf, type ScreenRow, type StyledText } from './row.ts'
import { safeId, safeName, safeText } from './safe-text.ts'
import { isTiny, marksOf } from './streams.ts'
import { type FlexColumn, gutter, highlightOf, type TableRow, tableRows } from './table.ts'
import { screenFormat } from './times.ts'
import { listWindow } from './window.ts'

/** The activity screen: who did what, when and why, the latest first. */
export function activityRows(scene: Scene, area: Area): ScreenRow[] {
  if (scene.listing.keys.length === 0) return filled(noActivity(scene, area), area)
  const hasTitles = !isTiny(scene)
  const { keys, cursor } = listWindow(scene, area.rows - (hasTitles ? 1 : 0))
  const rows = keys.flatMap((key): TableRow<Activity>[] => {
    const item = activityRow(scene.data, key)
    if (item === undefined) return []
    const marks = marksOf(scene, key, cursor)
    if (hasTitles) return [{ item, marks }]
    const text = `${safeName(item.stream)} ${whatText(item.tx)}`
    return [{ row: rowOf([...gutter(marks), [text, 'plain']], area.columns, highlightOf(marks).highlight) }]
  })
  const format = screenFormat(scene.nowMs, scene.state.time)
  const columns = columnsOf(scene, 'activity', COLUMNS)
  const options = { columns: area.columns, format, widths: scene.widths, hasTitles, list: 'activity' } as const
  return filled(tableRows(columns, rows, options), area)
}

function noActivity(scene: Scene, area: Area): ScreenRow[] {
  const waiting = waitingRows(scene, area)
  if (waiting !== undefined) return waiting
  if (scene.listing.total > 0) return noMatch(scene, area, 'change')
  const { behind } = scene.data.activity
  if (behind > 0) return emptyRows(area, `reading what happened in ${spacedCounted(behind, 'stream')} …`, [], 'dim')
  const { error } = scene.data.freshness
  if (error !== undefined) return emptyRows(area, `no answer yet: ${safeText(error.message)}`, [], 'bad')
  return emptyRows(area, 'nothing has happened yet', [
    'changes appear here as they are seen; leasectl log STREAM shows earlier ones',
  ])
}

const COLUMNS: { readonly [Title in TitleOf<'activity'>]: Omit<FlexColumn<Activity>, 'title'> } = {
  WHEN: { align: 'right', cell: ({ atMs }, format) => format.age(atMs) },
  STREAM: { cut: 'middle', least: 12, cell: item => safeName(nameIn(item)) },
  WHO: { least: 8, spare: 1, cell: ({ tx }) => safeText(tx.by) },
  WHAT: { least: 12, cell: ({ tx }) => ({ text: whatText(tx), style: styleOf(tx) }) },
  WHY: { least: 10, isText: true, spare: 2, cell: ({ tx }) => safeText(tx.why) },
  VERSION: { align: 'right', spare: 3, cell: ({ tx }) => (tx.provisional ? '?' : String(tx.version)) },
  COMMAND: { least: 8, spare: 4, cell: ({ tx }) => safeText(tx.commandId) },
}

/** Failed ends and foreign writes stand out. */
function styleOf({ op, provisional }: Activity['tx']) {
  if (provisional || op === 'foreign' || op === 'adopt') return 'warn'
  return op === 'abort' || op === 'fail' || op === 'cancel' || op === 'timeout' ? 'bad' : 'plain'
}

/** Summary of a transaction: `complete 01.02 → completed +2`, `signal paid`. */
function whatText(tx: JournalEntry): string {
  const [first, ...others] = orderedChanges(tx)
  const moved = first === undefined || first.to === first.from ? '' : `→ ${first.to === '' ? 'removed' : first.to}`
  const more = others.length > 0 ? `+${others.length}` : ''
  const how = tx.provisional ? 'foreign write' : tx.op
  const parts = [how, signalOf(tx) ?? '', safeId(first?.event ?? tx.on), moved, more]
  return safeText(parts.filter(part => part !== '').join(' '))
}

/** The change of one event in a transaction: `01.02  inprocess → ✓ completed`. */
export function changeSpans(change: JournalChange, tx: JournalEntry): StyledText[] {
  const pieces = changePieces(change, tx).map(([text, style]): StyledText => [safeText(text), style])
  return [[`${safeText(change.event)}  `, 'plain'], ...pieces]
}
