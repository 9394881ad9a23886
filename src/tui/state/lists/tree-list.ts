import { shownStatus } from '../../../formats/stream/view.ts'
import { isSuperseded } from '../../../stream/event.ts'
import type { OpenStream, TreeNode } from '../../data/types.ts'
import type { Listing } from '../context.ts'
import { lookOf, shownOf } from '../shown-stream.ts'
import type { ListState, State } from '../state.ts'
import { filterParser, type ParsedFilter } from './filter.ts'
import { EVENT_FILTER, type EventRow, eventText } from './filters.ts'
import { listingOf, NO_ROWS } from './rows.ts'
import { type Folding, hasGroups, treeRows } from './tree-rows.ts'

type Folds = Pick<State, 'folded' | 'openGroups'>

/** Inputs of a listing. */
interface TreeInputs {
  readonly nodes: readonly TreeNode[]
  readonly folded: ReadonlySet<string>
  readonly openGroups: ReadonlySet<string>
  readonly filter: string
  readonly onlyBroken: boolean
  readonly moves: number
  readonly revision: number
  readonly nowMs: number
}

/**
 * The rows of the thread tree. With a filter: matching rows and, faint, their ancestors, regardless of folding. The
 * filter is evaluated at most once a second; rows that no longer match stay, faint, until the cursor moves.
 */
export class TreeList {
  readonly #parse = filterParser(EVENT_FILTER)
  #inputs: TreeInputs | undefined
  #stream: string | undefined
  #listing: Listing = NO_ROWS
  #hasStale = false
  /** The row under the cursor has a place of its own until the cursor moves. */
  #isCursorKept = false

  listing(list: ListState, { folded, openGroups }: Folds, open: OpenStream, nowMs: number): Listing {
    const { filter, onlyBroken, moves, cursor } = list
    const { nodes, revision } = open
    const now: TreeInputs = { nodes, folded, openGroups, filter, onlyBroken, moves, revision, nowMs }
    const isWhole = !onlyBroken && this.#parse(filter).isEmpty
    const before = this.#stream === open.name ? this.#inputs : undefined
    if (
      before !== undefined &&
      isCurrent(before, now, isWhole, this.#hasStale) &&
      this.#hasCursor(before, now, isWhole, cursor)
    ) {
      return this.#listing
    }
    const keeps = before?.filter === filter && before.onlyBroken === onlyBroken && before.moves === moves
    this.#listing = isWhole
      ? this.#unfiltered(open, { folded, openGroups, cursor })
      : this.#passing(open, now, keeps ? this.#listing : NO_ROWS)
    this.#inputs = now
    this.#stream = open.name
    return this.#listing
  }

  /** A group that hides the cursor's row shows it, and hides it again when the cursor leaves it. */
  #hasCursor(before: TreeInputs, { nodes, moves }: TreeInputs, isWhole: boolean, cursor: string | undefined): boolean {
    if (!hasGroups(nodes) || before.moves === moves || !isWhole) return true
    return !this.#isCursorKept && (cursor === undefined || this.#listing.indexOf(cursor) >= 0)
  }

  #unfiltered(open: OpenStream, folding: Folding): Listing {
    const { keys, isCursorKept, ...groups } = treeRows(open, folding)
    const total = open.nodes.length
    this.#isCursorKept = isCursorKept
    return listingOf(keys, { matching: total, total, ...groups })
  }

  #passing(open: OpenStream, { filter, onlyBroken, nowMs }: TreeInputs, before: Listing): Listing {
    const { nodes } = open
    const wanted = this.#parse(filter)
    const shown = new Uint8Array(nodes.length)
    const passing = new Set<string>()
    showWithAncestors(
      nodes,
      shown,
      node =>
        (!onlyBroken || isBrokenNode(node, open, nowMs)) &&
        accepts(wanted, node, open, nowMs) &&
        passing.add(node.key).size > 0,
    )
    const ghosts = showWithAncestors(nodes, shown, ({ key }, at) => shown[at] === 0 && before.indexOf(key) >= 0)
    this.#hasStale = ghosts > 0
    const keys = nodes.filter((_, at) => shown[at] === 1).map(({ key }) => key)
    const faint = new Set(keys.filter(key => !passing.has(key)))
    return listingOf(keys, { faint, matching: passing.size, total: nodes.length })
  }
}

/** It failed and no retry has replaced it, or it is late, or its worker is silent. */
function isBrokenNode({ id, again }: TreeNode, open: OpenStream, nowMs: number): boolean {
  const event = again ? undefined : open.event(id)
  const shown = event && shownOf(open, nowMs)
  if (event === undefined || shown === undefined || isSuperseded(event)) return false
  return BROKEN.has(shownStatus(shown, event))
}

const BROKEN: ReadonlySet<string> = new Set(['aborted', 'overdue', 'abandoned'])

function accepts(wanted: ParsedFilter<EventRow>, { id, again }: TreeNode, open: OpenStream, nowMs: number): boolean {
  const event = again ? undefined : open.event(id)
  if (event === undefined) return wanted.accepts(() => id.toLowerCase(), undefined, nowMs)
  const shown = shownOf(open, nowMs)
  // The displayed status changes with time and with events below: it cannot be cached with the event.
  const textOf = () => (shown === undefined ? eventText(event) : `${eventText(event)}\n${lookOf(shown, event).word}`)
  return wanted.accepts(textOf, { event, shown }, nowMs)
}

/** Shows the wanted nodes and their ancestors. @returns the number of wanted nodes */
function showWithAncestors(
  nodes: readonly TreeNode[],
  shown: Uint8Array,
  isWanted: (node: TreeNode, at: number) => boolean,
): number {
  const above: number[] = []
  let wanted = 0
  for (const [at, node] of nodes.entries()) {
    while (above.length > 0 && (nodes[above.at(-1) ?? 0]?.end ?? 0) <= at) above.pop()
    above.push(at)
    if (!isWanted(node, at)) continue
    wanted++
    // The ancestors of a shown node are shown already.
    for (let up = above.length - 1; up >= 0 && shown[above[up] ?? 0] === 0; up--) shown[above[up] ?? 0] = 1
  }
  return wanted
}

function isCurrent(before: TreeInputs, now: TreeInputs, isWhole: boolean, hasGhosts: boolean): boolean {
  if (before.nodes !== now.nodes || before.filter !== now.filter || before.onlyBroken !== now.onlyBroken) return false
  if (isWhole) {
    if (before.folded !== now.folded) return false
    if (!hasGroups(now.nodes)) return true
    return before.openGroups === now.openGroups && before.revision === now.revision
  }
  if (hasGhosts && before.moves !== now.moves) return false
  return before.revision === now.revision || Math.floor(before.nowMs / 1_000) === Math.floor(now.nowMs / 1_000)
}
