import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { SelectionOptions } from '../../cli/selection/flags.ts'
import { choice, eventId, withWords } from '../../cli/values.ts'
import type { StreamEnd, WaitTarget } from '../../ops/wait.ts'
import { nearest } from '../../util/strings.ts'

export interface WaitCommandOptions extends GlobalOptions, SelectionOptions {
  readonly for?: WaitTarget
  readonly any?: boolean
  readonly failFast?: boolean
  readonly mayAppear?: boolean
  /** Time limit, ms. */
  readonly within?: number
  /** Pause between two polls, ms. */
  readonly interval?: number
}

const ENDS: readonly StreamEnd[] = ['success', 'completed', 'done', 'canceled', 'aborted']
const EVENT_STATUSES = ['init', 'inprocess', 'completed', 'aborted', 'canceled', 'done']
const EVENT = 'event='

/** Parses `--for`: a way to end, or `event=ID:STATUS`. */
export const waitTarget = withWords(ENDS, (text: string): WaitTarget => {
  const end = ENDS.find(word => word === text)
  if (end !== undefined) return { kind: 'stream', end }
  if (text.startsWith(EVENT)) return eventTarget(text.slice(EVENT.length))
  const near = nearest(text, ENDS)
  throw new UsageError(`--for does not take ${JSON.stringify(text)}`, {
    hint: `${near === undefined ? '' : `did you mean ${near}? `}One of ${ENDS.join(', ')}, event=ID:STATUS.`,
  })
})

/** An id from another program may contain a colon; a status never does. */
function eventTarget(text: string): WaitTarget {
  const colon = text.lastIndexOf(':')
  if (colon < 0) {
    throw new UsageError(`--for event=${text}: the status is missing`, { hint: 'Write event=01.02.00:completed.' })
  }
  const event = eventId(text.slice(0, colon))
  return { kind: 'event', event, status: choice(`--for event=${event}:`, EVENT_STATUSES)(text.slice(colon + 1)) }
}

/** The target in the notation of `--for`. */
export function targetText(target: WaitTarget): string {
  return target.kind === 'stream' ? target.end : `${EVENT}${target.event}:${target.status}`
}
