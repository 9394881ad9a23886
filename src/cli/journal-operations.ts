/** The operations that leave a journal entry, and the entries that leasectl makes itself. */
export const JOURNAL_OPERATIONS = [
  ...[
    'init',
    'start',
    'release',
    'advance',
    'complete',
    'fail',
    'cancel',
    'abort',
    'retry',
    'suspend',
    'resume',
    'signal',
    'append',
    'set',
  ],
  ...['ack', 'break-lease', 'settle', 'adopt', 'foreign'],
] as const
