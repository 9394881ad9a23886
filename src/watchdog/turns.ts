import { type Decision, dueMsOf } from './decision.ts'

/**
 * The order in which decisions are carried out, of which a pass may do the first ones only: the soonest due first, and from
 * each stream one before a second from any, or one that has very many would keep all others waiting. Streams that could not
 * be changed when that was tried last come after the others: what is in their way may stay for ever. Among themselves those
 * come first that have waited longest, so each is tried again and again.
 *
 * @param lastSetback in which pass a stream could not be changed, the later the higher; 0: nothing is known to be in its way
 */
export function inTurn(decisions: readonly Decision[], lastSetback: (stream: string) => number): Decision[] {
  const soonestFirst = decisions.toSorted((a, b) => dueOrder(a) - dueOrder(b))
  const turns = [...Map.groupBy(soonestFirst, ({ stream }) => stream)].flatMap(([stream, ofOne]) => {
    const setback = lastSetback(stream)
    return ofOne.map((decision, turn) => ({ decision, setback, turn }))
  })
  return turns
    .sort((a, b) => a.setback - b.setback || a.turn - b.turn || dueOrder(a.decision) - dueOrder(b.decision))
    .map(({ decision }) => decision)
}

/** Where no limit ended there is nothing to wait for. */
function dueOrder(decision: Decision): number {
  return dueMsOf(decision) ?? 0
}
