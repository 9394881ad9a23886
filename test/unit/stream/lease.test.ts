import { describe, expect, it } from 'vitest'
import { InvalidValue } from '../../../src/stream/errors.ts'
import {
  acquire,
  afterWrite,
  breakLease,
  change,
  type LeaseRecord,
  type LeaseRefusal,
  leaseStateAt,
  mayCreate,
  mayRead,
  mayWrite,
  NO_LEASE,
  release,
  renew,
} from '../../../src/stream/lease.ts'

const A = 'aaaaaaaa-0000-4000-8000-000000000000'
const B = 'bbbbbbbb-0000-4000-8000-000000000000'
const C = 'cccccccc-0000-4000-8000-000000000000'
const T0 = Date.parse('2026-07-01T12:00:00Z')
/** The time of the tested operations: 20 s after A was acquired for 30 s, or 60 s after it if A has expired. */
const NOW = T0 + 20_000
const LATE = T0 + 60_000

function done(answer: { kind: 'ok'; record: LeaseRecord } | LeaseRefusal): LeaseRecord {
  if (answer.kind === 'refused') throw new Error(answer.code)
  return answer.record
}

const leased = done(acquire(NO_LEASE, A, 30, T0))
const infinite = done(acquire(NO_LEASE, A, -1, T0))

/** The columns of the service's tables: a record and the time at which it is in that state. */
const STATES = {
  available: { record: NO_LEASE, now: NOW },
  leased: { record: leased, now: NOW },
  breaking: { record: done(breakLease(leased, 8, NOW - 1000)), now: NOW },
  broken: { record: done(breakLease(leased, 0, NOW - 1000)), now: NOW },
  expired: { record: leased, now: LATE },
  written: { record: done(afterWrite(leased, undefined, LATE)), now: LATE },
} as const
type State = keyof typeof STATES

const COLUMNS: readonly State[] = ['available', 'leased', 'breaking', 'broken', 'expired', 'written']
const MISMATCH = 'LeaseIdMismatchWithLeaseOperation'
const NONE = 'LeaseNotPresentWithLeaseOperation'
const BROKEN = 'LeaseIsBrokenAndCannotBeRenewed'

type Operation = (record: LeaseRecord, now: number) => { kind: 'ok'; record: LeaseRecord } | LeaseRefusal

/** The result: the state after success, or the error code. One cell per column. */
const LEASE_TABLE: readonly (readonly [string, Operation, readonly string[]])[] = [
  [
    'acquire(B)',
    (record, now) => acquire(record, B, 15, now),
    ['leased', 'LeaseAlreadyPresent', 'LeaseAlreadyPresent', 'leased', 'leased', 'leased'],
  ],
  [
    'acquire(A)',
    (record, now) => acquire(record, A, 15, now),
    ['leased', 'leased', 'LeaseIsBreakingAndCannotBeAcquired', 'leased', 'leased', 'leased'],
  ],
  ['renew(A)', (record, now) => renew(record, A, now), [MISMATCH, 'leased', BROKEN, BROKEN, 'leased', MISMATCH]],
  ['renew(B)', (record, now) => renew(record, B, now), [MISMATCH, MISMATCH, MISMATCH, MISMATCH, MISMATCH, MISMATCH]],
  [
    'release(A)',
    record => release(record, A),
    [MISMATCH, 'available', 'available', 'available', 'available', MISMATCH],
  ],
  ['release(B)', record => release(record, B), [MISMATCH, MISMATCH, MISMATCH, MISMATCH, MISMATCH, MISMATCH]],
  [
    'change(A→B)',
    (record, now) => change(record, A, B, now),
    [NONE, 'leased', 'LeaseIsBreakingAndCannotBeChanged', NONE, NONE, NONE],
  ],
  ['change(B→A)', (record, now) => change(record, B, A, now), [NONE, 'leased', MISMATCH, NONE, NONE, NONE]],
  ['change(B→C)', (record, now) => change(record, B, C, now), [NONE, MISMATCH, MISMATCH, NONE, NONE, NONE]],
  ['break(0)', (record, now) => breakLease(record, 0, now), [NONE, 'broken', 'broken', 'broken', 'broken', NONE]],
  ['break(5)', (record, now) => breakLease(record, 5, now), [NONE, 'breaking', 'breaking', 'broken', 'broken', NONE]],
  [
    'break()',
    (record, now) => breakLease(record, undefined, now),
    [NONE, 'breaking', 'breaking', 'broken', 'broken', NONE],
  ],
]

const NOT_PRESENT = 'LeaseNotPresentWithBlobOperation'
const WRONG = 'LeaseIdMismatchWithBlobOperation'
const BLOB_TABLE: readonly (readonly [string, string | undefined, readonly string[]])[] = [
  ['A', A, [NOT_PRESENT, 'leased', 'breaking', NOT_PRESENT, 'LeaseLost', NOT_PRESENT]],
  ['B', B, [NOT_PRESENT, WRONG, WRONG, NOT_PRESENT, NOT_PRESENT, NOT_PRESENT]],
  ['no id', undefined, ['available', 'LeaseIdMissing', 'LeaseIdMissing', 'available', 'available', 'available']],
]
const EXISTS = 'BlobAlreadyExists'
const CREATE_ROW = [EXISTS, 'LeaseIdMissing', 'LeaseIdMissing', EXISTS, EXISTS, EXISTS]

function cells<Row extends readonly [string, unknown, readonly string[]]>(table: readonly Row[]) {
  return table.flatMap(([name, what, row]) =>
    COLUMNS.map((state, at) => ({ name, what: what as Row[1], state, expected: row[at] ?? '' })),
  )
}

function outcome(answer: ReturnType<Operation>, now: number): string {
  return answer.kind === 'ok' ? leaseStateAt(answer.record, now) : answer.code
}

describe('the states of the tables', () => {
  it.each([
    ['available', 'available'],
    ['leased', 'leased'],
    ['breaking', 'breaking'],
    ['broken', 'broken'],
    ['expired', 'expired'],
    ['written', 'available'],
  ] as const)('%s', (state, expected) => {
    expect(leaseStateAt(STATES[state].record, STATES[state].now)).toBe(expected)
  })

  it('change at the exact millisecond', () => {
    expect(leaseStateAt(leased, T0 + 29_999)).toBe('leased')
    expect(leaseStateAt(leased, T0 + 30_000)).toBe('expired')
    expect(leaseStateAt(infinite, T0 + 1e12)).toBe('leased')
    const breaking = done(breakLease(infinite, 10, T0))
    expect(leaseStateAt(breaking, T0 + 9_999)).toBe('breaking')
    expect(leaseStateAt(breaking, T0 + 10_000)).toBe('broken')
  })
})

describe('lease operation × state', () => {
  it.each(cells(LEASE_TABLE))('$name on $state: $expected', ({ what, state, expected }) => {
    const { record, now } = STATES[state]
    expect(outcome(what(record, now), now)).toBe(expected)
  })
})

describe('blob operation × state', () => {
  it.each(cells(BLOB_TABLE))('write with $name on $state: $expected', ({ what, state, expected }) => {
    const { record, now } = STATES[state]
    const code = expected.startsWith('Lease') ? expected : undefined
    expect(outcome(afterWrite(record, what, now), now)).toBe(expected)
    expect(mayWrite(record, what, now)).toEqual(code === undefined ? { kind: 'ok' } : { kind: 'refused', code })
  })

  it.each(cells(BLOB_TABLE))('read with $name on $state', ({ what, state, expected }) => {
    const { record, now } = STATES[state]
    const refusal = what !== undefined && expected.startsWith('Lease')
    expect(mayRead(record, what, now)).toEqual(refusal ? { kind: 'refused', code: expected } : { kind: 'ok' })
  })

  it.each(cells([['create', '', CREATE_ROW]]))('create on $state: $expected', ({ state, expected }) => {
    expect(mayCreate(STATES[state].record, STATES[state].now)).toEqual({ kind: 'refused', code: expected })
  })

  it('a missing blob can be created, and can be written only without a lease id', () => {
    expect(mayCreate(undefined, NOW)).toEqual({ kind: 'ok' })
    expect(mayWrite(undefined, undefined, NOW)).toEqual({ kind: 'ok' })
    expect(mayWrite(undefined, A, NOW)).toEqual({ kind: 'refused', code: NOT_PRESENT })
  })
})

describe('acquire', () => {
  it('starts the lease time, and restarts it for the id that holds the lease', () => {
    expect(leased).toEqual({ id: A, durationS: 30, untilMs: T0 + 30_000, breakAtMs: undefined })
    expect(done(acquire(leased, A, 60, NOW))).toEqual({
      id: A,
      durationS: 60,
      untilMs: NOW + 60_000,
      breakAtMs: undefined,
    })
    expect(done(acquire(STATES.broken.record, B, -1, NOW))).toEqual({
      id: B,
      durationS: -1,
      untilMs: undefined,
      breakAtMs: undefined,
    })
  })

  it.each([15, 60, -1])('accepts %d s', durationS => {
    expect(acquire(NO_LEASE, A, durationS, NOW).kind).toBe('ok')
  })

  it.each([14, 61, 0, -2, 15.5, Number.NaN])('refuses %d s as an invalid value in every state', durationS => {
    for (const state of COLUMNS) {
      const { record, now } = STATES[state]
      expect(() => acquire(record, B, durationS, now)).toThrow(InvalidValue)
    }
  })

  it('refuses an empty id', () => {
    expect(() => acquire(NO_LEASE, '', 30, NOW)).toThrow(InvalidValue)
    expect(() => change(leased, A, '', NOW)).toThrow(InvalidValue)
    expect(release(NO_LEASE, '')).toEqual({ kind: 'refused', code: MISMATCH })
  })

  it('matches lease ids regardless of letter case', () => {
    expect(renew(leased, A.toUpperCase(), NOW).kind).toBe('ok')
    expect(mayWrite(leased, A.toUpperCase(), NOW).kind).toBe('ok')
  })
})

describe('renew and change', () => {
  it('renew restarts the lease time with the duration of the lease', () => {
    expect(done(renew(leased, A, NOW)).untilMs).toBe(NOW + 30_000)
    expect(done(renew(leased, A, LATE)).untilMs).toBe(LATE + 30_000)
    expect(done(renew(infinite, A, NOW))).toEqual(infinite)
  })

  it('change keeps the lease time', () => {
    expect(done(change(leased, A, B, NOW))).toEqual({ ...leased, id: B })
    expect(done(change(leased, B, A, NOW))).toEqual(leased)
  })

  it('release leaves no lease behind', () => {
    expect(done(release(leased, A))).toEqual(NO_LEASE)
  })
})

describe('a lease whose end a wrong clock has put far in the future', () => {
  const YEAR_MS = 365 * 86_400_000
  const ahead: LeaseRecord = { ...leased, untilMs: NOW + YEAR_MS }

  it('does not block other writers', () => {
    expect(leaseStateAt(ahead, NOW)).toBe('expired')
    expect(mayWrite(ahead, undefined, NOW)).toEqual({ kind: 'ok' })
    expect(done(acquire(ahead, B, 15, NOW)).untilMs).toBe(NOW + 15_000)
  })

  it('is broken at once, even if that clock was already breaking it', () => {
    for (const record of [ahead, { ...leased, breakAtMs: NOW + YEAR_MS }]) {
      const answer = breakLease(record, undefined, NOW)
      expect(answer).toMatchObject({ kind: 'ok', remainingS: 0, record: { breakAtMs: NOW } })
    }
    expect(leaseStateAt({ ...leased, breakAtMs: NOW + YEAR_MS }, NOW)).toBe('broken')
  })

  it('is held if the clocks differ by less than three days', () => {
    expect(leaseStateAt({ ...leased, untilMs: NOW + 2 * 86_400_000 }, NOW)).toBe('leased')
  })
})

describe('breakLease', () => {
  const broken = (record: LeaseRecord, periodS: number | undefined, now: number) => {
    const answer = breakLease(record, periodS, now)
    if (answer.kind === 'refused') throw new Error(answer.code)
    return [answer.record.breakAtMs, answer.remainingS]
  }

  it('ends the lease after the period or when it expires, whichever is first', () => {
    expect(broken(leased, 5, NOW)).toEqual([NOW + 5_000, 5])
    expect(broken(leased, 60, NOW)).toEqual([T0 + 30_000, 10])
    expect(broken(infinite, 60, NOW)).toEqual([NOW + 60_000, 60])
    expect(broken(leased, 0, NOW)).toEqual([NOW, 0])
  })

  it('without a period lets a finite lease expire and ends an infinite lease at once', () => {
    expect(broken(leased, undefined, NOW)).toEqual([T0 + 30_000, 10])
    expect(broken(infinite, undefined, NOW)).toEqual([NOW, 0])
  })

  it('can only shorten the period of a lease that is being broken', () => {
    const breaking = done(breakLease(infinite, 20, NOW))
    expect(broken(breaking, 60, NOW + 5_000)).toEqual([NOW + 20_000, 15])
    expect(broken(breaking, undefined, NOW + 5_000)).toEqual([NOW + 20_000, 15])
    expect(broken(breaking, 3, NOW + 5_000)).toEqual([NOW + 8_000, 3])
  })

  it('rounds the remaining time up to whole seconds and returns 0 after the end', () => {
    expect(broken(leased, undefined, NOW + 1)).toEqual([T0 + 30_000, 10])
    expect(broken(leased, 30, LATE)).toEqual([T0 + 30_000, 0])
  })

  it.each([-1, 61, 1.5, Number.NaN])('refuses a period of %d s as an invalid value', periodS => {
    expect(() => breakLease(leased, periodS, NOW)).toThrow(InvalidValue)
  })
})
