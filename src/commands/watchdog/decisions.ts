import { jsonTime } from '../../formats/json.ts'
import { span } from '../../formats/terminal/numbers.ts'
import type { Style } from '../../formats/terminal/style.ts'
import type { Cell, Column } from '../../formats/terminal/table.ts'
import { actionCell } from '../../formats/watchdog-status.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import type { DecisionOutcome, ExecutedDecision } from '../../watchdog/decision.ts'

/** A decision with its outcome; a dry run has no outcome. */
export type ReportedDecision = Pick<ExecutedDecision, 'decision'> & Partial<ExecutedDecision>

const COLUMNS: readonly Column[] = [
  { title: 'OUTCOME' },
  { title: 'STREAM', give: 1, min: 12, cut: 'middle' },
  { title: 'EVENT', give: 2, min: 8 },
  { title: 'ENDS', align: 'right', spare: 1 },
  { title: 'LATE', align: 'right' },
  { title: 'WHY', runsOn: true },
]

const DRY_COLUMNS: readonly Column[] = [{ title: 'WOULD' }, ...COLUMNS.slice(1)]

export function decisionColumns(isDryRun: boolean): readonly Column[] {
  return isDryRun ? DRY_COLUMNS : COLUMNS
}

const OUTCOME_STYLES: { readonly [Outcome in DecisionOutcome]: readonly [glyph: string, style: Style] } = {
  ended: ['✗', 'bad'],
  settled: ['✓', 'good'],
  notified: ['!', 'warn'],
  already: ['✓', 'dim'],
  'showed-life': ['♥', 'good'],
  busy: ['◷', 'warn'],
  gone: ['-', 'dim'],
  refused: ['✗', 'warn'],
  failed: ['✗', 'bad'],
  unknown: ['?', 'warn'],
}

/** A row of the table: action or outcome, stream, event, lateness and reason. */
export function decisionRow(reported: ReportedDecision, nowMs: number): readonly Cell[] {
  const { decision, outcome, message } = reported
  const first = outcome === undefined ? actionCell(decision.kind) : outcomeCell(reported, outcome)
  const stream = visibleName(decision.stream)
  if (decision.kind === 'settle') {
    return [first, stream, '', '', '', visibleText(message ?? 'what events had waited for has come')]
  }
  const event = visibleText(decision.name === '' ? decision.event : `${decision.event} ${decision.name}`)
  const late = span(nowMs - decision.dueMs)
  const why = visibleText(message === undefined ? decision.message : `${decision.message} (${message})`)
  return [first, stream, event, decision.ends === 0 ? '' : String(decision.ends), late, why]
}

/** An event is not over that will be tried again, nor is a stream that begins to undo what it did. */
function outcomeCell({ decision, ended = [] }: ReportedDecision, outcome: DecisionOutcome): Cell {
  const isOver = outcome !== 'ended' || decision.kind === 'settle' || ended.includes(decision.event)
  if (!isOver) return { text: decision.kind === 'end-attempt' ? '! attempt ended' : '↶ undoing', style: 'warn' }
  const [glyph, style] = OUTCOME_STYLES[outcome]
  return { text: `${glyph} ${outcome}`, style }
}

/** A decision as JSON; fields without a value are `null`. */
export function decisionJson({ decision, ...carried }: ReportedDecision): object {
  const due = decision.kind === 'settle' ? undefined : decision
  return {
    stream: decision.stream,
    action: decision.kind,
    event: due?.event ?? null,
    name: due?.name ?? null,
    limit: due?.limit ?? null,
    due: jsonTime(due?.dueMs),
    reason: due?.message ?? null,
    ends: due?.ends ?? 0,
    commandId: decision.commandId,
    outcome: carried.outcome ?? null,
    at: jsonTime(carried.atMs),
    version: carried.version ?? null,
    ended: carried.ended ?? [],
    code: carried.code ?? null,
    message: carried.message ?? null,
  }
}
