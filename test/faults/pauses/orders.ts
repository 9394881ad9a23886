/** What a worker is called in the claims of its events: two processes of one name, so that only the fence tells them apart. */
export const OWNER = 'worker'

/** What the worker process of the tests is to do. */
export interface WorkerOrders {
  /** The built library. */
  readonly library: string
  readonly address: string
  readonly stream: string
  readonly event: string
  readonly claimMs: number
  /**
   * Where it stops itself. `work`: while it works; `change`: before the change that ends its event; `decided`: when the stream was
   * read and the write is about to be sent; `written`: when that was answered.
   */
  readonly stopsAt?: 'work' | 'change' | 'decided' | 'written'
  /** The protection that it goes without. */
  readonly without?: 'conditions' | 'fence'
}

/** What it says. */
export type WorkerWord =
  | { readonly kind: 'claimed'; readonly fence: number }
  | { readonly kind: 'unfenced'; readonly outcome: string }
  /** How it ended: `WorkOutcome` in short. */
  | { readonly kind: 'reported'; readonly version: number }
  | { readonly kind: 'lost' | 'unreported' | 'not-claimed'; readonly code: string }
