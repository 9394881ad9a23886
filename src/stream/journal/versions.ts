import { isFailed, isFinal, isSuperseded, newEvent, nextIds, type StreamEvent } from '../event.ts'
import { EventStream } from '../event-stream.ts'
import type { JournalFacts } from './facts.ts'
import { factsOf } from './history.ts'
import type { JournalChange, Transaction } from './journal.ts'

/**
 * The events of a stream at an earlier version: its events then, with their links, statuses, claims, waiting joins,
 * attempts and superseded marks. Other attributes have their present values, as the journal keeps no others; of an
 * event that has changed since, `msg` is the original one or, if it had ended, the reason of its end, and `timestamp`
 * is its last change until then. The journal does not have the end of a claim: `until` is absent.
 *
 * @param events the present events, in document order; of several with the same id the journal knows only the first
 * @param past the transactions up to the wanted version, oldest first
 * @param since the later transactions, unrecorded foreign writes included
 */
export function eventsAfter(
  events: readonly StreamEvent[],
  past: readonly Transaction[],
  since: readonly Transaction[],
): StreamEvent[] {
  const stream = new EventStream(events)
  const tracks = follow(past, since)
  const facts = factsOf(stream, past)
  const counting = events.filter((_, at) => stream.counts(at))
  const later = new Set(counting.filter(({ id }) => statusThen(tracks.get(id)) === 'absent').map(({ id }) => id))
  const there = counting
    .filter(({ id }) => !later.has(id))
    .map(event => restricted(asThen(event, tracks.get(event.id), facts.get(event.id), past), later))
  return markErrors([...there, ...removedSince(stream, tracks, facts)], tracks)
}

/** The journal's changes of one event on both sides of a version. */
interface Track {
  /** The last change before it. */
  last: { readonly change: JournalChange; readonly transaction: Transaction } | undefined
  /** The first change after it. */
  next: JournalChange | undefined
}

function follow(past: readonly Transaction[], since: readonly Transaction[]): ReadonlyMap<string, Track> {
  const tracks = new Map<string, Track>()
  const trackOf = (id: string) => {
    const known = tracks.get(id) ?? { last: undefined, next: undefined }
    tracks.set(id, known)
    return known
  }
  for (const transaction of past)
    for (const change of transaction.changes)
      if (change.attr === undefined) trackOf(change.event).last = { change, transaction }
  for (const { changes } of since)
    for (const change of changes) if (change.attr === undefined) trackOf(change.event).next ??= change
  return tracks
}

/** `undefined` for an event that has not changed since. */
function statusThen(track: Track | undefined): { readonly status: string } | 'absent' | undefined {
  if (track?.last !== undefined) {
    const { to, how } = track.last.change
    return to === '' && how !== 'add' ? 'absent' : { status: to }
  }
  if (track?.next === undefined) return undefined
  // The journal has lost its beginning: an event that it does not add existed before.
  return track.next.how === 'add' && track.next.from === '' ? 'absent' : { status: track.next.from }
}

function asThen(
  event: StreamEvent,
  track: Track | undefined,
  facts: JournalFacts | undefined,
  past: readonly Transaction[],
): StreamEvent {
  const then = statusThen(track)
  const { until: _, superseded, ...lc } = event.lc
  const version = past.at(-1)?.version ?? 0
  const replaced = superseded !== undefined && !(Number(superseded) > version) ? { superseded } : {}
  if (track?.next === undefined || then === undefined || then === 'absent')
    return { ...event, lc: { ...lc, ...replaced } }
  const { onDue, msg: kept } = lc
  return {
    ...event,
    status: then.status,
    msg: messageThen(event, track),
    timestamp: track.last?.transaction.at ?? event.created,
    lc: {
      ...facts?.lc,
      ...(onDue === undefined ? {} : { onDue }),
      ...(kept === undefined ? {} : { msg: kept }),
    },
  }
}

const ENDS: ReadonlySet<string> = new Set(['complete', 'fail', 'cancel', 'abort'])

/** The `msg` at that version: for an ended event the reason of its end, else the original one from `lc:msg`. */
function messageThen(event: StreamEvent, { last }: Track): string {
  const first = event.lc.msg?.trim() ?? event.msg
  if (last === undefined || last.change.how !== 'target' || !isFinal({ status: last.change.to })) return first
  const { op, why } = last.transaction
  return ENDS.has(op) && why !== '' ? why : first
}

/** Leaves out links to events that were added later. Links that dangle now dangled then. */
function restricted(event: StreamEvent, later: ReadonlySet<string>): StreamEvent {
  const ids = nextIds(event)
  const next = ids.some(id => later.has(id)) ? ids.filter(id => !later.has(id)).join('|') : event.next
  const prev = later.has(event.prev) ? '' : event.prev
  return next === event.next && prev === event.prev ? event : { ...event, next, prev }
}

/** The events that a foreign writer has removed since: the journal knows their id, status and claim. */
function removedSince(
  stream: EventStream,
  tracks: ReadonlyMap<string, Track>,
  facts: ReadonlyMap<string, JournalFacts>,
): StreamEvent[] {
  return [...tracks].flatMap(([id, track]) => {
    const then = statusThen(track)
    if (stream.positionOf(id) >= 0 || then === undefined || then === 'absent') return []
    const timestamp = track.last?.transaction.at ?? ''
    return [newEvent({ id, status: then.status, timestamp }, facts.get(id)?.lc)]
  })
}

/** Restores the error marks of parents that had ended with errors and were reopened since: a retry drops them. */
function markErrors(events: StreamEvent[], tracks: ReadonlyMap<string, Track>): StreamEvent[] {
  const unsure = (event: StreamEvent) => event.status === 'completed' && tracks.get(event.id)?.next !== undefined
  if (!events.some(unsure)) return events
  const failed = withFailuresBelow(new EventStream(events))
  return events.map((event, at) =>
    unsure(event) && failed.has(at) ? { ...event, msg: 'WithError', lc: { ...event.lc, outcome: 'errors' } } : event,
  )
}

function withFailuresBelow(stream: EventStream): ReadonlySet<number> {
  const found = new Set<number>()
  for (const at of stream.childrenFirst()) {
    const below = stream.successorPositions(at)
    if (below.some(child => found.has(child) || isFailure(stream.at(child)))) found.add(at)
  }
  return found
}

function isFailure(event: StreamEvent | undefined): boolean {
  return event !== undefined && isFailed(event) && !isSuperseded(event)
}

/** The difference of one event between two versions. */
export interface EventDifference<Tx extends Transaction = Transaction> {
  readonly id: string
  /** `again`: it has changed back to its earlier state. */
  readonly kind: 'added' | 'removed' | 'changed' | 'again'
  /** `undefined` for an event that was added. */
  readonly before: StreamEvent | undefined
  /** `undefined` for an event that was removed. */
  readonly after: StreamEvent | undefined
  /** How many transactions changed it. */
  readonly times: number
  /** Names of attributes that were set. */
  readonly attributes: readonly string[]
  /** The last transaction that changed it, or superseded it by retrying an ancestor; `undefined` if unknown. */
  readonly last: Tx | undefined
}

/**
 * The events that differ between two versions: in the order of the later version, then the removed ones.
 *
 * @param before the events of the earlier version @param after the events of the later version
 * @param between the transactions between them, oldest first
 */
export function differences<Tx extends Transaction>(
  before: readonly StreamEvent[],
  after: readonly StreamEvent[],
  between: readonly Tx[],
): EventDifference<Tx>[] {
  const touched = new Map<string, Pick<EventDifference<Tx>, 'times' | 'attributes' | 'last'>>()
  for (const transaction of between) {
    for (const [id, names] of changedBy(transaction)) {
      const { times, attributes } = touched.get(id) ?? { times: 0, attributes: [] }
      touched.set(id, { times: times + 1, attributes: [...new Set([...attributes, ...names])], last: transaction })
    }
  }
  const [earlier, later] = [firsts(before), firsts(after)]
  return [...new Set([...later.keys(), ...earlier.keys()])].flatMap(id => {
    const [was, is] = [earlier.get(id), later.get(id)]
    const kind = was === undefined ? 'added' : is === undefined ? 'removed' : same(was, is) ? 'again' : 'changed'
    const { times, attributes, last } = touched.get(id) ?? { times: 0, attributes: [], last: replacing(is, between) }
    if (kind === 'again' && times === 0) return []
    return [
      {
        id,
        kind: kind === 'again' && attributes.length > 0 ? 'changed' : kind,
        before: was,
        after: is,
        times,
        attributes,
        last,
      },
    ]
  })
}

/** The retry that superseded an event: the event has its version. */
function replacing<Tx extends Transaction>(event: StreamEvent | undefined, between: readonly Tx[]): Tx | undefined {
  const version = event?.lc.superseded
  return version === undefined ? undefined : between.find(transaction => String(transaction.version) === version)
}

/** Ids of the events that a transaction changed, with the names of the attributes it set. */
function changedBy({ changes }: Transaction): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, readonly string[]>()
  for (const { event, attr } of changes) ids.set(event, [...(ids.get(event) ?? []), ...(attr?.split(' ') ?? [])])
  return ids
}

/** Events by id; of several with the same id the first. */
function firsts(events: readonly StreamEvent[]): ReadonlyMap<string, StreamEvent> {
  const byId = new Map<string, StreamEvent>()
  for (const event of events) if (!byId.has(event.id)) byId.set(event.id, event)
  return byId
}

/** Whether both are equal in all that the journal records. */
function same(a: StreamEvent, b: StreamEvent): boolean {
  const names = ['owner', 'fence', 'attempt', 'join', 'superseded'] as const
  return a.status === b.status && names.every(name => a.lc[name] === b.lc[name])
}
