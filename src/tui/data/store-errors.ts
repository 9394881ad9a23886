import { LeasectlError } from '../../stream/errors.ts'
import type { DataStore } from './store.ts'
import type { Freshness } from './types.ts'

/** Explains a store error to the user; safe to print. */
export type Explain = (error: unknown) => { readonly code: string; readonly message: string }

type StoreError = NonNullable<Freshness['trouble']>

/** The failing part: whole polls, or reads of single visible documents. */
type Where = 'looks' | 'documents'

/** The current errors of the store. */
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

  /** @throws the error itself if it is not a store error */
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
