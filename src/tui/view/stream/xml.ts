import type { OpenStream } from '../../data/types.ts'
import type { Scene } from '../../state/context.ts'
import { xmlText } from '../../state/text/xml.ts'
import { type Area, filled, rowOf, type ScreenRow, type StyledText } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { readableRows } from '../text.ts'
import { openOf } from './open.ts'

/** The document as stored, with line numbers. If it cannot be read, the reason is above it. */
export function xmlRows(scene: Scene, area: Area): ScreenRow[] {
  const open = openOf(scene)
  if (open === undefined) return filled([], area)
  const head = faultRows(open, area.columns)
  if (open.text.length === 0) return filled([...head, rowOf([['  nothing to show yet', 'dim']], area.columns)], area)
  const room = { columns: area.columns, rows: area.rows - head.length }
  return filled([...head, ...readableRows(xmlText(open), scene.state.xml, room)], area)
}

function faultRows({ presence, fault }: OpenStream, width: number): ScreenRow[] {
  if (presence !== 'unreadable' || fault === undefined) return []
  const spans: StyledText[] = [
    ['? ', 'bad'],
    [`${safeText(fault.message)} (${safeText(fault.code)})`, 'bad'],
  ]
  return [rowOf(spans, width)]
}
