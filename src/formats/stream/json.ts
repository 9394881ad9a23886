import type { StreamView } from '../../ops/read-stream.ts'
import { attemptOf, fenceOf, isFailed, isSuperseded, nextIds, type StreamEvent } from '../../stream/event.ts'
import type { EventStream } from '../../stream/event-stream.ts'
import { waitsFor } from '../../stream/gate.ts'
import { outcomeOf } from '../../stream/summarize.ts'
import { suspensionOf } from '../../stream/suspension.ts'
import { pausedMs } from '../../stream/time/pauses.ts'
import { waitsForJson } from '../gate.ts'
import { transactionJson } from '../journal.ts'
import { jsonTime, jsonTimeOf, orNull } from '../json.ts'
import { leaseJson } from '../lease.ts'
import { attemptsJson } from './attempts.ts'
import { dataJsonOrNull } from './data.ts'
import { signalsJson } from './signals.ts'
import { acknowledgementOf, eventDueMs, type ShownStream, soonestDueMs, stateOf, timeOf, waitingOn } from './view.ts'

/** Attributes of an earlier version that are shown with their current value. */
const AS_NOW = ['name', 'topic', 'key', 'trackingId', 'created', 'timeout', 'ref', 'tag', 'onDue', 'input', 'result']

/**
 * A stream in `show -o json` and `-o yaml`; fields are only ever added. `at` is the time of an earlier version, `null`
 * for the present. Limits and the lease of an earlier version are not known; `asNow` names the attributes with current
 * values.
 */
export function showJson(shown: ShownStream) {
  const root = shown.stream.root
  const attempts = attemptsJson(shown)
  return {
    name: shown.name,
    status: orNull(root?.status),
    version: shown.version,
    at: jsonTime(shown.past?.atMs),
    asNow: shown.past === undefined ? [] : AS_NOW,
    done: shown.stream.done,
    onFailure: root?.lc.onFailure ?? 'continue',
    outcome: orNull(outcomeOf(shown.stream, hasErrors(shown.stream))),
    due: jsonTime(soonestDueMs(shown)),
    waitingOn: waitingOn(shown).map(event => event.id),
    lease: shown.past === undefined ? leaseJson(shown.lease) : null,
    acknowledgement: acknowledgementJson(shown),
    suspension: suspensionJson(shown),
    signals: signalsJson(shown),
    events: shown.stream.events.map(event => withAttempts(eventJson(shown, event), attempts)),
  }
}

function withAttempts<Shape extends { readonly id: string }>(event: Shape, attempts: ReturnType<typeof attemptsJson>) {
  return { ...event, attempts: attempts.get(event.id) ?? [] }
}

function acknowledgementJson(shown: ShownStream) {
  const ack = acknowledgementOf(shown)
  return ack === undefined ? null : { at: jsonTimeOf(ack.at), by: orNull(ack.by), why: orNull(ack.why) }
}

function suspensionJson({ stream }: ShownStream) {
  const suspension = suspensionOf(stream)
  if (suspension === undefined) return null
  const { at, by, why } = suspension
  return { at: jsonTimeOf(at), by: orNull(by), why: orNull(why) }
}

/** True if an event below the root was aborted or canceled, as listings define it. */
function hasErrors(stream: EventStream): boolean {
  return stream.events.some(
    (event, at) => event !== stream.root && isFailed(event) && !isSuperseded(event) && stream.counts(at),
  )
}

/** The result of `show --select`: events or values, the other is `null`; fields are only ever added. */
export function selectedJson(
  shown: ShownStream,
  events: readonly StreamEvent[] | undefined,
  values: readonly (string | number | boolean)[] | undefined,
) {
  const attempts = events === undefined ? new Map() : attemptsJson(shown)
  return {
    name: shown.name,
    version: shown.version,
    at: jsonTime(shown.past?.atMs),
    asNow: shown.past === undefined ? [] : AS_NOW,
    events: events?.map(event => withAttempts(eventJson(shown, event), attempts)) ?? null,
    // JSON has no infinity.
    values: values?.map(value => (Number.isFinite(value) || typeof value !== 'number' ? value : String(value))) ?? null,
  }
}

/** An event as the worker's program receives it: as `show` prints it, with the name of its stream. */
export function jobJson(shown: ShownStream, event: StreamEvent) {
  return { stream: shown.name, event: eventJson(shown, event) }
}

/** One event: times in RFC 3339 UTC, `null` where absent or unreadable. */
function eventJson(shown: ShownStream, event: StreamEvent) {
  return {
    id: event.id,
    name: orNull(event.name),
    status: orNull(event.status),
    state: orNull(stateOf(shown, event)),
    prev: orNull(event.prev),
    next: nextIds(event),
    created: jsonTime(timeOf(shown, event.created)),
    timestamp: jsonTime(timeOf(shown, event.timestamp)),
    timeout: orNull(event.timeout),
    due: jsonTime(eventDueMs(shown, event)),
    owner: orNull(event.lc.owner),
    fence: fenceOf(event) ?? null,
    until: jsonTime(timeOf(shown, event.lc.until)),
    attempt: attemptOf(event),
    topic: orNull(event.topic),
    key: orNull(event.key),
    msg: orNull(event.msg),
    trackingId: orNull(event.trackingId),
    ref: orNull(event.ref),
    tag: orNull(event.tag),
    onDue: orNull(event.lc.onDue),
    join: orNull(event.lc.join),
    auto: event.lc.auto !== undefined,
    waitsFor: waitsForJson(waitsFor(event)),
    outcome: orNull(event.lc.outcome),
    failed: orNull(event.lc.failed),
    opened: jsonTime(timeOf(shown, event.lc.opened)),
    pausedMs: pausedMs(event),
    superseded: event.lc.superseded !== undefined,
    input: dataJsonOrNull(event.input),
    result: dataJsonOrNull(event.result),
    skipped: jsonTime(timeOf(shown, event.lc.skipped)),
    retry: orNull(event.lc.retry),
    attemptTimeout: orNull(event.lc.attemptTimeout),
    undo: orNull(event.lc.undo),
    undoes: orNull(event.lc.undoes),
    unsure: event.lc.unsure !== undefined,
  }
}

/** A stream in `export -o json`: as in `show -o json`, with its history. Read-only: import takes the XML. */
export function exportJson(shown: ShownStream, view: StreamView) {
  return {
    ...showJson(shown),
    born: view.document.born === '' ? null : view.document.born,
    transactions: view.transactions().map(tx => transactionJson(view.name, tx, tx.provisional)),
  }
}
