import { LeasectlError } from '../../stream/errors.ts'
import type { DataStore } from './store.ts'
import type { Freshness } from './types.ts'

/** What is told of a fault of the store, safe to print. */
export type Explain = (error: unknown) => { readonly code: string; readonly message: string }

type StoreError = NonNullable<Freshness['trouble']>

/** What of the poll is in trouble: whole looks, or the reading of single documents that are visible. */
type Where = 'looks' | 'documents'

/** What keeps the store from answering, as far as it lasts. */
export class Troubles {
  readonly #data: DataStore
  readonly #explain: Explain
  readonly #nowMs: () => number
  readonly #now = new Map<Where, StoreError>()

  constructor(data: DataStore, explain: Explain, nowMs: () => number) {
    this.#data = data
    this.#explain = explain
    this.#nowMs = nowMs
  }

  /** @throws the error itself where it is no fault of the store */
  tell(where: Where, error: unknown): void {
    if (!(error instanceof LeasectlError)) throw error
    const sinceMs = this.#now.get(where)?.sinceMs ?? this.#nowMs()
    this.#now.set(where, { sinceMs, ...this.#explain(error) })
    this.#show()
  }

  isOver(where: Where): void {
    if (this.#now.delete(where)) this.#show()
  }

  #show(): void {
    this.#data.putFreshness({ trouble: this.#now.get('looks') ?? this.#now.get('documents') })
  }
}
