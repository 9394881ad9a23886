import { wrapped } from '../../../formats/terminal/wrap.ts'
import type { OpenStream } from '../../data/types.ts'
import type { Scene } from '../../state/context.ts'
import { shownOf } from '../../state/shown-stream.ts'
import { filled, rowOf, ruleRow, widthOfSpans } from '../fit.ts'
import type { Area, Row, Span } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { listWindow } from '../window.ts'
import { type DetailContext, factLines, shortLine } from './detail-lines.ts'
import { journalSpans, shortJournalSpans } from './journal-line.ts'
import { openOf } from './open.ts'
import { type SeenNode, visibleNodes } from './tree.ts'

/**
 * What is known of the event under the cursor, below a rule with its name. In few rows the two lines that say most, in
 * many all attributes, its message and the end of its journal.
 */
export function detailRows(scene: Scene, area: Area): Row[] {
  const open = openOf(scene)
  const seen = open && visibleNodes(scene, open, listWindow(scene, 1)).find(({ isCursor }) => isCursor)
  const shown = shownOf(open, scene.nowMs)
  if (open === undefined || seen === undefined || shown === undefined) return filled([ruleRow('', area.columns)], area)
  const { event, node } = seen
  const title = ruleRow(`${safeText(node.id)} ${safeText(event?.name ?? '')}`.trimEnd(), area.columns)
  if (event === undefined) return filled([title, missingRow(seen, open, area.columns)], area)
  const moment = { nowMs: shown.nowMs, time: scene.state.time }
  const transactions = open.transactionsOf(event.id)
  const lines = linesFor({ shown, event, transactions, moment, width: area.columns - 1 }, area.rows - 1)
  return filled([title, ...lines.map(spans => rowOf([[' ', 'plain'], ...spans], area.columns))], area)
}

function missingRow({ node, at }: SeenNode, { nodes }: OpenStream, width: number): Row {
  let above = at - 1
  while (above > at - MOST_STEPS && (nodes[above]?.depth ?? 0) >= node.depth) above--
  const parent = nodes[above]
  const by = parent === undefined || parent.depth >= node.depth ? '' : `; next of ${safeText(parent.id)} names it`
  return rowOf([[` no event has this id${by}`, 'warn']], width)
}

/** Where more stands between an event and what is above it, that is not named. */
const MOST_STEPS = 1_000

type Line = readonly Span[]

/** So many rows are enough for more than the lines that say most. */
const LEAST_FOR_ALL = 4
/** A message takes at most so many. */
const MESSAGE_ROWS = 3

function linesFor(context: DetailContext, rows: number): Line[] {
  if (rows < LEAST_FOR_ALL) return shortLines(context, rows)
  const facts = factLines(context)
  const message = messageLines(context, Math.min(MESSAGE_ROWS, rows - LEAST_FOR_ALL + 1))
  const least = Math.min(2, context.transactions.length)
  const above = [...facts.slice(0, Math.max(1, rows - least - message.length)), ...message]
  return [...above, ...journalLines(context, rows - above.length)]
}

function shortLines(context: DetailContext, rows: number): Line[] {
  const lines = [shortLine(context)]
  if (rows > 2) lines.push(...messageLines(context, 1))
  if (rows > lines.length) lines.push(journalLine(context))
  return lines.slice(0, Math.max(0, rows))
}

function messageLines({ event, width }: DetailContext, most: number): Line[] {
  if (event.msg === '') return []
  return wrapped(`msg ${safeText(event.msg)}`, width, most).map(line => [[line, 'plain']])
}

function journalLines({ transactions, event, moment }: DetailContext, rows: number): Line[] {
  if (rows <= 0) return []
  return transactions.slice(-rows).map(tx => journalSpans(tx, { moment, event: event.id, withOp: true }))
}

const BETWEEN: Span = ['     ', 'plain']

/** The latest transactions beside each other, as many as there is room for. */
function journalLine({ transactions, moment, width }: DetailContext): Line {
  let line: Span[] = []
  for (const tx of transactions.slice(-8).reverse()) {
    const longer = [...shortJournalSpans(tx, moment), ...(line.length === 0 ? [] : [BETWEEN]), ...line]
    if (line.length > 0 && widthOfSpans(longer) > width) break
    line = longer
  }
  return line
}
