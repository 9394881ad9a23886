import { cached } from '../../cached.ts'
import { type EveryEvent, everyEvent, MARKS } from '../../data/every-event.ts'
import type { OpenStream, TreeNode } from '../../data/types.ts'
import type { RowGroup } from '../context.ts'

/** An event with more children shows the first ones, and groups of the others. */
const MOST_CHILDREN = 100
const FIRST_CHILDREN = 50

/** The rows of the tree without a filter. */
export interface TreeRows {
  readonly keys: readonly string[]
  readonly groups: ReadonlyMap<string, RowGroup>
  /** The last row among the children of an event with groups, by the position of the event. */
  readonly lastRows: ReadonlyMap<number, string>
  /** The row under the cursor is shown although its group is closed. */
  readonly isCursorKept: boolean
}

/** What the user has folded and opened. */
export interface Folding {
  readonly folded: ReadonlySet<string>
  readonly openGroups: ReadonlySet<string>
  /** Key of a row that is shown in any case. */
  readonly cursor: string | undefined
}

/**
 * The rows that are not below a folded one. Of very many children of one event those with the same status are one row,
 * except the first, what failed, what runs, and the cursor: a group is listed after them, an open one with its events.
 */
export function treeRows(open: OpenStream, folding: Folding): TreeRows {
  const { nodes } = open
  const { folded } = folding
  const wide = wideNodes(nodes)
  if (wide.size === 0)
    return { keys: plainKeys(nodes, folded), groups: new Map(), lastRows: new Map(), isCursorKept: false }
  const rows: Rows = { keys: [], groups: new Map(), lastRows: new Map(), isCursorKept: false }
  const stack: (Range | RowGroup)[] = [{ from: 0, to: nodes.length }]
  for (let part = stack.pop(); part !== undefined; part = stack.pop()) {
    if ('key' in part) {
      rows.keys.push(part.key)
      rows.groups.set(part.key, part)
    } else stack.push(...addRange(part, open, folding, wide, rows).reverse())
  }
  return rows
}

interface Rows {
  readonly keys: string[]
  readonly groups: Map<string, RowGroup>
  readonly lastRows: Map<number, string>
  isCursorKept: boolean
}

interface Range {
  readonly from: number
  readonly to: number
}

function plainKeys(nodes: readonly TreeNode[], folded: ReadonlySet<string>): string[] {
  const keys: string[] = []
  for (let at = 0; at < nodes.length; ) {
    const node = nodes[at]
    if (node === undefined) break
    keys.push(node.key)
    at = folded.has(node.key) ? node.end : at + 1
  }
  return keys
}

/** Adds the rows of a range up to an event with very many children. @returns what follows it */
function addRange(
  { from, to }: Range,
  open: OpenStream,
  folding: Folding,
  wide: ReadonlySet<number>,
  rows: Rows,
): (Range | RowGroup)[] {
  const { nodes } = open
  for (let at = from; at < to; ) {
    const node = nodes[at]
    if (node === undefined) break
    rows.keys.push(node.key)
    const isFolded = folding.folded.has(node.key)
    if (!isFolded && wide.has(at)) return [...childrenOf(at, open, folding, rows), { from: node.end, to }]
    at = isFolded ? node.end : at + 1
  }
  return []
}

/** The children of an event: the ones shown, then the groups, each open one with its events. */
function childrenOf(parent: number, open: OpenStream, folding: Folding, rows: Rows): (Range | RowGroup)[] {
  const { nodes } = open
  const events = open.view && everyEvent(open.view.stream)
  const shown: Range[] = []
  const hidden = new Map<string, Range[]>()
  const end = nodes[parent]?.end ?? 0
  let nth = 0
  for (let at = parent + 1; at < end; nth++) {
    const to = nodes[at]?.end ?? end
    const word = nth < FIRST_CHILDREN || events === undefined ? undefined : groupOf(open, at, events)
    const isKept = word !== undefined && nodes[at]?.key === folding.cursor
    if (isKept) rows.isCursorKept = !folding.openGroups.has(groupKey(nodes[parent]?.key ?? '', word))
    if (word === undefined || (rows.isCursorKept && isKept)) shown.push({ from: at, to })
    else {
      const others = hidden.get(word)
      if (others === undefined) hidden.set(word, [{ from: at, to }])
      else others.push({ from: at, to })
    }
    at = to
  }
  const parts: (Range | RowGroup)[] = [...shown]
  const parentKey = nodes[parent]?.key ?? ''
  for (const [word, members] of hidden) {
    const key = groupKey(parentKey, word)
    const isOpen = folding.openGroups.has(key)
    parts.push({ key, parent, word, count: members.length, isOpen }, ...(isOpen ? members : []))
  }
  const last = parts.at(-1)
  const lastKey = last === undefined ? undefined : 'key' in last ? last.key : nodes[last.from]?.key
  if (lastKey !== undefined) rows.lastRows.set(parent, lastKey)
  return parts
}

/** No document can have this character, so no event has such a key. */
const SEPARATOR = '\u0000'

function groupKey(parent: string, word: string): string {
  return `${parent}${SEPARATOR}${word}`
}

/** The status by which an event is grouped; `undefined` if it has a row of its own. */
function groupOf(open: OpenStream, at: number, { marks, words }: EveryEvent): string | undefined {
  const node = open.nodes[at]
  if (node === undefined || node.again) return undefined
  const mark = marks[node.position] ?? 0
  // Foreign writers start events without naming an owner.
  const isRunning = mark & MARKS.started && (mark & MARKS.owned || node.end === at + 1)
  if (mark & MARKS.aborted || isRunning || open.below(at).failed > 0) return undefined
  return words[node.position]
}

/** Positions of the events with very many children. */
const wideNodes = cached((nodes: readonly TreeNode[]): ReadonlySet<number> => {
  const counts = new Map<number, number>()
  for (const { parent } of nodes) if (parent >= 0) counts.set(parent, (counts.get(parent) ?? 0) + 1)
  return new Set([...counts].flatMap(([at, count]) => (count > MOST_CHILDREN ? [at] : [])))
})

/** The rows depend on the statuses of the events. */
export function hasGroups(nodes: readonly TreeNode[]): boolean {
  return wideNodes(nodes).size > 0
}
