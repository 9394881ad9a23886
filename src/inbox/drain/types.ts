import type { DeadLetter } from './dead-letters.ts'

/** What a drain reports. */
export type DrainEvent =
  /** A record has had its effect; `duplicate`: earlier, or by another drain; `ignored`: it wanted none. */
  | {
      readonly kind: 'done'
      readonly outcome: 'created' | 'appended' | 'changed' | 'duplicate' | 'ignored'
      readonly partition: number
      readonly id: string
      readonly key: string
      readonly stream: string
    }
  | { readonly kind: 'dead'; readonly letter: DeadLetter }
  /** A record is tried again after a pause. */
  | {
      readonly kind: 'again'
      readonly partition: number
      readonly id: string
      readonly code: string
      readonly why: string
    }
  /** The partitions that this drain has now. */
  | { readonly kind: 'partitions'; readonly held: readonly number[]; readonly count: number }
  /** The store does not answer, or has no room; reported once until all works again. */
  | { readonly kind: 'interrupted'; readonly error: unknown }
  | { readonly kind: 'resumed' }

/** What a drain has done. */
export interface DrainReport {
  readonly done: number
  readonly duplicates: number
  readonly dead: number
}
