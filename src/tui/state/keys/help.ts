import { widthOf, wrapped } from '../../../formats/terminal/width.ts'
import type { Screen } from '../state.ts'
import { HELP, type HelpGroup, type HelpLine, worksOn } from './keys.ts'

/** A line in one column of the help. A key without `keys` continues the line above. */
export type HelpText =
  | { readonly kind: 'blank' }
  | { readonly kind: 'title'; readonly text: string }
  | { readonly kind: 'key'; readonly keys: string; readonly text: string; readonly isElsewhere: boolean }

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

/** The keys that work on the screen in their groups, then those of other screens. */
export function helpLayout(columns: number, screen: Screen): HelpLayout {
  const here = groupsOf(screen, true)
  const elsewhere = groupsOf(screen, false).flatMap(({ lines }) => lines)
  const half = Math.floor(columns / 2)
  const sides =
    columns < TWO_COLUMNS
      ? [{ columns, lines: [...linesOf(here, columns), ...elsewhereLines(elsewhere, columns)] }]
      : [
          { columns: half - 1, lines: linesOf(groupsAt(here, true), half - 1) },
          {
            columns: columns - half,
            lines: [...linesOf(groupsAt(here, false), columns - half), ...elsewhereLines(elsewhere, columns - half)],
          },
        ]
  return { sides, total: Math.max(...sides.map(({ lines }) => lines.length)) }
}

/** The groups with the keys that work on the screen, or with the others. */
function groupsOf(screen: Screen, isHere: boolean): readonly HelpGroup[] {
  return HELP.map(group => ({ ...group, lines: group.lines.filter(line => worksOn(line, screen) === isHere) })).filter(
    ({ lines }) => lines.length > 0,
  )
}

function groupsAt(groups: readonly HelpGroup[], isLeft: boolean): readonly HelpGroup[] {
  return groups.filter(({ title }) => LEFT.has(title) === isLeft)
}

function linesOf(groups: readonly HelpGroup[], columns: number): HelpText[] {
  return groups.flatMap(({ title, lines }, at): HelpText[] => [
    ...(at === 0 ? [] : [{ kind: 'blank' } as const]),
    { kind: 'title', text: title },
    ...lines.flatMap(({ keys, does }) => keyLines(keys, does, columns, false)),
  ])
}

function elsewhereLines(lines: readonly HelpLine[], columns: number): HelpText[] {
  if (lines.length === 0) return []
  const texts = lines.map(({ keys, does, screens = [] }) => [keys, `${does} (${screens.join(', ')})`] as const)
  return [
    { kind: 'blank' },
    { kind: 'title', text: 'On other screens' },
    ...texts.flatMap(([keys, does]) => keyLines(keys, does, columns, true)),
  ]
}

function keyLines(keys: string, does: string, columns: number, isElsewhere: boolean): HelpText[] {
  const width = Math.max(0, columns - HELP_KEYS_WIDTH - HELP_INDENT)
  return wrapped(does, width, MOST_LINES).map((text, at) => ({
    kind: 'key',
    keys: at === 0 ? keys : '',
    text,
    isElsewhere,
  }))
}
