import { widthOf, wrapped } from '../../formats/terminal/width.ts'
import { HELP, type HelpGroup } from './keys.ts'

/** A line in one column of the help. A key without `keys` continues the line above. */
export type HelpText =
  | { readonly kind: 'blank' }
  | { readonly kind: 'title'; readonly text: string }
  | { readonly kind: 'key'; readonly keys: string; readonly text: string }

/** The help laid out for a screen width. */
export interface HelpLayout {
  /** The columns: one, or two if the screen is wide enough. */
  readonly sides: readonly { readonly columns: number; readonly lines: readonly HelpText[] }[]
  /** Lines of the longer column. */
  readonly total: number
}

export const HELP_KEYS_WIDTH = Math.max(...HELP.flatMap(({ lines }) => lines.map(({ keys }) => widthOf(keys))))
/** Blanks before and after the keys. */
export const HELP_INDENT = 6
const TWO_COLUMNS = 100
/** Groups of the left column if there are two: about half of all lines. */
const LEFT: ReadonlySet<HelpGroup['title']> = new Set(['Move', 'Select', 'Screens'])
/** Enough for the longest text in the narrowest readable column. */
const MOST_LINES = 8

export function helpLayout(columns: number): HelpLayout {
  const half = Math.floor(columns / 2)
  const sides =
    columns < TWO_COLUMNS
      ? [{ columns, lines: linesOf(HELP, columns) }]
      : [
          { columns: half - 1, lines: linesOf(groupsAt(true), half - 1) },
          { columns: columns - half, lines: linesOf(groupsAt(false), columns - half) },
        ]
  return { sides, total: Math.max(...sides.map(({ lines }) => lines.length)) }
}

function groupsAt(isLeft: boolean): readonly HelpGroup[] {
  return HELP.filter(({ title }) => LEFT.has(title) === isLeft)
}

function linesOf(groups: readonly HelpGroup[], columns: number): HelpText[] {
  const width = Math.max(0, columns - HELP_KEYS_WIDTH - HELP_INDENT)
  return groups.flatMap(({ title, lines }, at): HelpText[] => [
    ...(at === 0 ? [] : [{ kind: 'blank' } as const]),
    { kind: 'title', text: title },
    ...lines.flatMap(({ keys, does }) => keyLines(keys, wrapped(does, width, MOST_LINES))),
  ])
}

function keyLines(keys: string, [first = '', ...rest]: readonly string[]): HelpText[] {
  return [{ kind: 'key', keys, text: first }, ...rest.map(text => ({ kind: 'key', keys: '', text }) as const)]
}
