/** One line of `leasectl help exit-codes`. */
export interface ExitCodeEntry {
  readonly code: number
  readonly meaning: string
  /** Whether the same command can be repeated: `yes`, `same id`, or nothing. */
  readonly again: '' | 'yes' | 'same id'
}

/** The meaning of every exit code. It never changes. */
export const EXIT_CODES: readonly ExitCodeEntry[] = [
  { code: 0, meaning: 'done, or already done', again: '' },
  { code: 1, meaning: 'unexpected: a bug (--debug prints the stack)', again: '' },
  {
    code: 2,
    meaning: 'usage: wrong flags, names or values; confirmation declined, or required without a terminal',
    again: '',
  },
  {
    code: 3,
    meaning: 'stream, event, data, version, inbox, subscription or container not found; show --must: nothing matches',
    again: '',
  },
  { code: 4, meaning: 'not signed in, not permitted, or the context is read-only', again: '' },
  {
    code: 5,
    meaning: 'refused by the state of the stream: already-final, already-advanced, exists, changed, …',
    again: '',
  },
  {
    code: 6,
    meaning: 'busy: lease-held for longer than --lease-wait, or event claimed by another worker',
    again: 'yes',
  },
  {
    code: 7,
    meaning: 'batch ended with some streams not done (one stream: its own code); doctor: errors in streams',
    again: 'yes',
  },
  { code: 8, meaning: 'wait: ended, but not as requested', again: '' },
  {
    code: 9,
    meaning: 'store, file or collector unreachable, throttled or full; port in use; nothing applied',
    again: 'yes',
  },
  { code: 10, meaning: 'outcome unknown: repeat with the printed --command-id', again: 'same id' },
  { code: 11, meaning: 'lost: lease-lost, fenced; nothing applied', again: '' },
  {
    code: 12,
    meaning: 'bad data: unreadable document, blob, store file or LEASECTL_OUTPUT; data of an event missing or damaged',
    again: '',
  },
  { code: 124, meaning: 'timed out', again: 'yes' },
  {
    code: 125,
    meaning: 'exec: could not claim, lost the claim, or could not report the result; the error has the code',
    again: '',
  },
  { code: 126, meaning: 'exec: command not executable', again: '' },
  { code: 127, meaning: 'exec: command not found', again: '' },
  { code: 130, meaning: 'interrupted (SIGINT)', again: '' },
  { code: 143, meaning: 'terminated (SIGTERM)', again: '' },
]

/** Exit codes of faults and outcomes other than refusals by state. A fault not named here is a bug. */
const EXIT_OF: { readonly [code: string]: number } = {
  usage: 2,
  'invalid-value': 2,
  'not-supported': 2,
  'bad-address': 2,
  declined: 2,
  'stream-not-found': 3,
  'event-not-found': 3,
  'subscription-not-found': 3,
  'inbox-not-found': 3,
  'no-data': 3,
  'version-not-found': 3,
  'no-match': 3,
  'container-missing': 3,
  'not-permitted': 4,
  'read-only': 4,
  'breaker-open': 5,
  'end-impossible': 5,
  'ambiguous-command': 5,
  'not-halted': 5,
  'not-handled': 5,
  'already-handled': 5,
  'lease-held': 6,
  claimed: 6,
  'subscription-running': 6,
  'batch-incomplete': 7,
  'ended-otherwise': 8,
  'store-unreachable': 9,
  'store-closed': 9,
  'store-full': 9,
  'file-failed': 9,
  'listen-failed': 9,
  'endpoint-unreachable': 9,
  'endpoint-refused': 9,
  unknown: 10,
  'lease-lost': 11,
  fenced: 11,
  'claim-expired': 11,
  'bad-document': 12,
  'bad-name': 12,
  'blob-archived': 12,
  'blob-encrypted': 12,
  'blob-incomplete': 12,
  'blob-type': 12,
  'store-damaged': 12,
  'store-incompatible': 12,
  'bad-output': 12,
  'data-missing': 12,
  'data-damaged': 12,
  'timed-out': 124,
  'command-not-executable': 126,
  'command-not-found': 127,
  interrupted: 130,
  terminated: 143,
}

/** The exit code of a fault or outcome; 1 for an unforeseen one. */
export function exitOf(code: string): number {
  return Object.hasOwn(EXIT_OF, code) ? (EXIT_OF[code] ?? 1) : 1
}

/** The exit code of a refusal: the one in the table (3, 6, 11), otherwise 5. */
export function exitOfRefusal(code: string): number {
  return Object.hasOwn(EXIT_OF, code) ? exitOf(code) : 5
}

/** Whether the same command may succeed later, according to the table. */
export function isRetryable(exit: number): boolean {
  return EXIT_CODES.some(entry => entry.code === exit && entry.again !== '')
}
