import type { SubscriptionObserver, SubscriptionTrouble } from './types.ts'

/** What does not work now. Each trouble is reported once until it is over. */
export class Troubles {
  readonly #observer: SubscriptionObserver
  readonly #present = new Set<SubscriptionTrouble['what']>()

  constructor(observer: SubscriptionObserver) {
    this.#observer = observer
  }

  report(what: SubscriptionTrouble['what'], text: string, cause?: unknown, stream?: string): void {
    if (this.#present.has(what)) return
    this.#present.add(what)
    this.#observer.troubled?.({ what, text, ...(cause !== undefined && { cause }), ...(stream && { stream }) })
  }

  isOver(what: SubscriptionTrouble['what']): void {
    if (this.#present.delete(what)) this.#observer.recovered?.(what)
  }
}
