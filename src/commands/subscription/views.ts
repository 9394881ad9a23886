import type { SubscriptionSeen } from '../../ops/check/subscriptions.ts'
import { hasSystemDocument, SUBSCRIPTIONS } from '../../ops/read-system-document.ts'
import type { StreamStore } from '../../store/store.ts'

/** The subscriptions of a store, for `check` and `doctor`. @throws the store's faults */
export async function subscriptionsSeen(store: StreamStore, signal: AbortSignal): Promise<readonly SubscriptionSeen[]> {
  if (!(await hasSystemDocument(store, SUBSCRIPTIONS, signal))) return []
  const { readSubscriptions } = await import('../../subscriptions/read.ts')
  return (await readSubscriptions(store, signal)).map(view => {
    if (view.kind === 'unreadable') {
      return { name: view.name, lagMs: 0, waiting: 0, parked: 0, held: 0, shards: 0, error: view.why }
    }
    const { name, lagMs, waiting, parked, held, shards } = view
    return { name, lagMs, waiting, parked, held, shards: shards.length }
  })
}
