import { checkStreamName, isReservedName, isStoredName, RESERVED_PREFIX } from '../store/names.ts'
import { UsageError } from './problem.ts'

const EVENT_ID = /^\d{2,}(\.\d{2,})*$/

/** The name of a stream: never empty, never an event id by mistake, never one of leasectl's own documents. */
export function streamName(text: string): string {
  return named(text, `The name of the stream comes first; ${text} would be an event of it.`)
}

function named(text: string, hint: string): string {
  if (text === '') {
    throw new UsageError('the name of the stream is empty', { hint: 'An unset shell variable? Quote and check it.' })
  }
  if (EVENT_ID.test(text)) {
    throw new UsageError(`${text} looks like an event id where a STREAM is expected`, {
      hint,
    })
  }
  checkStreamName(text)
  return text
}

/** For arguments that may be given several times. */
export function streamNames(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, streamName(text)]
}

/** Names of blobs as they are, for what no stream can be called. */
export function blobNames(text: string, previous: readonly string[] = []): readonly string[] {
  if (text === '') throw new UsageError('--blob: the name is empty', { hint: 'An unset shell variable?' })
  if (isReservedName(text)) throw new UsageError(`names under ${RESERVED_PREFIX} are reserved`)
  if (isStoredName(text)) return [...previous, streamName(text)]
  return [...previous, text]
}

/** For commands that take events by `-e` too. */
export function streamNamesBesideEvents(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, named(text, `did you mean -e ${text}?`)]
}

/** The id of an event: any text, as other writers may have chosen it. */
export function eventId(text: string): string {
  if (text === '')
    throw new UsageError('the id of the event is empty', { hint: 'An unset shell variable? Ids look like 01.02.00.' })
  return text
}

export function eventIds(text: string, previous: readonly string[] = []): readonly string[] {
  return previous.includes(eventId(text)) ? previous : [...previous, text]
}
