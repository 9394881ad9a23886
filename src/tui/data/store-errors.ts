import { LeasectlError } from '../../stream/errors.ts'
import type { DataStore } from './store.ts'
import type { Freshness } from './types.ts'

/** Explains a store error to the user; safe to print. */
export type Explain = (error: unknown) => { readonly code: string; readonly message: string }

type StoreError = NonNullable<Freshness['error']>

/** The failing part: whole polls, or reads of single visible documents. */
type PollPart = 'poll' | 'documents'

/** The current errors of the store. */
export class StoreErrors {
  readonly #data: DataStore
  readonly #explain: Explain
  readonly #nowMs: () => number
  readonly #now = new Map<PollPart, StoreError>()

  constructor(data: DataStore, explain: Explain, nowMs: () => number) {
    this.#data = data
    this.#explain = explain
    this.#nowMs = nowMs
  }

  /** @throws the error itself if it is not a store error */
  report(where: PollPart, error: unknown): void {
    if (!(error instanceof LeasectlError)) throw error
    const sinceMs = this.#now.get(where)?.sinceMs ?? this.#nowMs()
    this.#now.set(where, { sinceMs, ...this.#explain(error) })
    this.#show()
  }

  clear(where: PollPart): void {
    if (this.#now.delete(where)) this.#show()
  }

  #show(): void {
    this.#data.putFreshness({ error: this.#now.get('poll') ?? this.#now.get('documents') })
  }
}
