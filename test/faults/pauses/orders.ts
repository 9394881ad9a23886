/** The owner of both workers' claims: two processes of one name, so that only the fence distinguishes them. */
export const OWNER = 'worker'

/** The task of the worker process. */
export interface WorkerOrders {
  /** The built library. */
  readonly library: string
  readonly address: string
  readonly stream: string
  readonly event: string
  readonly claimMs: number
  /**
   * The point where it pauses itself. `work`: during its work; `change`: before the change that ends its event; `decided`:
   * when the stream was read and the write is about to be sent; `written`: when that was answered.
   */
  readonly stopsAt?: 'work' | 'change' | 'decided' | 'written'
  /** The missing protection. */
  readonly without?: 'conditions' | 'fence'
}

/** Its output. */
export type WorkerWord =
  | { readonly kind: 'claimed'; readonly fence: number }
  | { readonly kind: 'unfenced'; readonly outcome: string }
  /** Its result: `WorkOutcome` in short. */
  | { readonly kind: 'reported'; readonly version: number }
  | { readonly kind: 'lost' | 'unreported' | 'not-claimed'; readonly code: string }
