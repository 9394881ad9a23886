import type { Scene } from '../../state/context.ts'
import { WIDE_COLUMNS } from '../../state/layout.ts'
import { filled, rowOf, ruleRow } from '../fit.ts'
import type { Area, Row } from '../row.ts'
import { journalSpans } from './journal-line.ts'
import { openOf } from './open.ts'

/** The end of the journal below a rule, the newest at the bottom. */
export function tailRows(scene: Scene, area: Area): Row[] {
  const room = area.rows - 1
  const { state, nowMs } = scene
  const look = { moment: { nowMs, time: state.time }, withOp: area.columns >= WIDE_COLUMNS }
  const transactions = room > 0 ? (openOf(scene)?.tail.slice(-room) ?? []) : []
  const rows = transactions.map(tx => rowOf([[' ', 'plain'], ...journalSpans(tx, look)], area.columns))
  return filled([ruleRow('tail', area.columns), ...rows], area)
}
