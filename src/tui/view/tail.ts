import { WIDE_COLUMNS } from '../ui/layout.ts'
import type { Scene } from '../ui/world.ts'
import { filled, rowOf, ruleRow } from './fit.ts'
import { journalSpans } from './journal-line.ts'
import { openOf } from './open-stream.ts'
import type { Area, Row } from './row.ts'

/** The end of the journal below a rule, the newest at the bottom. */
export function tailRows(scene: Scene, area: Area): Row[] {
  const room = area.rows - 1
  const { state, nowMs } = scene
  const look = { moment: { nowMs, time: state.time }, withOp: area.columns >= WIDE_COLUMNS }
  const transactions = room > 0 ? (openOf(scene)?.tail.slice(-room) ?? []) : []
  const rows = transactions.map(tx => rowOf([[' ', 'plain'], ...journalSpans(tx, look)], area.columns))
  return filled([ruleRow('tail', area.columns), ...rows], area)
}
