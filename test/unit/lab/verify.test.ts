import { describe, expect, test } from 'vitest'
import { type VerificationInput, verifyJournal } from '../../../src/lab/verify.ts'
import { newEvent } from '../../../src/stream/event.ts'

const event = (id: string, status = 'completed', attempt = '1') => newEvent({ id, status }, { attempt })
const tx = (version: number, op: string, on: string, by: string) => ({ version, op, on, by })

/** Two events, each started and completed once, by its owner. */
const GOOD: VerificationInput = {
  events: [newEvent({ id: '00', status: 'completed' }), event('01.00'), event('02.00')],
  transactions: [
    tx(1, 'init', '00', 'lab'),
    tx(2, 'start', '01.00', 'a'),
    tx(3, 'start', '02.00', 'b'),
    tx(4, 'complete', '02.00', 'b'),
    tx(5, 'complete', '01.00', 'a'),
  ],
  acknowledged: [
    { worker: 'a', event: '01.00' },
    { worker: 'b', event: '02.00' },
  ],
  killed: false,
}

/** The second event again, after its first owner was killed. */
const TAKEN_OVER: VerificationInput = {
  ...GOOD,
  events: [...GOOD.events.slice(0, 2), event('02.00', 'completed', '2')],
  transactions: [
    ...GOOD.transactions.slice(0, 3),
    tx(4, 'start', '02.00', 'c'),
    tx(5, 'complete', '02.00', 'c'),
    tx(6, 'complete', '01.00', 'a'),
  ],
  acknowledged: [{ worker: 'a', event: '01.00' }],
  killed: true,
}

const faultsOf = (input: VerificationInput) => verifyJournal(input).faults.map(({ event, what }) => `${event} ${what}`)

test('the journal names who completed each event', () => {
  expect(verifyJournal(GOOD)).toMatchObject({
    faults: [],
    attempts: 2,
    completedBy: new Map([
      ['b', ['02.00']],
      ['a', ['01.00']],
    ]),
  })
})

test('a killed owner whose event was taken over is not a violation', () => {
  expect(verifyJournal(TAKEN_OVER)).toMatchObject({ faults: [], attempts: 3 })
})

describe('a violation is found:', () => {
  const { transactions, events } = GOOD
  const cases: readonly (readonly [what: string, input: VerificationInput, fault: string])[] = [
    [
      'that an event is open',
      { ...GOOD, events: [...events.slice(0, 2), event('02.00', 'inprocess')] },
      '02.00 is inprocess',
    ],
    [
      'that it was completed twice',
      { ...GOOD, transactions: [...transactions, tx(6, 'complete', '01.00', 'a')] },
      '01.00 was completed 2 times',
    ],
    [
      'that two started it in one attempt',
      { ...GOOD, transactions: transactions.with(2, tx(3, 'start', '01.00', 'b')) },
      '01.00 was started 2 times in 1 attempts',
    ],
    [
      'that another than the owner completed it',
      { ...GOOD, transactions: transactions.with(4, tx(5, 'complete', '01.00', 'b')) },
      '01.00 was completed by a process other than its owner a',
    ],
    [
      'that something follows the end',
      { ...GOOD, transactions: [...transactions, tx(6, 'set', '01.00', 'x')] },
      '01.00 was changed after its end: set',
    ],
    [
      'that it took two attempts where nobody was killed',
      { ...TAKEN_OVER, killed: false },
      '02.00 took 2 attempts, though no process was killed',
    ],
    [
      'that a version is missing',
      { ...GOOD, transactions: transactions.map(one => (one.version === 5 ? { ...one, version: 6 } : one)) },
      '00 entry 5 of the journal has version 6',
    ],
    [
      'that what a worker was told is not there',
      { ...GOOD, acknowledged: [{ worker: 'b', event: '01.00' }] },
      '01.00 its completion was confirmed to b; the journal has no such entry',
    ],
  ]

  test.each(cases)('%s', (_, input, fault) => {
    expect(faultsOf(input)).toContain(fault)
  })
})
