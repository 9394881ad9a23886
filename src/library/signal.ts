import { objectOf, signal } from '../stream/values.ts'

/** Options of calls that take nothing but a signal. */
export interface SignalOption {
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

export const readSignal = objectOf<SignalOption>({ signal })
