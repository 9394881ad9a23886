import { attemptOf, type StreamEvent } from '../stream/event.ts'
import { cleanProgramText, cutBytes, encodeCommandId } from '../stream/text.ts'
import { isoTime } from '../stream/time/dates.ts'
import type { Limit } from '../stream/time/deadlines.ts'

/** Names, ids and timeouts come from strangers and are cut to so many bytes each: the whole is far below a reason's limit. */
const PART_BYTES = 200
/** A longer one makes no command id. */
const MAX_ID_LENGTH = 150

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

/**
 * One id for one end of a limit: `watchdog:{event}:{attempt}:{due}`. Two events never share one: `%` stands for nothing
 * but what is encoded, and an id too long for it gives way to its hash.
 *
 * @param again tells it from an earlier end of the same limit, after a foreign writer opened the event again; mostly `''`
 */
export function expiryCommandId(event: StreamEvent, dueMs: number, hash: (text: string) => string, again = ''): string {
  const rest = `:${attemptOf(event)}:${isoTime(dueMs)}${again}`
  const short = event.id.length <= MAX_ID_LENGTH ? event.id.replaceAll('%', '%25') : hash(event.id)
  try {
    return encodeCommandId(`watchdog:${short}${rest}`)
  } catch {
    return encodeCommandId(`watchdog:${hash(event.id)}${rest}`)
  }
}

/** Cut first: to clean a text takes the square of its length where a stranger means it to. */
function part(text: string): string {
  return cleanProgramText(cutBytes(text, 4 * PART_BYTES), PART_BYTES)
}
