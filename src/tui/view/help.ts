import { pad } from '../../formats/terminal/width.ts'
import type { Scene } from '../state/context.ts'
import { HELP_INDENT, HELP_KEYS_WIDTH, type HelpText, helpLayout } from '../state/keys/help.ts'
import type { Dialog } from '../state/state.ts'
import { type Area, cell, rowOf, ruleRow, type ScreenRow, type StyledText, widthOfSpans } from './row.ts'

/** All keys with their meaning, in two columns if there is room. Scrolls. */
export function helpRows({ facts, state }: Scene, dialog: Extract<Dialog, { kind: 'help' }>, area: Area): ScreenRow[] {
  const { columns } = area
  const { sides, total } = helpLayout(columns, state.screen)
  const height = Math.max(0, Math.min(total, area.rows - 2))
  const top = Math.max(0, Math.min(dialog.top, total - height))
  const more = total > height ? `, ${top + 1}–${top + height} of ${total}, j and k scroll` : ''
  const shown = Array.from({ length: height }, (_, row) => {
    const [left = [], right = []] = sides.map(side => lineSpans(side.lines[top + row], side.columns))
    if (sides.length === 1) return left
    return [...left, blanks(columns - (sides[1]?.columns ?? 0) - widthOfSpans(left)), ...right]
  })
  return [
    ruleRow(`keys of leasectl ${facts.version} on ${state.screen}${more}`, columns),
    ...shown.map(spans => rowOf(spans, columns)),
    ruleRow('esc closes', columns),
  ].slice(0, Math.max(0, area.rows))
}

function lineSpans(line: HelpText | undefined, columns: number): StyledText[] {
  if (line === undefined || line.kind === 'blank') return []
  if (line.kind === 'title') return [[`  ${line.text}`, 'strong']]
  const text = cell(line.text, Math.max(0, columns - HELP_KEYS_WIDTH - HELP_INDENT))
  const keys = `    ${pad(line.keys, HELP_KEYS_WIDTH)}  `
  return line.isElsewhere
    ? [
        [keys, 'dim'],
        [text[0], 'dim'],
      ]
    : [[keys, 'active'], text]
}

function blanks(count: number): StyledText {
  return [' '.repeat(Math.max(0, count)), 'plain']
}
