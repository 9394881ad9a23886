import { missingProblem } from '../../cli/outcome-problem.ts'
import { type Fact, type Problem, problem } from '../../cli/problem.ts'
import { countText } from '../../formats/terminal/count-text.ts'
import { dueText } from '../../formats/terminal/numbers.ts'
import { failureText, standingText, waitsOnText } from '../../formats/wait.ts'
import type { WaitTarget } from '../../ops/wait-target.ts'
import type { AwaitedStream } from '../../ops/wait-types.ts'
import { visibleName } from '../../stream/text.ts'
import { formatDuration } from '../../stream/time/durations.ts'
import type { WaitCommandOptions } from './options.ts'
import type { Tally } from './tally.ts'
import { targetText } from './target.ts'

/** How waiting ended; `undefined` if what was asked for came about. */
export function resultOf(
  tally: Tally,
  target: WaitTarget,
  { any, failFast, within }: WaitCommandOptions,
  nowMs: number,
): Problem | undefined {
  const { total, met, otherwise, open } = tally
  if (any && met > 0) return undefined
  if (otherwise.length > 0 && (open.size === 0 || failFast)) return endedOtherwise(tally, target)
  if (open.size === 0 && total > 0) return undefined
  return timedOut(tally, target, formatDuration(within ?? 0), nowMs)
}

const MOST_NAMED = 5

function endedOtherwise({ total, otherwise }: Tally, target: WaitTarget): Problem {
  const [only] = otherwise
  if (total > 1 || only === undefined) {
    const more = otherwise.length > MOST_NAMED ? ` +${otherwise.length - MOST_NAMED}` : ''
    const names = otherwise.slice(0, MOST_NAMED).map(({ name }) => name)
    return problem(
      'ended-otherwise',
      `${countText(otherwise.length)} of ${countText(total)} ended otherwise than ${targetText(target)}`,
      {
        facts: [['streams', names.map(visibleName).join(' ') + more]],
      },
    )
  }
  return problem('ended-otherwise', `${only.name} ended otherwise than ${targetText(target)}: ${standingText(only)}`, {
    ...aboutOne(only),
    facts: factsOf([['failure', failureText(only)]]),
  })
}

function timedOut({ total, otherwise, open }: Tally, target: WaitTarget, limit: string, nowMs: number): Problem {
  const [only] = open.values()
  if (only === undefined) return problem('timed-out', `no stream matched within ${limit}`)
  if (total === 1) {
    const due = dueText(only.last?.dueMs, nowMs, 'relative')
    return problem('timed-out', `${only.name} did not come to ${targetText(target)} within ${limit}`, {
      ...aboutOne(only),
      facts: factsOf([
        ['status', standingText(only)],
        ['waits on', waitsOnText(only)],
        ['due', due === '-' ? '' : due],
        ['failure', failureText(only)],
      ]),
    })
  }
  return problem(
    'timed-out',
    `${countText(open.size)} of ${countText(total)} did not come to ${targetText(target)} within ${limit}`,
    {
      facts: otherwise.length === 0 ? [] : [['besides', `${otherwise.length} ended otherwise`]],
    },
  )
}

function aboutOne({ name, event }: AwaitedStream): Pick<Problem, 'stream' | 'event'> {
  return { stream: name, ...(event === undefined ? {} : { event: event.id }) }
}

function factsOf(facts: readonly Fact[]): Fact[] {
  return facts.filter(([, text]) => text !== '')
}

/** Of names that were given each has to exist, and all that do not are told. */
export function missingProblems([first = '', ...others]: readonly string[]): Problem {
  const facts = others.slice(0, MOST_NAMED).map(name => ['also', missingProblem(name).message] as const)
  const more = others.length - facts.length
  return {
    ...missingProblem(first),
    ...(facts.length === 0 ? {} : { facts: more > 0 ? [...facts, ['also', `${more} more`] as const] : facts }),
    hint: 'Is it the right store? --may-appear waits for streams that do not exist yet.',
  }
}

export function noMatchProblem(): Problem {
  return problem('stream-not-found', 'no stream matches', {
    hint: 'ls lists what a filter matches; --may-appear waits until something does.',
  })
}
