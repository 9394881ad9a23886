import type { SubscriptionSeen } from '../../ops/check/subscriptions.ts'
import type { StreamStore } from '../../store/store.ts'
import { readSubscriptions, type SubscriptionView, sinceCreation, viewSubscription } from '../../subscriptions/read.ts'

/** All subscriptions, by name. @throws the store's faults */
export async function allViews(store: StreamStore, signal: AbortSignal): Promise<readonly SubscriptionView[]> {
  const views = await readSubscriptions(store, signal)
  return views.map(view => sinceCreation(view, store.nowMs()))
}

/** One subscription; `undefined` if there is none of this name. @throws the store's faults */
export async function viewOf(
  store: StreamStore,
  name: string,
  signal: AbortSignal,
): Promise<SubscriptionView | undefined> {
  const view = await viewSubscription(store, name, signal)
  return view && sinceCreation(view, store.nowMs())
}

/** The subscriptions of a store, for `check` and `doctor`. @throws the store's faults */
export async function subscriptionsSeen(store: StreamStore, signal: AbortSignal): Promise<readonly SubscriptionSeen[]> {
  return (await allViews(store, signal)).map(view => {
    if (view.kind === 'unreadable') {
      return { name: view.name, lagMs: 0, waiting: 0, parked: 0, held: 0, shards: 0, error: view.why }
    }
    const { name, lagMs, waiting, parked, held, shards } = view
    return { name, lagMs, waiting, parked, held, shards: shards.length }
  })
}
