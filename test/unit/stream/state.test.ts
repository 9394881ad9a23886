import { describe, expect, it } from 'vitest'
import { EMPTY_DOCUMENT } from '../../../src/stream/document.ts'
import {
  hasUnacknowledgedFailure,
  isAbandoned,
  isAcknowledged,
  isHeldStream,
  isOverdue,
  stateOfStream,
} from '../../../src/stream/state.ts'
import { summarize } from '../../../src/stream/summarize.ts'
import type { Summary } from '../../../src/stream/summary.ts'

const NOW = Date.parse('2026-07-01T12:00:00.000Z')
const EMPTY = summarize(EMPTY_DOCUMENT, { nowMs: NOW, lastBy: 'ada' })

function state(summary: Partial<Summary>): string {
  return stateOfStream({ ...EMPTY, status: 'inprocess', ...summary }, NOW)
}

/** What each state takes, in the order in which the states win. */
const OPEN: readonly (readonly [string, Partial<Summary>])[] = [
  ['suspended', { suspendedMs: NOW - 1 }],
  ['held', { status: 'init', outcome: '', waitingOn: ['00'], ready: [] }],
  ['compensating', { status: 'inprocess', outcome: 'compensating' }],
  ['blocked', { outcome: 'blocked' }],
  ['failing', { failed: 1, failedAtMs: NOW - 9 }],
  ['abandoned', { claimEndMs: NOW }],
  ['overdue', { dueMs: NOW }],
  ['running', { running: ['Search|01.00'] }],
  ['ready', { ready: ['Search|'] }],
  ['waiting', { gated: ['Search|signal|go'] }],
]

describe('the state of a stream', () => {
  it.each(OPEN)('is %s', (expected, summary) => {
    expect(state(summary)).toBe(expected)
  })

  it.each(OPEN.slice(0, -1))('is %s rather than what comes after it', (expected, summary) => {
    const at = OPEN.findIndex(([name]) => name === expected)
    const later = OPEN.slice(at + 1).map(([, facts]) => facts)
    expect(state(Object.assign({}, ...later, summary))).toBe(expected)
  })

  it('is running if no event is ready, running or waiting', () => {
    expect(state({})).toBe('running')
  })

  it.each(['completed', 'aborted', 'canceled'])('is the status of an ended one: %s', status => {
    expect(state({ status, suspendedMs: NOW, failed: 1, outcome: 'compensated' })).toBe(status)
  })

  it('is errors only for a completed one that had failures', () => {
    expect(state({ status: 'completed', outcome: 'errors' })).toBe('errors')
    expect(state({ status: 'aborted', outcome: 'errors' })).toBe('aborted')
  })

  it('is an unknown status as it is, and that of a stream without events', () => {
    expect(state({ status: 'parked' })).toBe('parked')
    expect(state({ status: '', ready: ['Search|'] })).toBe('')
    expect(state({ status: 'init', ready: ['Search|'], waitingOn: ['00'] })).toBe('ready')
  })

  it('is not compensating or blocked by an outcome of the past', () => {
    expect(state({ outcome: 'errors', ready: ['Search|'] })).toBe('ready')
    expect(state({ outcome: 'compensation-failed', ready: ['Search|'] })).toBe('ready')
  })
})

describe('a part of the state', () => {
  it('is held only while the root waits to be started', () => {
    expect(isHeldStream({ status: 'init', ready: [], waitingOn: ['00'] })).toBe(true)
    expect(isHeldStream({ status: 'init', ready: ['A|'], waitingOn: ['00'] })).toBe(false)
    expect(isHeldStream({ status: 'init', ready: [], waitingOn: [] })).toBe(false)
    expect(isHeldStream({ status: 'inprocess', ready: [], waitingOn: ['00'] })).toBe(false)
  })

  it('is acknowledged by a reading at the time of the last failure or later', () => {
    expect(isAcknowledged({ failedAtMs: 5, ackMs: 5 })).toBe(true)
    expect(isAcknowledged({ failedAtMs: 5, ackMs: 6 })).toBe(true)
    expect(isAcknowledged({ failedAtMs: 5, ackMs: 4 })).toBe(false)
    expect(isAcknowledged({ failedAtMs: 5, ackMs: undefined })).toBe(false)
    expect(isAcknowledged({ failedAtMs: undefined, ackMs: 0 })).toBe(true)
  })

  it('is an unacknowledged failure only if there is one', () => {
    expect(hasUnacknowledgedFailure({ failed: 1, failedAtMs: 5, ackMs: undefined })).toBe(true)
    expect(hasUnacknowledgedFailure({ failed: 0, failedAtMs: 5, ackMs: undefined })).toBe(false)
    expect(hasUnacknowledgedFailure({ failed: 1, failedAtMs: 5, ackMs: 5 })).toBe(false)
  })

  it('begins in the millisecond of its time', () => {
    expect([isOverdue({ dueMs: 5 }, 4), isOverdue({ dueMs: 5 }, 5), isOverdue({ dueMs: undefined }, 5)]).toEqual([
      false,
      true,
      false,
    ])
    expect([4, 5].map(nowMs => isAbandoned({ claimEndMs: 5 }, nowMs))).toEqual([false, true])
    expect(isAbandoned({ claimEndMs: undefined }, 5)).toBe(false)
  })
})
