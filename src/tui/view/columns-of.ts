import { type ColumnChoice, isOfStreams, orderedColumns, STORE, shownTitles, sortOf } from '../state/columns.ts'
import type { Scene } from '../state/context.ts'
import type { ColumnList, Sort, State } from '../state/state.ts'
import { safeText } from './safe-text.ts'
import type { FlexColumn } from './table.ts'

/** The shown columns of a list in their order; an arrow in a title says by which the rows are sorted: it is dropped last. */
export function columnsOf<Item>(
  { state, facts }: Scene,
  list: ColumnList,
  columns: Readonly<Record<string, Omit<FlexColumn<Item>, 'title'>>>,
): readonly FlexColumn<Item>[] {
  const choices = orderedColumns(state, list)
  const sort = sortOf(state, list)
  const shown = shownTitles(state, list).flatMap(title => {
    const column = columns[title]
    const choice = choices.find(one => one.title === title)
    if (column === undefined || choice === undefined) return []
    if (choice.sort !== sort.by) return [{ ...column, title }]
    return [{ ...column, title: `${title} ${arrowOf(choice, sort, state.time)}`, spare: 0 }]
  })
  if (facts.contexts.length === 0 || !(isOfStreams(list) || WITH_STORE.has(list))) return shown
  const arrow = sort.by === STORE.sort ? ` ${arrowOf(STORE, sort, state.time)}` : ''
  return [{ title: `${STORE.title}${arrow}`, least: 6, cut: 'middle', cell: item => safeText(storeOf(item)) }, ...shown]
}

/** Lists whose rows, though no streams, are of one store each. */
const WITH_STORE: ReadonlySet<ColumnList> = new Set(['activity', 'subscriptions', 'inboxes'])

/** The context of a row among several stores. */
function storeOf(item: unknown): string {
  const store = typeof item === 'object' && item !== null && 'store' in item ? item.store : undefined
  return typeof store === 'string' ? store : ''
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
