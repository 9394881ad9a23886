import { expect, it } from 'vitest'
import type { Refusal } from '../../../../src/stream/operations/operation.ts'
import { type Brief, documentText, Play, spec } from '../../../support/stream-builder.ts'

/** The root has the branches A (01.00) and B (02.00). */
const forked = () => Play.started('A', 'B')
const claimed = () => forked().after({ op: 'start', event: '01.00' })
/** 01.00 has advanced to 01.01. */
const advanced = () => claimed().after({ op: 'advance', event: '01.00', owner: 'w1', next: spec('C') })
/** The join 01 waits for A and B. */
const joined = () => Play.joined('J', 'A', 'B')

const UNTIL = '2024-05-01T12:01:00.000Z'

type Row = readonly [play: () => Play, given: Brief, told: Omit<Refusal, 'code'> & { readonly code: string }]

/** The message is all that an operator has at night: the holder of the event, and the legal operations. */
const ROWS: readonly Row[] = [
  [
    claimed,
    { op: 'complete', event: '01.00', owner: 'w2' },
    {
      code: 'claimed',
      event: '01.00',
      status: 'inprocess',
      message: `01.00 is claimed by w1 until ${UNTIL}; give its fence or owner, or wait`,
      owner: 'w1',
      until: UNTIL,
    },
  ],
  [
    claimed,
    { op: 'start', event: '01.00', owner: 'w2' },
    {
      code: 'claimed',
      event: '01.00',
      status: 'inprocess',
      message: `01.00 is claimed by w1 (fence 2) until ${UNTIL}; wait, or take another event`,
      owner: 'w1',
      until: UNTIL,
    },
  ],
  [
    claimed,
    { op: 'complete', event: '01.00', fence: 1 },
    {
      code: 'fenced',
      event: '01.00',
      status: 'inprocess',
      message: 'fence 1 of 01.00 is no longer valid: its fence is 2 now; stop working on it',
      owner: 'w1',
      until: UNTIL,
    },
  ],
  [
    forked,
    { op: 'complete', event: '01.00', fence: 1 },
    {
      code: 'fenced',
      event: '01.00',
      status: 'init',
      message: 'fence 1 of 01.00 is no longer valid: it is not claimed now; stop working on it',
    },
  ],
  [
    forked,
    { op: 'touch', event: '01.00', owner: 'w1' },
    {
      code: 'not-claimed',
      event: '01.00',
      status: 'init',
      message: '01.00 is init and not claimed by you; start it first',
    },
  ],
  [
    joined,
    { op: 'start', event: '01' },
    {
      code: 'join-waiting',
      event: '01',
      status: 'inprocess',
      message: '01 is a join that waits for its branches; it becomes init when they have ended',
    },
  ],
  [
    joined,
    { op: 'advance', event: '00', forks: [spec('C')], join: spec('K'), more: true },
    {
      code: 'join-waiting',
      event: '00',
      status: 'inprocess',
      message: '00 has a waiting join already; only one can wait at a time',
    },
  ],
  [
    advanced,
    { op: 'advance', event: '01.00', next: spec('D') },
    {
      code: 'already-advanced',
      event: '01.00',
      status: 'inprocess',
      message: '01.00 has successors already; --more adds further ones',
    },
  ],
  [
    advanced,
    { op: 'start', event: '01.00' },
    {
      code: 'already-advanced',
      event: '01.00',
      status: 'inprocess',
      message: '01.00 is inprocess and waits for its successors; start one of those',
    },
  ],
  [
    advanced,
    { op: 'complete', event: '01.00' },
    {
      code: 'open-successors',
      event: '01.00',
      status: 'inprocess',
      message: '01.00 still has open successors; it closes by itself when they have ended',
    },
  ],
  [
    () => new Play().after({ op: 'init', root: spec('Start'), forks: [spec('A')], hold: true }),
    { op: 'start', event: '01.00' },
    {
      code: 'held',
      event: '01.00',
      status: 'init',
      message: 'the stream is held: its root 00 is init; resume it, or start 00, to let it run',
    },
  ],
  [
    forked,
    { op: 'complete', event: '07' },
    { code: 'event-not-found', event: '07', status: '', message: 'the stream has no event 07' },
  ],
  [
    forked,
    { op: 'retry' },
    {
      code: 'not-failed',
      event: '00',
      status: 'inprocess',
      message: 'no event is aborted or canceled; there is nothing to retry',
    },
  ],
  [
    () => forked().after({ op: 'complete', event: '01.00' }),
    { op: 'retry', event: '01.00' },
    {
      code: 'already-final',
      event: '01.00',
      status: 'completed',
      message: '01.00 is completed; only aborted and canceled events can be retried',
    },
  ],
  [
    () => forked().after({ op: 'complete', event: '01.00' }),
    { op: 'complete', event: '01.00' },
    {
      code: 'already-final',
      event: '01.00',
      status: 'completed',
      message: '01.00 is completed; it cannot change any more',
    },
  ],
  [
    () => forked().after({ op: 'fail', event: '01.00' }),
    { op: 'fail', event: '01.00' },
    { code: 'already-final', event: '01.00', status: 'aborted', message: '01.00 is aborted; retry can reopen it' },
  ],
  [
    () =>
      new Play(
        documentText({ id: '00', status: 'inprocess', next: '01' }, { id: '01', status: 'inprocess', prev: '00' }),
      ),
    { op: 'start', event: '01' },
    {
      code: 'foreign-worker',
      event: '01',
      status: 'inprocess',
      message: '01 is inprocess at a worker without claims; wait until it is due, or take it over (--take-over)',
    },
  ],
]

it.each(ROWS)('%# names the event and the operations that would be legal', (play, given, told) => {
  expect(play().refused(given)).toEqual(told)
})
