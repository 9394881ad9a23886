import { lookOf, statusWord } from '../../formats/stream/status.ts'
import { counted, countText } from '../../formats/terminal/count-text.ts'
import { tableRows, tableWidths } from '../../formats/terminal/table.ts'
import { visibleName, visibleText } from '../../stream/text.ts'
import type { ChangeTarget } from '../../tui/ports.ts'
import type { Verb } from '../batch/action.ts'
import { whyNot } from '../batch/outcome-rows.ts'
import type { Plan, PreviewRow } from '../batch/plan.ts'
import { planText } from '../batch/preview.ts'

/** Names that nothing has, beyond which they are counted. */
const MOST_MISSING = 5

/** What would be changed, line by line, and why the rest would not. Safe to print. */
export function previewLines(plan: Plan, verb: Verb, only: ChangeTarget | undefined): readonly string[] {
  const { rows, targets, missing, leftOut } = plan
  const more = targets.length - rows.length
  const untold = missing.length - MOST_MISSING
  return [
    ...tableOf(rows, verb),
    ...(more > 0 ? [`and ${countText(more)} more`] : []),
    ...missing.slice(0, MOST_MISSING).map(({ message }) => `not tried: ${visibleText(message)}`),
    ...(untold > 0 ? [`and ${countText(untold)} more that are not there`] : []),
    ...(only === undefined ? [planText(plan, verb.leavesOut?.because)] : []),
    ...(only !== undefined && leftOut > 0 ? [`${nameOf(only)} is ${verb.leavesOut?.because}`] : []),
  ]
}

function nameOf({ stream, event }: ChangeTarget): string {
  return visibleText(event === undefined ? stream : `${event} of ${stream}`)
}

function tableOf(rows: readonly PreviewRow[], verb: Verb): string[] {
  const withEvents = rows.some(({ target }) => target.event !== undefined)
  const cells = rows.map(row => [
    visibleName(row.target.stream),
    ...(withEvents ? [visibleText(row.target.event ?? '')] : []),
    row.objection === undefined ? `${lookOf(row.status).glyph} ${statusWord(row.status)}` : '✗ not tried',
    effectOf(row, verb),
  ])
  const columns = (cells[0] ?? []).map(() => ({ title: '' }))
  return tableRows(columns, cells, tableWidths(columns, cells)).map(line => line.trimEnd())
}

/** What follows from it, or why it is left as it is. */
function effectOf({ target, item, openBelow, objection }: PreviewRow, { name }: Verb): string {
  if (objection !== undefined) return whyNot(objection, target)
  if (name !== 'retry') return openBelow === 0 ? '' : `${counted(openBelow, 'open event')} below`
  const failed = item.summary?.failed ?? 0
  return target.event !== undefined || failed === 0 ? '' : counted(failed, 'failed event')
}
