import type { StreamStore } from '../../src/store/store.ts'
import { runSubscription } from '../../src/subscriptions/engine.ts'
import type { Handler } from '../../src/subscriptions/types.ts'
import type { World } from '../unit/commands/support.ts'
import { two } from './json-world.ts'

/** Two streams, in the subscription `billing`: `a` is parked, `b` waits. Nobody runs it. */
export async function subscribed(): Promise<World> {
  const world = await two()
  const stop = new AbortController()
  let delivered = 0
  const handler: Handler = async ({ stream }) => {
    if (stream === 'a') return { kind: 'failed', why: 'no card', hopeless: true }
    return { kind: 'transient', why: 'the bank is closed', retryAfterMs: 3_600_000 }
  }
  const spec = {
    name: 'billing',
    match: ['*'],
    notMatch: ['x/**'],
    ops: ['init'],
    eventNames: [],
    doneOnly: false,
    shards: 2,
  }
  const observer = {
    delivered: () => {
      delivered += 1
      if (delivered === 2) stop.abort()
    },
  }
  const options = { spec, fromMs: 0, handler, by: 'ada@here', concurrency: 2, intervalMs: 1_000, observer }
  await runSubscription(world.store, options, stop.signal)
  return world
}

/** A store, and a signal that aborts as soon as a position of a subscription is written. */
export function untilPosition(): { readonly store: (store: StreamStore) => StreamStore; readonly signal: AbortSignal } {
  const stop = new AbortController()
  const store = (real: StreamStore) =>
    new Proxy(real, {
      get(target, property) {
        if (property === 'update') {
          return async (...given: Parameters<StreamStore['update']>) => {
            const outcome = await target.update(...given)
            if (given[0].includes('/shards/')) stop.abort('SIGTERM')
            return outcome
          }
        }
        const value: unknown = Reflect.get(target, property, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  return { store, signal: stop.signal }
}

/** A subscription from a later version of leasectl. */
export async function newerSubscription(): Promise<World> {
  const world = await subscribed()
  const name = '.leasectl/subscriptions/billing/subscription.json'
  const summary = (await world.store.read(name))?.summary
  await world.store.remove(name, {})
  if (summary === undefined) throw new Error('the memory store keeps summaries')
  const text = JSON.stringify({ apiVersion: 'leasectl/v9', kind: 'Subscription' })
  await world.store.create(name, Buffer.from(text), summary)
  return world
}
