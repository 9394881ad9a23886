import {
  columnListsOf,
  orderedColumns,
  shownTitles,
  sortOfTitle,
  titlesNamed,
  titlesOf,
  usualTitles,
} from './columns.ts'
import type { ScreenContext } from './context.ts'
import { sortBy } from './cursor.ts'
import type { ColumnsDialog, KeyPress, State } from './state.ts'
import { clamp, only, type Transition, withNotice } from './transition.ts'

/** Opens the columns of a list of the current screen, by default of that with the cursor. */
export function openColumns(state: State, context: ScreenContext, list = columnListsOf(state)[0]): State {
  if (list === undefined) return withNotice(state, context, NOT_HERE)
  const narrow = { ...state, isWide: false }
  const titles = orderedColumns(narrow, list).map(({ title }) => title)
  return { ...state, dialog: { kind: 'columns', list, titles, shown: shownTitles(narrow, list), at: 0 } }
}

const NOT_HERE = 'the columns of this screen cannot be chosen'

/** `enter` keeps the choice, `esc` the former one. */
export function columnsKey(state: State, context: ScreenContext, dialog: ColumnsDialog, { key }: KeyPress): Transition {
  const title = dialog.titles[dialog.at] ?? ''
  const change = (more: Partial<ColumnsDialog>) => only({ ...state, dialog: { ...dialog, ...more } })
  switch (key) {
    case 'escape':
    case 'ctrl-c':
    case 'q':
      return only({ ...state, dialog: undefined })
    case 'enter':
    case ',':
      return keep(state, dialog)
    case 'tab':
      return nextList(state, context, dialog)
    case 'j':
    case 'down':
      return change({ at: clamp(dialog.at + 1, 0, dialog.titles.length - 1) })
    case 'k':
    case 'up':
      return change({ at: clamp(dialog.at - 1, 0, dialog.titles.length - 1) })
    case 'J':
      return change(moved(dialog, 1))
    case 'K':
      return change(moved(dialog, -1))
    case 'space':
      return toggled(state, context, dialog, title)
    case 's':
      return only(sortedBy(state, context, dialog, title))
    case 'r':
      return change({ titles: titlesOf(dialog.list), shown: usualTitles(dialog.list) })
    default:
      return only(state)
  }
}

function moved({ titles, shown, at }: ColumnsDialog, by: 1 | -1): Partial<ColumnsDialog> {
  const to = clamp(at + by, 0, titles.length - 1)
  const title = titles[at]
  if (title === undefined || to === at) return {}
  const next = titles.toSpliced(at, 1).toSpliced(to, 0, title)
  return { titles: next, at: to, shown: next.filter(one => shown.includes(one)) }
}

/** At least one column stays. */
function toggled(state: State, context: ScreenContext, dialog: ColumnsDialog, title: string): Transition {
  const { titles, shown } = dialog
  const next = titles.filter(one => (one === title ? !shown.includes(one) : shown.includes(one)))
  if (next.length === 0) return only(withNotice(state, context, 'one column has to stay'))
  return only({ ...state, dialog: { ...dialog, shown: next } })
}

/** Keeps the choice, and goes on with the next list of the screen. */
function nextList(state: State, context: ScreenContext, dialog: ColumnsDialog): Transition {
  const lists = columnListsOf(state)
  if (lists.length < 2) return only(state)
  const [kept, effects] = keep(state, dialog)
  const next = lists[(lists.indexOf(dialog.list) + 1) % lists.length]
  return [openColumns(kept, context, next), effects]
}

function keep(state: State, { list, shown }: ColumnsDialog): Transition {
  return withColumns({ ...state, dialog: undefined }, list, shown)
}

/** Shows these columns from now on, and in later runs. */
function withColumns(state: State, list: ColumnsDialog['list'], shown: readonly string[]): Transition {
  if (isSame(shown, shownTitles({ ...state, isWide: false }, list))) return only(state)
  const { [list]: _, ...others } = state.settings.columns
  const isUsual = isSame(shown, usualTitles(list))
  const columns = isUsual ? others : { ...others, [list]: shown }
  const change = { columns: { [list]: isUsual ? undefined : shown } }
  return only({ ...state, settings: { ...state.settings, columns } }, { kind: 'save-settings', change })
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at])
}

function sortedBy(state: State, context: ScreenContext, { list }: ColumnsDialog, title: string): State {
  const by = sortOfTitle(list, title)
  if (by === undefined) return withNotice(state, context, `this list cannot be sorted by ${title}`)
  return sortBy(state, context, by, list)
}

/** `:columns name,status,why`, of another list than that with the cursor `:columns steps step,ready`; without names opens the list of columns. */
export function chooseColumns(state: State, context: ScreenContext, words: string): Transition {
  const lists = columnListsOf(state)
  const [first, ...others] = words.split(/[\s,]+/).filter(word => word !== '')
  const named = lists.find(one => one === first)
  const list = named ?? lists[0]
  if (list === undefined) return only(withNotice(state, context, NOT_HERE, 'bad'))
  const names = named !== undefined || first === undefined ? others : [first, ...others]
  if (names.length === 0) return only(openColumns(state, context, list))
  const titles = titlesNamed(list, names)
  if ('wrong' in titles) {
    const known = titlesOf(list).map(title => title.toLowerCase().replaceAll(' ', '-').replace('waits-/-why', 'why'))
    return only(withNotice(state, context, `no column ${titles.wrong}; columns are ${known.join(' ')}`, 'bad'))
  }
  return withColumns(state, list, titles)
}
