import type { DeliveryQueue } from './delivery.ts'
import { documentOf, environmentOf, type HookEvent } from './events.ts'
import type { HookOptions } from './options.ts'
import { HOOK_KINDS, type HookKind, type HookTarget, hookKey } from './target.ts'
import { type DeliveredIds, deliveryKey, shortId } from './watermarks.ts'

/** A hook with the key of its watermark. */
interface Subscription {
  readonly target: HookTarget
  readonly key: string
}

/** Turns events into deliveries, one for each hook that has not received the event, and puts them into the queue. */
export class Dispatch {
  /** Kinds with at least one hook, and the keys of all hooks. */
  readonly kinds: ReadonlySet<HookKind>
  readonly keys: readonly string[]
  readonly #options: HookOptions
  readonly #subscriptions: ReadonlyMap<HookKind, readonly Subscription[]>
  readonly #deliveredIds: DeliveredIds

  /** @param told ids of earlier deliveries, of this watchdog or others */
  constructor(options: HookOptions, told: DeliveredIds) {
    this.#options = options
    this.#deliveredIds = told
    this.#subscriptions = subscriptionsOf(options)
    this.kinds = new Set(this.#subscriptions.keys())
    this.keys = [...this.#subscriptions.values()].flat().map(({ key }) => key)
  }

  /**
   * @param wants whether a hook should receive the event, by its key: a new hook may not want what others do
   * @param hold called for each delivery with the key of its hook; returns the callback for `accept`
   * @returns false if the watchdog stops
   */
  async enqueueDeliveries(
    hookEvent: HookEvent,
    deliveries: DeliveryQueue,
    wants: (key: string) => boolean,
    hold: (key: string) => (isOver: boolean) => void,
  ): Promise<boolean> {
    const { kind, id, stream } = hookEvent
    const { store, format, environment: own } = this.#options
    const wanted = (this.#subscriptions.get(kind) ?? []).filter(
      ({ key }) => wants(key) && this.#deliveredIds.add(deliveryKey(key, shortId(id))),
    )
    if (wanted.length === 0) return true
    const text = documentOf(hookEvent, store.address, format)
    const environment = environmentOf(hookEvent, store.address, own)
    for (const { target, key } of wanted) {
      if (!(await deliveries.accept({ target, kind, stream, id, text, environment }, hold(key)))) return false
    }
    return true
  }
}

function subscriptionsOf({ hooks, match }: HookOptions): ReadonlyMap<HookKind, readonly Subscription[]> {
  return new Map(
    HOOK_KINDS.flatMap(kind => {
      const targets = hooks[kind] ?? []
      return targets.length === 0
        ? []
        : [[kind, targets.map(target => ({ target, key: hookKey(kind, target, match) }))]]
    }),
  )
}
