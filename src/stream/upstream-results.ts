import type { EventData } from './data.ts'
import type { StreamEvent } from './event.ts'
import { compareIds } from './event-id.ts'
import type { EventStream } from './event-stream.ts'
import { gateIds } from './gate.ts'

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
 * a step those of the steps that it was gated after, an undo step that of the step that it takes back, any other event
 * that of the event it follows.
 *
 * The result of a branch is that of its last events: an event hands its own result on unless events below it gave one, and
 * a join hands on its own in place of those of its branches. Superseded events do not count.
 *
 * @param gates the gates that events were added with, by id
 */
export function upstreamResults(stream: EventStream, event: StreamEvent, gates: Gates): readonly UpstreamResult[] {
  const position = stream.positionOf(event.id)
  const { join, after, undoes } = { ...gates.get(event.id), ...event.lc }
  if (undoes !== undefined) return resultOf(stream.find(undoes))
  const named = gateIds({ lc: { after } }).flatMap(id => {
    const before = stream.positionOf(id)
    return before < 0 ? [] : branchResults(stream, before, gates)
  })
  const above = stream.predecessorPositions(position).flatMap(before => {
    if (join === undefined) return named.length > 0 ? [] : resultOf(stream.at(before))
    const branches = stream.successorPositions(before).filter(at => at !== position)
    return branches.flatMap(branch => branchResults(stream, branch, gates))
  })
  const found = [...named, ...above]
  const once = [...new Map(found.map(result => [result.event, result])).values()]
  return once.sort((a, b) => compareIds(a.event, b.event))
}

type Gates = ReadonlyMap<string, StreamEvent['lc']>

function resultOf(event: StreamEvent | undefined): readonly UpstreamResult[] {
  return event?.result === undefined ? [] : [{ event: event.id, name: event.name, data: event.result }]
}

function branchResults(stream: EventStream, branch: number, gates: Gates): readonly UpstreamResult[] {
  const results = new Map<number, readonly UpstreamResult[]>()
  // Not recursive: a thread may have thousands of steps.
  for (const at of [...stream.descendantPositions(branch), branch]) {
    const following = stream.successorPositions(at).filter(next => (results.get(next) ?? []).length > 0)
    const joined = following.filter(next => gates.get(stream.at(next)?.id ?? '')?.join !== undefined)
    const below = (joined.length > 0 ? joined : following).flatMap(next => results.get(next) ?? [])
    results.set(at, below.length > 0 ? below : resultOf(stream.at(at)))
  }
  return results.get(branch) ?? []
}
