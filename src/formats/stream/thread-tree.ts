import { nextIds, type StreamEvent } from '../../stream/event.ts'
import type { EventStream } from '../../stream/event-stream.ts'

/** One line of the thread tree. */
export interface TreeRow {
  /** Tree lines in front of the id: `│ └─▾ `. */
  readonly lines: string
  readonly depth: number
  readonly id: string
  /** `undefined` for an id that `next` names but no event has. */
  readonly event: StreamEvent | undefined
  /** True when the event stands further up already: a cycle or a second way to it. */
  readonly again: boolean
}

/** Deeper levels keep the indentation of this one, so that long threads stay readable and output stays linear. */
const MAX_INDENT = 20

interface Pending {
  readonly id: string
  readonly event: StreamEvent | undefined
  readonly depth: number
  /** The lines of the levels above. */
  readonly above: string
  readonly last: boolean
}

/**
 * The events of a stream as a tree: under each event its successors, those in `next` first and in that order, then
 * those whose `prev` names it. Events that no path from the root reaches follow as roots of their own, each event
 * stands once. Without recursion: threads of strangers may be as long as a document allows.
 */
export function threadTree(stream: EventStream): TreeRow[] {
  const children = childrenOf(stream)
  const rows: TreeRow[] = []
  const seen = new Set<string>()
  for (const root of rootsOf(stream, children)) {
    if (!seen.has(root.id)) grow(root, children, seen, rows)
  }
  return rows
}

function grow(root: StreamEvent, children: Children, seen: Set<string>, rows: TreeRow[]): void {
  const stack: Pending[] = [{ id: root.id, event: root, depth: 0, above: '', last: true }]
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const again = item.event !== undefined && seen.has(item.id)
    seen.add(item.id)
    const below = again ? [] : [...(children.get(item.id) ?? [])]
    rows.push({ lines: linesOf(item, below.length > 0), depth: item.depth, id: item.id, event: item.event, again })
    const above = item.depth === 0 || item.depth > MAX_INDENT ? item.above : item.above + (item.last ? '  ' : '│ ')
    for (let at = below.length - 1; at >= 0; at--) {
      const child = below[at]
      if (child === undefined) continue
      const [id, event] = child
      stack.push({ id, event, depth: item.depth + 1, above, last: at === below.length - 1 })
    }
  }
}

function linesOf(item: Pending, parent: boolean): string {
  const fold = parent ? '▾ ' : '  '
  if (item.depth === 0) return fold
  return `${item.above}${item.last ? '└─' : '├─'}${fold}`
}

/** By the id of a parent its children: each once, however often it is linked. */
type Children = ReadonlyMap<string, ReadonlyMap<string, StreamEvent | undefined>>

function childrenOf(stream: EventStream): Children {
  const children = new Map<string, Map<string, StreamEvent | undefined>>()
  const add = (parent: string, id: string) => {
    const known = children.get(parent)
    if (known === undefined) children.set(parent, new Map([[id, stream.find(id)]]))
    else if (!known.has(id)) known.set(id, stream.find(id))
  }
  for (const event of stream.events) for (const id of nextIds(event)) add(event.id, id)
  for (const event of stream.events) {
    if (event.prev !== '' && stream.find(event.prev) !== undefined) add(event.prev, event.id)
  }
  return children
}

/** The root, then events that nobody leads to, then whatever is left (a cycle apart from the root). */
function rootsOf(stream: EventStream, children: Children): StreamEvent[] {
  const led = new Set<string>()
  for (const below of children.values()) for (const id of below.keys()) led.add(id)
  const [root, ...others] = stream.events
  return root === undefined
    ? []
    : [root, ...others.filter(event => !led.has(event.id)), ...others.filter(event => led.has(event.id))]
}
