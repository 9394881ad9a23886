/** What is seen now, and so has to be read. */
export interface Demand {
  /** The listing of all streams. */
  readonly streams: boolean
  /** The stream that is open on the screen. */
  readonly open: string | undefined
  /** Names of visible streams of which only the row of the listing is known. */
  readonly unread: readonly string[]
  readonly activity: boolean
  readonly watchdog: boolean
}

/** Nobody looks. */
export const NO_DEMAND: Demand = { streams: false, open: undefined, unread: [], activity: false, watchdog: false }
