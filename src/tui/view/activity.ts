import { changePieces, orderedChanges } from '../../formats/journal.ts'
import { spacedCounted } from '../../formats/terminal/numbers.ts'
import type { JournalEntry } from '../../ops/read-stream.ts'
import type { JournalChange } from '../../stream/journal/journal.ts'
import type { Activity } from '../data/types.ts'
import type { Scene } from '../state/context.ts'
import { PANES_COLUMNS, WIDE_COLUMNS } from '../state/layout.ts'
import { activityRow } from '../state/lists/row-target.ts'
import { gutter, highlightOf, type ListColumn, listRow, placeColumns, titleRow } from './columns.ts'
import { emptyRows, noMatch, waitingRows } from './empty.ts'
import { type Area, filled, rowOf, type ScreenRow, type StyledText } from './row.ts'
import { safeName, safeText } from './safe-text.ts'
import { isTiny, marksOf } from './streams.ts'
import { AGE_WIDTH, screenFormat } from './times.ts'
import { listWindow } from './window.ts'

/** The activity screen: who did what, when and why, the latest first. */
export function activityRows(scene: Scene, area: Area): ScreenRow[] {
  if (scene.listing.keys.length === 0) return filled(noActivity(scene, area), area)
  const format = screenFormat(scene.nowMs, scene.state.time)
  const columns = placeColumns(scene.state.isWide ? [...COLUMNS, ...WIDE] : COLUMNS, area.columns)
  const titles = isTiny(scene) ? [] : [titleRow(columns)]
  const { keys, cursor } = listWindow(scene, area.rows - titles.length)
  const rows = keys.flatMap(key => {
    const item = activityRow(scene.data, key)
    if (item === undefined) return []
    const marks = marksOf(scene, key, cursor)
    if (!isTiny(scene)) return listRow(columns, item, format, marks)
    const text = `${safeName(item.stream)} ${whatText(item.tx)}`
    return rowOf([...gutter(marks), [text, 'plain']], area.columns, highlightOf(marks).highlight)
  })
  return filled([...titles, ...rows], area)
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

const COLUMNS: readonly ListColumn<Activity>[] = [
  { title: 'WHEN', align: 'right', width: AGE_WIDTH, cell: ({ atMs }, format) => format.age(atMs) },
  { title: 'STREAM', width: 12, share: 2, cut: 'middle', cell: ({ stream }) => safeName(stream) },
  { title: 'WHO', width: 10, share: 1, spare: 1, cell: ({ tx }) => safeText(tx.by) || '-' },
  { title: 'WHAT', width: 18, share: 2, cell: ({ tx }) => ({ text: whatText(tx), style: styleOf(tx) }) },
  { title: 'WHY', width: 10, share: 2, from: PANES_COLUMNS, spare: 2, cell: ({ tx }) => safeText(tx.why) || '-' },
]

const WIDE: readonly ListColumn<Activity>[] = [
  {
    title: 'VERSION',
    align: 'right',
    width: 7,
    from: PANES_COLUMNS,
    spare: 3,
    cell: ({ tx }) => (tx.provisional ? '?' : String(tx.version)),
  },
  {
    title: 'COMMAND',
    width: 12,
    share: 1,
    from: WIDE_COLUMNS,
    spare: 4,
    cell: ({ tx }) => safeText(tx.commandId) || '-',
  },
]

/** Failed ends and foreign writes stand out. */
function styleOf({ op, provisional }: Activity['tx']) {
  if (provisional || op === 'foreign' || op === 'adopt') return 'warn'
  return op === 'abort' || op === 'fail' || op === 'cancel' || op === 'timeout' ? 'bad' : 'plain'
}

/** Summary of a transaction: `complete 01.02 → completed +2`. */
function whatText(tx: JournalEntry): string {
  const [first, ...others] = orderedChanges(tx)
  const moved = first === undefined || first.to === first.from ? '' : `→ ${first.to === '' ? 'removed' : first.to}`
  const more = others.length > 0 ? `+${others.length}` : ''
  const how = tx.provisional ? 'foreign write' : tx.op
  return safeText([how, first?.event ?? tx.on, moved, more].filter(part => part !== '').join(' '))
}

/** The change of one event in a transaction: `01.02  inprocess → ✓ completed`. */
export function changeSpans(change: JournalChange, tx: JournalEntry): StyledText[] {
  const pieces = changePieces(change, tx).map(([text, style]): StyledText => [safeText(text), style])
  return [[`${safeText(change.event)}  `, 'plain'], ...pieces]
}
