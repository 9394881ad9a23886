import { itemsWriter, type Output } from '../../cli/output.ts'
import { type Fact, type Problem, problem } from '../../cli/problem.ts'
import { missingProblems } from '../../cli/selection/collect.ts'
import { jsonLine, jsonText } from '../../formats/json.ts'
import { countText, dueText } from '../../formats/terminal/numbers.ts'
import { noPaint } from '../../formats/terminal/style.ts'
import { endedLine, failureText, openLine, stateText, waitJson, waitsOnText } from '../../formats/wait.ts'
import type { AwaitedStream, WaitTarget } from '../../ops/wait.ts'
import { formatDuration } from '../../stream/time/durations.ts'
import { visibleName } from '../../util/visible-text.ts'
import { targetText, type WaitCommandOptions } from './options.ts'

/** Prints how streams end. */
export interface WaitPrinter {
  ended(stream: AwaitedStream, waitedMs: number): Promise<void>
  /** @param report list the streams that did not meet the target */
  end(tally: WaitCounts, waitedMs: number, report: boolean): Promise<void>
}

export function openWaitPrinter(format: string | undefined, output: Output, nowMs: () => number): WaitPrinter {
  switch (format) {
    case 'json':
      return jsonPrinter(output)
    case 'ndjson':
      return linePrinter(output)
    default:
      return textPrinter(output, nowMs)
  }
}

/** One document at the end: first the ended streams, in the order in which they ended, then the open ones. */
function jsonPrinter(output: Output): WaitPrinter {
  const items: string[] = []
  return {
    ended: async (stream, waitedMs) => void items.push(jsonText(waitJson(stream, waitedMs), 0)),
    async end({ open, met, otherwise }, waitedMs) {
      const writer = itemsWriter(output)
      await writer.write(items)
      await writer.write(
        open
          .values()
          .toArray()
          .map(stream => jsonText(waitJson(stream, waitedMs), 0)),
      )
      const total = items.length + open.size
      await writer.end({ total, met, endedOtherwise: otherwise.length, open: open.size })
    },
  }
}

/** One line per stream, when it ends or, for the open ones, at the end. */
function linePrinter(output: Output): WaitPrinter {
  const ended = (stream: AwaitedStream, waitedMs: number) => output.text(jsonLine(waitJson(stream, waitedMs)))
  return {
    ended,
    async end({ open }, waitedMs) {
      for (const stream of open.values()) await ended(stream, waitedMs)
    },
  }
}

/** Streams listed one by one. */
const MOST_LISTED = 20

function textPrinter(output: Output, nowMs: () => number): WaitPrinter {
  return {
    ended: (stream, waitedMs) => output.lines([endedLine(stream, waitedMs, output.paint)]),
    async end({ open, otherwise, total }, _waitedMs, report) {
      const count = otherwise.length + open.size
      if (!report || count === 0) return
      // Colours depend on stdout, but this goes to stderr.
      const style = { nowMs: nowMs(), time: output.time, paint: noPaint }
      const listed = [...otherwise, ...open.values().take(MOST_LISTED)].slice(0, MOST_LISTED)
      await output.say(`not met: ${countText(count)} of ${countText(total)}`)
      for (const stream of listed) await output.say(`  ${openLine(stream, style)}`)
      if (count > listed.length) await output.say(`  and ${count - listed.length} more (-o json lists all)`)
    },
  }
}

/** The problem that waiting ended with; `undefined` if the target was met. */
export function resultOf(
  tally: WaitCounts,
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

function endedOtherwise({ total, otherwise }: WaitCounts, target: WaitTarget): Problem {
  const [only] = otherwise
  if (total > 1 || only === undefined) {
    const more = otherwise.length > MOST_NAMED ? ` +${otherwise.length - MOST_NAMED}` : ''
    const names = otherwise.slice(0, MOST_NAMED).map(({ name }) => name)
    return problem(
      'ended-otherwise',
      `${countText(otherwise.length)} of ${countText(total)} ended without reaching ${targetText(target)}`,
      {
        facts: [['streams', names.map(visibleName).join(' ') + more]],
      },
    )
  }
  return problem('ended-otherwise', `${only.name} ended without reaching ${targetText(target)}: ${stateText(only)}`, {
    ...aboutOne(only),
    facts: factsOf([['failure', failureText(only)]]),
  })
}

function timedOut({ total, otherwise, open }: WaitCounts, target: WaitTarget, limit: string, nowMs: number): Problem {
  const [only] = open.values()
  if (only === undefined) return problem('timed-out', `no stream matched within ${limit}`)
  if (total === 1) {
    const due = dueText(only.last?.dueMs, nowMs, 'relative')
    return problem('timed-out', `${only.name} did not reach ${targetText(target)} within ${limit}`, {
      ...aboutOne(only),
      facts: factsOf([
        ['status', stateText(only)],
        ['waits on', waitsOnText(only)],
        ['due', due === '-' ? '' : due],
        ['failure', failureText(only)],
      ]),
    })
  }
  return problem(
    'timed-out',
    `${countText(open.size)} of ${countText(total)} did not reach ${targetText(target)} within ${limit}`,
    {
      facts: otherwise.length === 0 ? [] : [['besides', `${otherwise.length} ended without reaching it`]],
    },
  )
}

function aboutOne({ name, event }: AwaitedStream): Pick<Problem, 'stream' | 'event'> {
  return { stream: name, ...(event === undefined ? {} : { event: event.id }) }
}

function factsOf(facts: readonly Fact[]): Fact[] {
  return facts.filter(([, text]) => text !== '')
}

export function missingNames(names: readonly string[]): Problem {
  const hint = 'Is it the right store? --may-appear waits for streams that do not exist yet.'
  return { ...missingProblems(names, MOST_NAMED), hint }
}

export function noMatchProblem(): Problem {
  return problem('stream-not-found', 'no stream matches', {
    hint: 'ls shows what a filter matches; --may-appear waits until a stream matches.',
  })
}

/** The progress of waiting. */
export interface WaitCounts {
  readonly total: number
  readonly met: number
  /** Streams that ended, but not as required. */
  readonly otherwise: readonly AwaitedStream[]
  readonly open: ReadonlyMap<string, AwaitedStream>
}
