import { type ColumnChoice, columnListsOf, orderedColumns, sortOf } from '../../state/columns.ts'
import type { Scene } from '../../state/context.ts'
import type { ColumnsDialog } from '../../state/state.ts'
import { arrowOf } from '../columns-of.ts'
import type { Area, ScreenRow, StyledText } from '../row.ts'
import { band, type DialogLine, windowFrom } from './band.ts'

/** The columns of a list: which are shown, in which order, and by which the rows are sorted. */
export function columnRows({ state }: Scene, dialog: ColumnsDialog, area: Area): ScreenRow[] {
  const choices = orderedColumns(state, dialog.list)
  const sort = sortOf(state, dialog.list)
  const lists = columnListsOf(state)
  const room = Math.max(1, area.rows - AROUND)
  const top = Math.max(0, Math.min(dialog.at - Math.floor(room / 2), dialog.titles.length - room))
  const visible = windowFrom(dialog.titles.length, top, room, (at): StyledText[] => {
    const title = dialog.titles[at] ?? ''
    const choice: ColumnChoice | undefined = choices.find(one => one.title === title)
    const isShown = dialog.shown.includes(title)
    const order = choice?.sort !== undefined && choice.sort === sort.by ? arrowOf(choice, sort, state.time) : ''
    return [
      [`${at === dialog.at ? '›' : ' '} [${isShown ? 'x' : ' '}] `, 'plain'],
      [title.padEnd(WIDEST), at === dialog.at ? 'mark' : isShown ? 'plain' : 'dim'],
      [order === '' ? '' : `  sorted ${order}`, 'active'],
    ]
  })
  const place = visible.place === '' ? '' : `${visible.place}   `
  const lines: DialogLine[] = [
    ...visible.items.map((spans, at): DialogLine => ({ spans, rank: top + at === dialog.at ? 0 : 1 })),
    {
      spans: [
        [
          `${place}space shows, J K moves, s sorts, r the usual ones${lists.length > 1 ? ', tab: next list' : ''}`,
          'dim',
        ],
      ],
      rank: 3,
    },
    { spans: [['enter keeps it, esc: as before', 'dim']], rank: 2 },
  ]
  return band(`columns of ${dialog.list}`, lines, area)
}

/** Rules and keys. */
const AROUND = 4
/** The longest title. */
const WIDEST = 12
