import { type ColumnChoice, orderedColumns, shownTitles, sortOf } from '../state/columns.ts'
import type { Scene } from '../state/context.ts'
import type { ColumnList, Sort, State } from '../state/state.ts'
import type { FlexColumn } from './table.ts'

/** The shown columns of a list in their order; an arrow in a title says by which the rows are sorted. */
export function columnsOf<Item>(
  { state }: Scene,
  list: ColumnList,
  columns: Readonly<Record<string, Omit<FlexColumn<Item>, 'title'>>>,
): readonly FlexColumn<Item>[] {
  const choices = orderedColumns(state, list)
  const sort = sortOf(state, list)
  return shownTitles(state, list).flatMap(title => {
    const column = columns[title]
    const choice = choices.find(one => one.title === title)
    if (column === undefined || choice === undefined) return []
    const arrow = choice.sort !== sort.by ? '' : ` ${arrowOf(choice, sort, state.time)}`
    return [{ ...column, title: `${title}${arrow}` }]
  })
}

/** Up where the shown values rise from row to row. */
export function arrowOf(
  { falls = false, isTime = false }: ColumnChoice,
  { isDescending }: Sort,
  time: State['time'],
): string {
  const isFalling = falls !== (isTime && time !== 'relative')
  return isFalling === isDescending ? '↑' : '↓'
}
