import type { TransactCommand } from '../batch/options.ts'

/** `event skip` as a change of the dashboard: of one failed event of a stream that blocks. */
export const SKIP: TransactCommand = {
  name: 'skip',
  thirdPerson: 'skips',
  pastParticiple: 'skipped',
  summary: 'let a stream that blocks on failures go on in spite of this one; the event stays failed',
  examples: [],
  leavesOut: ({ hasFailed }) => (hasFailed ? undefined : 'not failed'),
  isTriedFirst: true,
  operation: ({ event = '' }, { reason }) => ({ op: 'skip', event, ...(reason === undefined ? {} : { msg: reason }) }),
}
