import { changePieces } from '../../../formats/journal.ts'
import { eventDueMs, type ShownStream, shownStatus, statusWord, timeOf } from '../../../formats/stream/view.ts'
import { attemptOf, fenceOf, isFailed, isSuperseded, type StreamEvent } from '../../../stream/event.ts'
import type { Activity } from '../../data/types.ts'
import { nameIn } from '../../store-key.ts'
import { lookOf } from '../shown-stream.ts'
import type { Screen, State } from '../state.ts'
import { listOf } from '../transition.ts'
import { type FilterField, type FilterFields, filterParser, type ParsedFilter } from './filter.ts'
import { INBOX_FILTER } from './inbox-list.ts'
import { searchText } from './rows.ts'
import { STREAM_FILTER } from './stream-text.ts'
import { SUBSCRIPTION_FILTER } from './subscription-list.ts'
import { WORKER_FILTER } from './worker-list.ts'

/** An event in the tree; without `shown` before its document was read. */
export interface EventRow {
  readonly event: StreamEvent
  readonly shown: ShownStream | undefined
}

type OfShown<Value> = (shown: ShownStream, event: StreamEvent, nowMs: number) => Value

const span = (of: OfShown<number | undefined>): FilterField<EventRow> => ({
  number: ({ event, shown }, nowMs) => shown && of(shown, event, nowMs),
  isSpan: true,
})

const text = (of: (event: StreamEvent) => string | undefined): FilterField<EventRow> => ({
  texts: ({ event }) => [of(event) ?? ''],
})

/** The fields of an event that a filter can name. */
export const EVENT_FILTER: FilterFields<EventRow> = {
  name: text(({ name }) => name),
  event: { texts: ({ event }) => [event.id, event.name] },
  status: {
    texts: ({ event, shown }) => [
      event.status,
      ...(shown === undefined ? [] : [shownStatus(shown, event), lookOf(shown, event).word]),
    ],
  },
  failed: text(event => (isFailed(event) && !isSuperseded(event) ? event.msg || statusWord(event.status) : '')),
  owner: text(({ lc }) => lc.owner),
  msg: text(({ msg }) => msg),
  due: span((shown, event, nowMs) => {
    const due = eventDueMs(shown, event)
    return due === undefined ? undefined : due - nowMs
  }),
  age: span((shown, event, nowMs) => {
    const since = timeOf(shown, event.lc.opened ?? event.created)
    return since === undefined ? undefined : nowMs - since
  }),
  attempt: { number: ({ event }) => attemptOf(event) },
  fence: { number: ({ event }) => fenceOf(event) },
  key: text(({ key }) => key),
  topic: text(({ topic }) => topic),
  tag: text(({ tag }) => tag),
  tracking: text(({ trackingId }) => trackingId),
  ref: text(({ ref }) => ref),
}

/** What the row of an event shows, and the texts that it does not show. */
export const eventText = searchText(({ id, name, status, topic, key, tag, trackingId, msg, lc }: StreamEvent) => [
  id,
  name,
  statusWord(status),
  topic,
  key,
  tag,
  trackingId,
  msg,
  lc.owner ?? '',
  lc.msg ?? '',
])

/** The fields of a change that a filter can name. */
export const ACTIVITY_FILTER: FilterFields<Activity> = {
  store: { texts: ({ store = '' }) => [store] },
  name: { texts: item => [nameIn(item)] },
  event: { texts: ({ tx }) => [tx.on, ...tx.changes.map(({ event }) => event)] },
  op: { texts: ({ tx }) => [tx.op] },
  by: { texts: ({ tx }) => [tx.by] },
  why: { texts: ({ tx }) => [tx.why] },
  status: { texts: ({ tx }) => tx.changes.map(({ to }) => to) },
  age: { number: ({ atMs }, nowMs) => nowMs - atMs, isSpan: true },
  version: { number: ({ tx }) => tx.version },
}

/** What the row of a change shows. */
export const activityText = searchText(({ stream, tx }: Activity) => [
  stream,
  tx.by,
  tx.provisional ? 'foreign write' : tx.op,
  tx.why,
  tx.on,
  tx.commandId,
  ...tx.changes.flatMap(change => [
    change.event,
    `→ ${change.to}`,
    changePieces(change, tx)
      .map(([part]) => part)
      .join(''),
  ]),
])

/** The filter of the current screen, for what does not depend on its rows: its faults, and what it marks. */
export function filterOf(state: Pick<State, 'lists' | 'screen'>): ParsedFilter<never> {
  return PARSERS[state.screen](listOf(state).filter)
}

const PARSERS: { readonly [Of in Screen]: (typed: string) => ParsedFilter<never> } = {
  streams: filterParser(STREAM_FILTER),
  stream: filterParser(EVENT_FILTER),
  leases: filterParser(STREAM_FILTER),
  watchdog: filterParser(STREAM_FILTER),
  activity: filterParser(ACTIVITY_FILTER),
  workers: filterParser(WORKER_FILTER),
  subscriptions: filterParser(SUBSCRIPTION_FILTER),
  inboxes: filterParser(INBOX_FILTER),
}
