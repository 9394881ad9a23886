import type { Verdict } from '../history/checker.ts'
import type { Call } from '../history/history.ts'
import type { FinalStream } from '../history/lives.ts'

/** Of so many violations; those of one cause are many. */
const MOST = 5

/** What the judgement rests on, as lines of JSON: the calls about the change that a violation names, and its stream. */
export function evidenceFor(
  { violations }: Pick<Verdict, 'violations'>,
  calls: readonly Call[],
  streams: ReadonlyMap<string, FinalStream>,
): string[] {
  return violations.slice(0, MOST).flatMap(({ rule, life, why }) => {
    const stream = life.slice(0, life.indexOf('@'))
    const named = new Set(why.split(' '))
    const isMeant = ({ asked }: Call) => asked.what !== 'change' || named.has(asked.id)
    const about = calls.filter(call => call.stream === stream && isMeant(call))
    return [
      `${life} is ${rule}: ${why}`,
      ...[...about, streams.get(stream) ?? 'gone'].map(each => JSON.stringify(each)),
    ]
  })
}
