import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { transact } from '../../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { type RunSubscriptionOptions, runSubscription } from '../../../src/subscriptions/engine.ts'
import { DEFAULT_SHARDS } from '../../../src/subscriptions/subscription.ts'
import type {
  Delivery,
  DeliveryResult,
  Handled,
  SubscriptionSpec,
  SubscriptionTrouble,
} from '../../../src/subscriptions/types.ts'

export const SPEC: SubscriptionSpec = {
  name: 'billing',
  match: [],
  notMatch: [],
  ops: [],
  eventNames: [],
  doneOnly: false,
  shards: DEFAULT_SHARDS,
}

const BY = 'test@host'

/** A running subscription from the start of all streams, with what it delivered. */
export function startSubscription(
  store: StreamStore,
  options: Partial<RunSubscriptionOptions> = {},
  handle: (delivery: Delivery) => Handled | Promise<Handled> = () => ({ kind: 'handled' }),
) {
  const seen: string[] = []
  const results: DeliveryResult[] = []
  const troubles: SubscriptionTrouble[] = []
  const stop = new AbortController()
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const each of waiting) each()
  }
  const running = runSubscription(
    store,
    {
      spec: SPEC,
      fromMs: 0,
      by: BY,
      concurrency: 4,
      intervalMs: 10,
      async handler(delivery) {
        seen.push(`${delivery.stream}@${delivery.transaction.version}`)
        return handle(delivery)
      },
      ...options,
      observer: {
        ...options.observer,
        delivered(result) {
          results.push(result)
          wake()
        },
        troubled(trouble) {
          troubles.push(trouble)
          wake()
        },
      },
    },
    stop.signal,
  )
  return {
    seen,
    results,
    troubles,
    running,
    /** Waits until a condition holds, or the subscription has ended. */
    async until(isReached: () => boolean) {
      while (!isReached()) {
        await Promise.race([new Promise<void>(resolve => waiting.add(resolve)), running])
      }
    },
    async stop() {
      stop.abort()
      await running
    },
  }
}

export async function initStream(store: StreamStore, stream: string) {
  const operation = { op: 'init', root: { name: 'Order' }, forks: [], hold: false, born: randomUUID() } as const
  const outcome = await transact(store, stream, operation, author())
  expect(outcome.kind).toBe('done')
}

/** One more transaction of a stream. */
export async function signalStream(store: StreamStore, stream: string) {
  const outcome = await transact(store, stream, { op: 'signal', name: 'go' }, author())
  expect(outcome.kind).toBe('done')
}

function author() {
  return { commandId: randomUUID(), by: BY }
}
