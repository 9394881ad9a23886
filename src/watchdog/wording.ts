import { isoTime } from '../stream/dates.ts'
import type { Limit } from '../stream/due.ts'
import { attemptOf, type StreamEvent } from '../stream/event.ts'
import { cleanProgramText, encodeCommandId } from '../stream/texts.ts'

/** Names, ids and timeouts come from strangers and are cut to so many bytes each: the whole is far below a reason's limit. */
const PART_BYTES = 200

/** Which limit ended, and since when. The same to the letter whoever finds it: it is part of what a command id stands for. */
export function expiryText(event: StreamEvent, limit: Limit, isTarget: boolean): string {
  const { id, name, timeout } = event
  const who = isTarget ? '' : `${part(id)}${name === '' ? '' : ` ${part(name)}`} `
  return `${who}timed out: ${reasonOf(limit, part(timeout))}`
}

function reasonOf({ kind, dueMs, from }: Limit, timeout: string): string {
  const since = isoTime(from?.ms ?? dueMs)
  switch (kind) {
    case 'stream':
      return `the stream has run since ${since} (timeout ${timeout})`
    case 'never-started':
      return `not started since ${since} (timeout ${timeout})`
    case 'no-sign-of-life':
      return `no sign of life since ${since} (timeout ${timeout})`
    case 'absolute':
      return `it was to end by ${isoTime(dueMs)}`
    default:
      return kind satisfies never
  }
}

/** One id for one end of a limit: `watchdog:{event}:{attempt}:{due}`. Of an id too long for it the beginning stays. */
export function expiryCommandId(event: StreamEvent, dueMs: number, hash: (text: string) => string): string {
  const rest = `:${attemptOf(event)}:${isoTime(dueMs)}`
  try {
    return encodeCommandId(`watchdog:${event.id}${rest}`)
  } catch {
    return encodeCommandId(`watchdog:${hash(event.id)}${rest}`)
  }
}

function part(text: string): string {
  return cleanProgramText(text, PART_BYTES)
}
