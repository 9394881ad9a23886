import { type TreeRow, threadTree } from '../../formats/stream/thread-tree.ts'
import type { StreamEvent } from '../../stream/event.ts'
import type { EventStream } from '../../stream/event-stream.ts'
import type { TreeNode } from './types.ts'

/** Which events there are and how they hang together: what outlives their statuses. */
export interface TreeForm {
  /** The stream as it stands, with the links of the one before it where they are the same. */
  readonly stream: EventStream
  readonly nodes: readonly TreeNode[]
}

/** The form of a stream. What is the same as in the one before it is taken over, so that it costs next to nothing. */
export function formOf(stream: EventStream, before: TreeForm | undefined): TreeForm {
  const { events } = stream
  if (before !== undefined && isLinkedAlike(events, before.stream.events)) {
    return { stream: before.stream.withStates(events), nodes: before.nodes }
  }
  const nodes = nodesOf(threadTree(stream))
  const isSame = before !== undefined && isSameTree(nodes, before.nodes)
  return { stream, nodes: isSame ? before.nodes : nodes }
}

function isLinkedAlike(a: readonly StreamEvent[], b: readonly StreamEvent[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let at = 0; at < a.length; at++) {
    const left = a[at]
    const right = b[at]
    if (left === right) continue
    if (left?.id !== right?.id || left?.next !== right?.next || left?.prev !== right?.prev) return false
  }
  return true
}

function isSameTree(a: readonly TreeNode[], b: readonly TreeNode[]): boolean {
  if (a.length !== b.length) return false
  return a.every(({ key, lines, end, again }, at) => {
    const other = b[at]
    return key === other?.key && lines === other.lines && end === other.end && again === other.again
  })
}

/** The fold mark at the end of a row's lines is the screen's own to draw. */
const MARK_LENGTH = 2

function nodesOf(rows: readonly TreeRow[]): readonly TreeNode[] {
  const ends = endsOf(rows)
  const used = new Set<string>()
  return rows.map(({ id, depth, lines, again }, at) => {
    const key = freeKey(id, used)
    used.add(key)
    return { key, id, depth, lines: lines.slice(0, -MARK_LENGTH), end: ends[at] ?? at + 1, again }
  })
}

function freeKey(id: string, used: ReadonlySet<string>): string {
  let key = id
  for (let number = 2; used.has(key); number++) key = `${id}#${number}`
  return key
}

/** What is below a row ends with the next one that is no deeper. */
function endsOf(rows: readonly TreeRow[]): Int32Array {
  const ends = new Int32Array(rows.length)
  const open: number[] = []
  const close = (depth: number, end: number) => {
    for (let last = open.at(-1); last !== undefined && (rows[last]?.depth ?? 0) >= depth; last = open.at(-1)) {
      ends[last] = end
      open.pop()
    }
  }
  for (const [at, { depth }] of rows.entries()) {
    close(depth, at)
    open.push(at)
  }
  close(0, rows.length)
  return ends
}
