import type { EventStream } from '../../stream/event-stream.ts'

/**
 * The parent of each event's span: the event it follows, the root where that is missing or follows the event itself.
 * The root has none. Events with an id that an earlier one has are left out.
 */
export function parentsOf(stream: EventStream): ReadonlyMap<string, string | undefined> {
  const { root } = stream
  const parents = new Map<string, string | undefined>()
  if (root === undefined) return parents
  /** From these the root is reached by `parents`. */
  const anchored = new Set([root.id])
  parents.set(root.id, undefined)
  for (const [at, { id }] of stream.events.entries()) {
    if (stream.counts(at)) anchor(id, stream, root.id, parents, anchored)
  }
  return parents
}

/** Walks up until something anchored; what leads nowhere or in a circle hangs below the root. */
function anchor(
  start: string,
  stream: EventStream,
  root: string,
  parents: Map<string, string | undefined>,
  anchored: Set<string>,
): void {
  const walked = new Set<string>()
  for (let id = start; !anchored.has(id); ) {
    walked.add(id)
    const prev = stream.find(id)?.prev ?? ''
    const usable = prev !== '' && stream.find(prev) !== undefined && !walked.has(prev)
    const parent = usable ? prev : root
    parents.set(id, parent)
    id = parent
  }
  for (const id of walked) anchored.add(id)
}
