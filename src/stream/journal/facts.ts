import type { LcAttributeName } from '../event.ts'

/** Attributes of ours on one event. */
export type LcAttributes = { readonly [Name in LcAttributeName]?: string }

/** The `lc` attributes of one event that the journal knows. */
export interface JournalFacts {
  /** Version of the transaction that added it. */
  readonly added: number
  /** Owner, fence, attempt, latest opening, gate and superseded marks, but not the end of a claim. */
  readonly lc: LcAttributes
}
