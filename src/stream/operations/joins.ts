import { isWaitingJoin } from '../event.ts'
import { declaredJoins, eventsThatRan } from '../journal/history.ts'
import type { Draft } from './draft.ts'

/** The joins of a stream, looked up once for all that a retry asks of them. */
export interface Joins {
  /** Joins beside the path from the event to the root. */
  above(position: number): number[]
  /** The join may have used the results of its branches. */
  ran(position: number): boolean
}

export function joinsOf(draft: Draft): Joins {
  const { stream, transactions } = draft
  const byFork = joinsByFork(draft)
  const ran = eventsThatRan(transactions)
  return {
    above(position) {
      const above = stream.ancestorPositions(position)
      const path = new Set([position, ...above])
      return above.flatMap(at => byFork.get(at) ?? []).filter(at => !path.has(at))
    },
    ran(position) {
      const event = draft.at(position)
      // One that waits at the moment goes on waiting, whatever was done to it before.
      if (isWaitingJoin(event)) return false
      if (event.status === 'completed' || event.status === 'aborted') return true
      return event.status === 'inprocess' || event.lc.owner !== undefined || ran.has(event.id)
    },
  }
}

/** Joins, waiting or released, be it by the settling of this very transaction, by the position of the forking event. */
function joinsByFork({ stream, transactions, changes }: Draft): ReadonlyMap<number, readonly number[]> {
  const ids = declaredJoins(transactions)
  for (const { event, how } of changes) if (how === 'join') ids.add(event)
  const byFork = new Map<number, number[]>()
  stream.events.forEach((event, at) => {
    if (!stream.counts(at) || (event.lc.join === undefined && !ids.has(event.id))) return
    if (event.lc.superseded !== undefined) return
    for (const fork of stream.predecessorPositions(at)) byFork.set(fork, [...(byFork.get(fork) ?? []), at])
  })
  return byFork
}
