import { StoreIncompatible } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import { InvalidValue, StreamFault } from '../stream/errors.ts'
import { countDeadLetters, type DeadLetterCount } from './drain/dead-letters.ts'
import { type Inbox, readInbox } from './inbox.ts'
import { type Lag, type LagOptions, type PartitionState, partitionStates, totalLag } from './lag.ts'
import { inboxNames } from './manage.ts'

/** An inbox as it is, for people. */
export interface InboxView {
  readonly kind: 'readable'
  readonly name: string
  readonly inbox: Inbox
  readonly partitions: readonly PartitionState[]
  readonly lag: Lag
  /** Records put and drained a second, in the last minute. */
  readonly rate: { readonly in: number; readonly out: number }
  /** Partitions that a drain has now. */
  readonly owned: number
  /** Records drained so far. */
  readonly drained: number
  /** Why partitions cannot be drained: a clause for each. */
  readonly faults: readonly string[]
  /** Records that ever became dead letters. */
  readonly dead: number
  /** Dead letters that nobody has retried or dropped. */
  readonly deadLetters: DeadLetterCount
}

/** From a newer leasectl, or damaged. */
export interface UnreadableInbox {
  readonly kind: 'unreadable'
  readonly name: string
  readonly why: string
}

export interface InboxViewOptions extends LagOptions {
  /** An earlier view of the inbox: what has not changed is not read again. */
  readonly known?: InboxView | undefined
}

/** An inbox with its partitions. Takes no lease. @throws the store's faults */
export async function viewInbox(store: StreamStore, inbox: Inbox, options: InboxViewOptions): Promise<InboxView> {
  const { known, signal } = options
  const partitions = await partitionStates(store, inbox, options)
  const isSame = known?.inbox.createdMs === inbox.createdMs
  const deadLetters = await countDeadLetters(store, inbox, {
    known: isSame ? known?.deadLetters : undefined,
    ...(signal && { signal }),
  })
  const sum = (value: (one: PartitionState) => number) => partitions.reduce((total, one) => total + value(one), 0)
  return {
    kind: 'readable',
    name: inbox.name,
    inbox,
    partitions,
    lag: totalLag(partitions),
    rate: { in: sum(one => one.putRate), out: sum(({ checkpoint }) => checkpoint.rate) },
    owned: sum(({ checkpoint }) => (checkpoint.owner === undefined ? 0 : 1)),
    drained: sum(({ checkpoint }) => checkpoint.records),
    faults: partitions.flatMap(one => partitionFault(one) ?? []),
    dead: sum(({ checkpoint }) => checkpoint.dead),
    deadLetters,
  }
}

/** `partition 3 cannot be drained: its checkpoint is of no use: …`; `undefined` if it can be. */
export function partitionFault({ partition, fault }: PartitionState): string | undefined {
  return fault === undefined
    ? undefined
    : `partition ${partition} cannot be drained; its checkpoint is of no use: ${fault}`
}

/** All inboxes of a store, by name. @throws the store's faults */
export async function* viewInboxes(
  store: StreamStore,
  { known = [], ...options }: LagOptions & { readonly known?: readonly (InboxView | UnreadableInbox)[] },
): AsyncGenerator<InboxView | UnreadableInbox> {
  for (const name of await inboxNames(store, options.signal)) {
    const before = known.find(view => view.name === name)
    try {
      const inbox = await readInbox(store, name, options.signal)
      if (inbox === undefined) continue
      yield await viewInbox(store, inbox, { ...options, known: before?.kind === 'readable' ? before : undefined })
    } catch (error) {
      // Another program may have made a name that none of ours can have.
      const isItsFault = error instanceof StreamFault || error instanceof StoreIncompatible
      if (!(isItsFault || error instanceof InvalidValue)) throw error
      yield { kind: 'unreadable', name, why: error.message }
    }
  }
}
