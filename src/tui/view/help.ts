import { pad, widthOf } from '../../formats/width.ts'
import { HELP, type HelpGroup } from '../ui/bindings.ts'
import type { Dialog } from '../ui/state.ts'
import type { Scene } from '../ui/world.ts'
import { cell, rowOf, ruleRow, widthOfSpans, wrapped } from './fit.ts'
import type { Area, Row, Span } from './row.ts'

/** All keys with what they do, in two columns where there is room for them. It scrolls. */
export function helpRows({ facts }: Scene, dialog: Extract<Dialog, { kind: 'help' }>, area: Area): Row[] {
  const { columns } = area
  const lines = columns >= TWO_COLUMNS ? twoColumns(columns) : groupLines(HELP, columns, 1)
  const height = Math.max(0, Math.min(lines.length, area.rows - 2))
  const top = helpTop(dialog.top, lines.length, height)
  const shown = lines.slice(top, top + height)
  const more = lines.length > height ? `, ${top + 1}–${top + height} of ${lines.length}, j and k scroll` : ''
  return [
    ruleRow(`keys of leasectl ${facts.version}${more}`, columns),
    ...shown.map(spans => rowOf(spans, columns)),
    ruleRow('esc closes', columns),
  ].slice(0, Math.max(0, area.rows))
}

/** The first line that is seen, however far somebody scrolled. */
function helpTop(top: number, total: number, height: number): number {
  return Math.max(0, Math.min(top, total - height))
}

const TWO_COLUMNS = 100
/** Blanks before and behind the keys. */
const INDENT = 6
/** What stands at the left where there are two columns: about half of all lines. */
const LEFT: ReadonlySet<HelpGroup['title']> = new Set(['Move', 'Choose', 'Screens'])
const KEYS_WIDTH = Math.max(...HELP.flatMap(({ lines }) => lines.map(({ keys }) => widthOf(keys))))

/** Texts take at most `most` lines: one where the list scrolls, as its length is known by its keys. */
function groupLines(groups: readonly HelpGroup[], columns: number, most: number): Span[][] {
  return groups.flatMap(({ title, lines }, at) => [
    ...(at === 0 ? [] : [[]]),
    [[`  ${title}`, 'strong'] as const],
    ...lines.flatMap(line => keyLines(line, columns, most)),
  ])
}

function keyLines({ keys, does }: HelpGroup['lines'][number], columns: number, most: number): Span[][] {
  const width = Math.max(0, columns - KEYS_WIDTH - INDENT)
  const [first = '', ...rest] = wrapped(does, width, most)
  const indent = ' '.repeat(KEYS_WIDTH + INDENT)
  return [
    [[`    ${pad(keys, KEYS_WIDTH)}  `, 'active'], cell(first, width)],
    ...rest.map((text): Span[] => [[indent, 'plain'], cell(text, width)]),
  ]
}

function twoColumns(columns: number): Span[][] {
  const half = Math.floor(columns / 2)
  const [left, right] = [true, false].map(isLeft => {
    const groups = HELP.filter(({ title }) => LEFT.has(title) === isLeft)
    return groupLines(groups, isLeft ? half - 1 : columns - half, 3)
  })
  return Array.from({ length: Math.max(left?.length ?? 0, right?.length ?? 0) }, (_, at) => {
    const spans = left?.[at] ?? []
    return [...spans, [' '.repeat(Math.max(0, half - widthOfSpans(spans))), 'plain'], ...(right?.[at] ?? [])]
  })
}
