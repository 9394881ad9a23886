import { isSuperseded } from '../../stream/event.ts'
import { countText } from '../terminal/numbers.ts'
import type { TreeRow } from './tree.ts'
import { type ShownStream, stateOf } from './view.ts'

/** The first levels of a tree. Each row whose events below are left out counts them by state. The root is level 0. */
export function firstLevels(shown: ShownStream, rows: readonly TreeRow[], depth: number): TreeRow[] {
  const kept: TreeRow[] = []
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]
    if (row === undefined || row.depth > depth) continue
    const end = endOfBelow(rows, at)
    if (row.depth < depth || end === at + 1) kept.push(row)
    else kept.push({ ...row, lines: row.lines.replace('▾', '▸'), below: belowText(shown, rows.slice(at + 1, end)) })
  }
  return kept
}

function endOfBelow(rows: readonly TreeRow[], at: number): number {
  const { depth = 0 } = rows[at] ?? {}
  let end = at + 1
  while ((rows[end]?.depth ?? depth) > depth) end++
  return end
}

/** `14: 2 aborted, 12 completed`; attempts that a retry replaced are apart. */
function belowText(shown: ShownStream, rows: readonly TreeRow[]): string {
  const counts = new Map<string, number>()
  for (const { event, again } of rows) {
    if (again) continue
    const state = event === undefined ? 'missing' : isSuperseded(event) ? 'replaced' : stateOf(shown, event)
    counts.set(state, (counts.get(state) ?? 0) + 1)
  }
  const ranked = [...counts].sort(([a], [b]) => rankOf(a) - rankOf(b))
  const total = ranked.reduce((sum, [, count]) => sum + count, 0)
  return `${countText(total)}: ${ranked.map(([state, count]) => `${countText(count)} ${state}`).join(', ')}`
}

/** What somebody has to act on comes first. */
const RANKS = ['aborted', 'overdue', 'abandoned', 'canceled', 'running', 'ready', 'suspended', 'waiting']

function rankOf(state: string): number {
  const at = RANKS.indexOf(state)
  return at >= 0 ? at : RANKS.length + (state === 'completed' ? 1 : 0)
}
