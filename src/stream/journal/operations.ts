import type { Operation } from '../operations/operation.ts'

/** Operations without an entry: a heartbeat changes no event. */
type Unrecorded = 'touch'
/** Entries that leasectl makes itself. */
type Own = 'adopt' | 'foreign'

/** In the order of help. The compiler demands each operation. */
const LISTED: Readonly<Record<Exclude<Operation['op'], Unrecorded> | Own, true>> = {
  ...{ init: true, start: true, release: true, advance: true, complete: true, fail: true, skip: true, cancel: true },
  ...{ abort: true, retry: true, suspend: true, resume: true, signal: true, append: true, set: true },
  ...{ ack: true, 'break-lease': true, settle: true, adopt: true, foreign: true },
}

/** The operations that leave a journal entry, and the entries that leasectl makes itself. */
export const JOURNAL_OPERATIONS: readonly string[] = Object.keys(LISTED)
