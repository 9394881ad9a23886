import type { OpenStream } from '../../data/types.ts'
import type { Scene } from '../../state/context.ts'
import { xmlGutter, xmlLines } from '../../state/panes.ts'
import { type Area, filled, rowOf, type ScreenRow, type StyledText } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { openOf } from './open.ts'

/**
 * The document as stored, from the state's top line, with line numbers. Long lines are cut, in the wide form wrapped;
 * overlong lines are always wrapped. If it cannot be read, the reason is above it.
 */
export function xmlRows(scene: Scene, area: Area): ScreenRow[] {
  const open = openOf(scene)
  if (open === undefined) return filled([], area)
  const head = faultRows(open, area.columns)
  if (open.text.length === 0) return filled([...head, rowOf([['  nothing to show yet', 'dim']], area.columns)], area)
  return filled([...head, ...textRows(scene, open, { columns: area.columns, rows: area.rows - head.length })], area)
}

function faultRows({ presence, fault }: OpenStream, width: number): ScreenRow[] {
  if (presence !== 'unreadable' || fault === undefined) return []
  const spans: StyledText[] = [
    ['? ', 'bad'],
    [`${safeText(fault.message)} (${safeText(fault.code)})`, 'bad'],
  ]
  return [rowOf(spans, width)]
}

function textRows({ state }: Scene, { text }: OpenStream, area: Area): ScreenRow[] {
  const lines = xmlLines(text, area.columns, state.isWide)
  const top = Math.max(0, Math.min(state.paneTop, lines.total - 1))
  const shown = Math.max(0, Math.min(area.rows, lines.total - top))
  return Array.from({ length: shown }, (_, row) => textRow(text, lines.row(top + row), area.columns))
}

interface Part {
  readonly line: number
  readonly from: number
  readonly to: number
}

function textRow(text: readonly string[], { line, from, to }: Part, width: number): ScreenRow {
  const gutter = xmlGutter(text)
  const number = (from === 0 ? String(line + 1) : '').padStart(gutter - 2)
  // Most characters take at least half a column per UTF-16 unit; invisible ones do not. Enough for any row.
  const most = from + 4 * width
  const part = text[line]?.slice(from, Math.min(to, most)) ?? ''
  return rowOf(
    [
      [`${number}  `, 'dim'],
      [safeText(to > most ? `${part}…` : part), 'plain'],
    ],
    width,
  )
}
