import type { Verdict } from '../history/checker.ts'
import type { Call } from '../history/history.ts'
import type { FinalStream } from '../history/lives.ts'

/** Of this number of lives. */
const MOST = 5

/** The basis of the verdict, as lines of JSON: creations, removals, the change in a violation, and its stream. */
export function evidenceFor(
  { violations }: Pick<Verdict, 'violations'>,
  calls: readonly Call[],
  streams: ReadonlyMap<string, FinalStream>,
): string[] {
  // The first violation of each life: the others mostly follow from it.
  const firsts = new Map(violations.toReversed().map(violation => [violation.life, violation]))
  return [...firsts.values()].slice(0, MOST).flatMap(({ rule, life, why }) => {
    const stream = life.slice(0, life.indexOf('@'))
    const named = new Set(why.split(' '))
    const isMeant = ({ asked }: Call) => asked.what !== 'change' || asked.id === asked.born || named.has(asked.id)
    const about = calls.filter(call => call.stream === stream && isMeant(call))
    return [
      `${life} is ${rule}: ${why}`,
      ...[...about, streams.get(stream) ?? 'gone'].map(each => JSON.stringify(each)),
    ]
  })
}
