/** How an event came to change: as the target, by a cascade from above, by closing, by a join, or added. */
export type How = 'target' | 'cascade' | 'close' | 'join' | 'add'

/** One event's part in a transaction. */
export interface JournalChange {
  readonly event: string
  /** `''` for an event that was added. */
  readonly from: string
  /** `''` for an event that a foreign writer removed. */
  readonly to: string
  readonly how: How
  /** For `start`. */
  readonly owner?: string
  readonly attempt?: number
  /** For `set`: the names of the changed attributes, joined by blanks. For `foreign`: `claim` where that ended with an older copy. */
  readonly attr?: string
}

/** One entry of the journal: who did what to which event, when and why. */
export interface Transaction {
  readonly version: number
  /** ISO time. */
  readonly at: string
  readonly by: string
  /** An operation's name, or `adopt` (first transaction on a foreign document) or `foreign` (somebody else wrote). */
  readonly op: string
  /** The target event, `''` for none. */
  readonly on: string
  readonly commandId: string
  /** Of the call that made it: tells apart calls that share a command id. */
  readonly nonce?: string
  /** 16 hex digits over op, target and arguments: tells a repeated command from another one with the same id. */
  readonly hash: string
  readonly why: string
  /** A foreign write changed more than statuses. */
  readonly other: boolean
  readonly changes: readonly JournalChange[]
}
