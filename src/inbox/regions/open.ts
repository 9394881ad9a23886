import { ContainerMissing, StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { machineTiming } from '../../util/clock.ts'
import { defined } from '../../util/defined.ts'
import { type Inbox, readInbox } from '../inbox.ts'
import { RegionsWriter, type RegionsWriterOptions } from './writer.ts'

/** Outcome of opening an inbox in two regions: those that answer have it, with the same number of partitions. */
export type OpenRegionsOutcome =
  | { readonly kind: 'opened'; readonly inbox: Inbox; readonly writer: RegionsWriter }
  /** `fault`: not even its container is there. */
  | { readonly kind: 'missing'; readonly place: 'first' | 'second'; readonly fault?: ContainerMissing }
  | { readonly kind: 'different'; readonly partitions: readonly [number, number] }

type Read =
  | { readonly kind: 'read'; readonly inbox: Inbox | undefined; readonly fault?: ContainerMissing }
  | { readonly kind: 'away'; readonly fault: unknown }

/** Once one store has answered, the other has so much time, ms. */
const PATIENCE_MS = 5_000

/**
 * Opens the inbox of a name in two stores, to put each record into both. One of them may be away: its inbox is read, and
 * compared, before the first record is put there.
 * @throws the first store's fault if both are away; other faults of either
 */
export async function openRegions(
  stores: readonly [StreamStore, StreamStore],
  name: string,
  options: RegionsWriterOptions,
): Promise<OpenRegionsOutcome> {
  const [first, second] = await readBoth(stores, name, options)
  for (const [place, read] of [['first', first] as const, ['second', second] as const])
    if (read.kind === 'read' && read.inbox === undefined)
      return { kind: 'missing', place, ...defined({ fault: read.fault }) }
  const [one, two] = [inboxIn(first), inboxIn(second)]
  if (one !== undefined && two !== undefined && one.partitions !== two.partitions)
    return { kind: 'different', partitions: [one.partitions, two.partitions] }
  const inbox = one ?? two
  if (inbox === undefined) throw faultOf(first)
  const region = (store: StreamStore, read: Read) => ({ store, inbox: inboxIn(read), fault: faultOf(read) })
  const writer = new RegionsWriter([region(stores[0], first), region(stores[1], second)], inbox, options)
  return { kind: 'opened', inbox, writer }
}

async function readBoth(
  stores: readonly [StreamStore, StreamStore],
  name: string,
  { signal, timing = machineTiming }: RegionsWriterOptions,
): Promise<readonly [Read, Read]> {
  const over = new AbortController()
  const answered = Promise.withResolvers<void>()
  const read = async (store: StreamStore): Promise<Read> => {
    try {
      const inbox = await readInbox(store, name, signal)
      answered.resolve()
      return { kind: 'read', inbox }
    } catch (fault) {
      if (fault instanceof ContainerMissing) return { kind: 'read', inbox: undefined, fault }
      if (!(fault instanceof StoreUnreachable)) throw fault
      return { kind: 'away', fault }
    }
  }
  const late = async (): Promise<Read> => {
    await answered.promise
    await timing.pause(PATIENCE_MS, over.signal)
    return { kind: 'away', fault: new StoreUnreachable('it does not answer') }
  }
  const inTime = (store: StreamStore) => Promise.race([read(store), late()])
  try {
    return await Promise.all([inTime(stores[0]), inTime(stores[1])])
  } finally {
    over.abort()
  }
}

function inboxIn(read: Read): Inbox | undefined {
  return read.kind === 'read' ? read.inbox : undefined
}

function faultOf(read: Read): unknown {
  return read.kind === 'away' ? read.fault : undefined
}
