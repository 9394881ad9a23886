/** One line of `leasectl help exit-codes`. */
export interface ExitCodeEntry {
  readonly code: number
  readonly meaning: string
  /** Whether the same command may be tried again: `yes`, `same id`, or nothing. */
  readonly again: '' | 'yes' | 'same id'
}

/** What every exit code means. Codes are never given another meaning. */
export const EXIT_CODES: readonly ExitCodeEntry[] = [
  { code: 0, meaning: 'done, or already so', again: '' },
  { code: 1, meaning: 'unexpected: a bug (--debug prints the stack)', again: '' },
  {
    code: 2,
    meaning: 'usage: wrong flags, names or values; a confirmation declined, or needed and no terminal',
    again: '',
  },
  { code: 3, meaning: 'stream, event, version or container not found; show --must: nothing matches', again: '' },
  { code: 4, meaning: 'not signed in, not permitted', again: '' },
  {
    code: 5,
    meaning: 'refused by the state of the stream: already-final, already-advanced, exists, changed, …',
    again: '',
  },
  {
    code: 6,
    meaning: 'busy: lease-held for longer than --lease-wait, or the event is claimed by another',
    again: 'yes',
  },
  {
    code: 7,
    meaning: 'batch ended, some streams not done (one stream: its own code); doctor: errors in streams',
    again: 'yes',
  },
  { code: 8, meaning: 'wait: ended, but otherwise than asked for', again: '' },
  {
    code: 9,
    meaning: 'store, file or collector unreachable, throttled or full, port to listen on taken; nothing applied',
    again: 'yes',
  },
  { code: 10, meaning: 'outcome unknown: repeat with the printed --command-id', again: 'same id' },
  { code: 11, meaning: 'lost: lease-lost, fenced; nothing applied', again: '' },
  {
    code: 12,
    meaning: 'bad data: the document, its blob, the store file or what LEASECTL_OUTPUT says cannot be read',
    again: '',
  },
  { code: 124, meaning: 'a limit of time passed', again: 'yes' },
  {
    code: 125,
    meaning: 'exec: could not claim, lost the claim, or could not report the end; the error says which code it is',
    again: '',
  },
  { code: 126, meaning: 'exec: the command is there, but cannot be run', again: '' },
  { code: 127, meaning: 'exec: there is no such command', again: '' },
  { code: 130, meaning: 'interrupted (SIGINT)', again: '' },
  { code: 143, meaning: 'terminated (SIGTERM)', again: '' },
]

/** Codes of faults and outcomes that do not stand for a refusal by state; whatever is not named here is a bug. */
const EXIT_OF: { readonly [code: string]: number } = {
  usage: 2,
  'invalid-value': 2,
  'bad-address': 2,
  declined: 2,
  'stream-not-found': 3,
  'event-not-found': 3,
  'version-not-found': 3,
  'no-match': 3,
  'container-missing': 3,
  'not-permitted': 4,
  'breaker-open': 5,
  'end-impossible': 5,
  'lease-held': 6,
  claimed: 6,
  'batch-incomplete': 7,
  'ended-otherwise': 8,
  'store-unreachable': 9,
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
  'timed-out': 124,
  'command-not-executable': 126,
  'command-not-found': 127,
  interrupted: 130,
  terminated: 143,
}

/** The exit code of a fault's or outcome's code; 1 for one that nobody foresaw. */
export function exitOf(code: string): number {
  return Object.hasOwn(EXIT_OF, code) ? (EXIT_OF[code] ?? 1) : 1
}

/** The exit code of a refusal: 3, 6 and 11 where the table says so, otherwise 5. */
export function exitOfRefusal(code: string): number {
  return Object.hasOwn(EXIT_OF, code) ? exitOf(code) : 5
}

/** True where the table says that the same command may succeed later. */
export function isRetryable(exit: number): boolean {
  return EXIT_CODES.some(entry => entry.code === exit && entry.again !== '')
}
