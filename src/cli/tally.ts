/** What came of a listing. */
export interface Tally {
  /** Rows that were written. */
  readonly shown: number
  /** Streams that passed the filter, as far as they were counted. */
  readonly seen: number
  /** They were counted to the end. */
  readonly exact: boolean
}
