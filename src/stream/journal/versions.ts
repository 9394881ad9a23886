import { isFailed, isFinal, isSuperseded, newEvent, nextIds, type StreamEvent } from '../event.ts'
import { EventStream } from '../event-stream.ts'
import { factsOf, type JournalFacts } from './history.ts'
import type { JournalChange, Transaction } from './journal.ts'

/**
 * The events of a stream as they were when only the first of its transactions had happened: which there were, their
 * links among each other, statuses, claims, waiting joins, attempts and what retries had replaced. Other attributes are
 * as they are now, for the journal keeps no other values of them; of an event that has changed since, `msg` is what it
 * was made with or, where it had ended, the reason given for that, and `timestamp` its last change until then. The end of a claim is in no journal: `until` is absent.
 *
 * @param events as they are now, in document order; of several with the same id only the first is known to the journal
 * @param past the transactions up to the version asked for, oldest first
 * @param since those that followed, unrecorded foreign writes included
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

/** What the journal says of one event on both sides of a point in its history. */
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

/** `undefined` for an event that has not changed since: then as now. */
function statusThen(track: Track | undefined): { readonly status: string } | 'absent' | undefined {
  if (track?.last !== undefined) {
    const { to, how } = track.last.change
    return to === '' && how !== 'add' ? 'absent' : { status: to }
  }
  if (track?.next === undefined) return undefined
  // A journal that lost its beginning: an event that it does not see added was there before.
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

/** What an ended event said was the reason of its end; before it had the `msg` it was made with, kept in `lc:msg`. */
function messageThen(event: StreamEvent, { last }: Track): string {
  const first = event.lc.msg?.trim() ?? event.msg
  if (last === undefined || last.change.how !== 'target' || !isFinal({ status: last.change.to })) return first
  const { op, why } = last.transaction
  return ENDS.has(op) && why !== '' ? why : first
}

/** Links to events that came later are left out; those that lead nowhere now did so then. */
function restricted(event: StreamEvent, later: ReadonlySet<string>): StreamEvent {
  const ids = nextIds(event)
  const next = ids.some(id => later.has(id)) ? ids.filter(id => !later.has(id)).join('|') : event.next
  const prev = later.has(event.prev) ? '' : event.prev
  return next === event.next && prev === event.prev ? event : { ...event, next, prev }
}

/** Of an event that a foreign writer has removed since, the journal knows id, status and claim. */
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

/** Parents that had ended with errors and were reopened since: a retry drops their marks. */
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

/** What has become of one event between two versions. */
export interface EventDifference<Tx extends Transaction = Transaction> {
  readonly id: string
  /** `again`: it has changed and is as it was. */
  readonly kind: 'added' | 'removed' | 'changed' | 'again'
  /** `undefined` for an event that was added. */
  readonly before: StreamEvent | undefined
  /** `undefined` for an event that was removed. */
  readonly after: StreamEvent | undefined
  /** How many transactions changed it. */
  readonly times: number
  /** Names of attributes that were set. */
  readonly attributes: readonly string[]
  /** The last transaction that changed it, or replaced it by retrying an event above; `undefined` where none is known. */
  readonly last: Tx | undefined
}

/**
 * The events that have changed between two versions: in the order of the later one, then those that are gone.
 *
 * @param before events of the earlier version, @param after of the later one
 * @param between the transactions that lie between them, oldest first
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

/** The retry that replaced an event: the event bears its version. */
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

/** Of several events with the same id the first counts. */
function firsts(events: readonly StreamEvent[]): ReadonlyMap<string, StreamEvent> {
  const byId = new Map<string, StreamEvent>()
  for (const event of events) if (!byId.has(event.id)) byId.set(event.id, event)
  return byId
}

/** What the journal tells of both. */
function same(a: StreamEvent, b: StreamEvent): boolean {
  const names = ['owner', 'fence', 'attempt', 'join', 'superseded'] as const
  return a.status === b.status && names.every(name => a.lc[name] === b.lc[name])
}
