import { attemptOf, fenceOf, nextIds, type StreamEvent } from '../stream/event.ts'
import { jsonTime, orNull } from './json.ts'
import { leaseJson } from './lease-text.ts'
import { eventDueMs, type ShownStream, soonestDueMs, stateOf, timeOf, waitingOn } from './stream-view.ts'

/** A stream as `show -o json` and `-o yaml` print it; fields are only ever added. */
export function showJson(shown: ShownStream) {
  const root = shown.stream.root
  return {
    name: shown.name,
    status: root?.status ?? null,
    version: shown.version,
    done: shown.stream.done,
    outcome: orNull(root?.lc.outcome),
    due: jsonTime(soonestDueMs(shown)),
    waitingOn: waitingOn(shown).map(event => event.id),
    lease: leaseJson(shown.lease),
    events: shown.stream.events.map(event => eventJson(shown, event)),
  }
}

/** One event: times in RFC 3339 UTC, `null` where there is none or where it cannot be read. */
function eventJson(shown: ShownStream, event: StreamEvent) {
  return {
    id: event.id,
    name: event.name,
    status: event.status,
    state: stateOf(shown, event),
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
    outcome: orNull(event.lc.outcome),
    failed: orNull(event.lc.failed),
    opened: jsonTime(timeOf(shown, event.lc.opened)),
    superseded: event.lc.superseded !== undefined,
  }
}
