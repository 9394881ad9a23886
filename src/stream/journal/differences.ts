import type { StreamEvent } from '../event.ts'
import type { Transaction } from './journal.ts'

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
