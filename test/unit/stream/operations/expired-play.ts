import { EventStream } from '../../../../src/stream/event-stream.ts'
import { observedDeadline } from '../../../../src/stream/operations/cancel-abort.ts'
import type { ObservedDeadline } from '../../../../src/stream/operations/operation.ts'
import { settledDocument } from '../../../../src/stream/operations/transaction.ts'
import { deadlineOf, timeReaderFor } from '../../../../src/stream/time/deadlines.ts'
import { BORN, documentText, type EventText, Play, START_MS } from '../../../support/stream-builder.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const ago = (ms: number) => new Date(START_MS - ms).toISOString()

/** The stream as the next transaction will find it. */
export function settled(play: Play, lastModifiedMs?: number) {
  const context = { nowMs: play.nowMs, versionFloor: 0, born: BORN, ...(lastModifiedMs && { lastModifiedMs }) }
  const { document } = settledDocument(play.document, context)
  return { document, stream: new EventStream(document.events), read: timeReaderFor(document, context).read }
}

/** A watchdog's observation of an event with a deadline. */
export function look(play: Play, id: string, lastModifiedMs?: number): ObservedDeadline {
  const { stream, read } = settled(play, lastModifiedMs)
  const event = stream.find(id)
  const limit = event && deadlineOf(stream, event, read)
  if (event === undefined || limit === undefined) throw new Error(`${id} has no limit`)
  return observedDeadline(event, limit.dueMs)
}

/** Ends an event at its deadline, as a watchdog does. */
export const expire = (play: Play, expired: ObservedDeadline, more: Parameters<Play['do']>[1] = {}) =>
  play.do({ op: 'abort', event: expired.event, expired }, more)

/** A worker on its second attempt without a heartbeat for ten minutes; its timeout is five. */
export const WORKED: EventText = {
  id: '01.00',
  status: 'inprocess',
  prev: '00',
  created: ago(5 * HOUR),
  timestamp: ago(10 * MINUTE),
  timeout: '00:05:00',
  'lc:owner': 'w1',
  'lc:fence': '3',
  'lc:attempt': '2',
  'lc:until': ago(9 * MINUTE),
}
export const ROOT: EventText = { id: '00', status: 'inprocess', created: ago(6 * HOUR), next: '01.00|02.00' }
const SIBLING: EventText = { id: '02.00', status: 'init', prev: '00', created: ago(5 * HOUR) }

export const worked = (more: EventText = {}, ...others: readonly EventText[]) =>
  new Play(documentText(ROOT, { ...WORKED, ...more }, SIBLING, ...others))
