import type { EventData } from './data.ts'
import type { StreamEvent } from './event.ts'
import { compareIds } from './event-id.ts'
import type { EventStream } from './event-stream.ts'

/** The result of an earlier event that an event works with. */
export interface UpstreamResult {
  /** Id of the earlier event. */
  readonly event: string
  /** Its name. */
  readonly name: string
  readonly data: EventData
}

/**
 * The results that an event works with, in the order of their ids: a join sees the results of the branches that it joins,
 * any other event that of the event it follows.
 *
 * The result of a branch is that of its last events: an event hands its own result on unless events below it gave one, and
 * a join hands on its own in place of those of its branches. Superseded events do not count.
 *
 * @param joins ids of the events that were declared as joins
 */
export function upstreamResults(
  stream: EventStream,
  event: StreamEvent,
  joins: ReadonlySet<string>,
): readonly UpstreamResult[] {
  const position = stream.positionOf(event.id)
  const isJoin = event.lc.join !== undefined || joins.has(event.id)
  const found = stream.predecessorPositions(position).flatMap(before => {
    if (!isJoin) return resultOf(stream.at(before))
    const branches = stream.successorPositions(before).filter(at => at !== position)
    return branches.flatMap(branch => branchResults(stream, branch, joins))
  })
  const once = [...new Map(found.map(result => [result.event, result])).values()]
  return once.sort((a, b) => compareIds(a.event, b.event))
}

function resultOf(event: StreamEvent | undefined): readonly UpstreamResult[] {
  return event?.result === undefined ? [] : [{ event: event.id, name: event.name, data: event.result }]
}

function branchResults(stream: EventStream, branch: number, joins: ReadonlySet<string>): readonly UpstreamResult[] {
  const results = new Map<number, readonly UpstreamResult[]>()
  // Not recursive: a thread may have thousands of steps.
  for (const at of [...stream.descendantPositions(branch), branch]) {
    const following = stream.successorPositions(at).filter(next => (results.get(next) ?? []).length > 0)
    const joined = following.filter(next => joins.has(stream.at(next)?.id ?? ''))
    const below = (joined.length > 0 ? joined : following).flatMap(next => results.get(next) ?? [])
    results.set(at, below.length > 0 ? below : resultOf(stream.at(at)))
  }
  return results.get(branch) ?? []
}
