import { describe, expect, test } from 'vitest'
import type { RecordedDecision, WatchdogEntry } from '../../../../src/ops/watchdog-state/state.ts'
import { upcoming } from '../../../../src/ops/watchdog-state/upcoming.ts'
import { aWatchdog } from '../../watchdog/state/world.ts'
import { NOW } from '../check/support.ts'

const DUE = { stream: 'w/2', dueMs: NOW - 30_000 }

/** A watchdog that records that `w/2` ends soon, and is killed: this is detectable only after 40 s. */
const killed = (agoMs: number, more: Partial<WatchdogEntry> = {}) =>
  aWatchdog(NOW, { id: 'k', writtenMs: NOW - agoMs, lastSweepMs: NOW - agoMs, next: [DUE], decisions: [], ...more })

const other = (more: Partial<WatchdogEntry> = {}) => aWatchdog(NOW, { id: 'o', next: [], decisions: [], ...more })

const streams = (...watchdogs: readonly WatchdogEntry[]) => upcoming(watchdogs, NOW).map(({ stream }) => stream)

test('streams of a late watchdog are left to the running ones', () => {
  expect(streams(killed(39_000))).toEqual(['w/2'])
  expect(streams(killed(41_000))).toEqual([])
})

test('a deadline that several of them watch is listed once, soonest first', () => {
  const later = { stream: 'a', dueMs: NOW + 9_000 }
  expect(upcoming([killed(35_000, { next: [later, DUE] }), killed(35_000, { id: 'o', next: [later] })], NOW)).toEqual([
    DUE,
    later,
  ])
})

describe('a passed deadline is omitted once it is handled', () => {
  const decided = (more: Partial<RecordedDecision> = {}): WatchdogEntry => {
    const decision = { stream: 'w/2', kind: 'abort-event', event: '01', limit: 'timeout', outcome: 'ended' }
    return aWatchdog(NOW, {
      id: 'old',
      stoppedMs: NOW,
      decisions: [{ ...decision, dueMs: DUE.dueMs, atMs: NOW - 20_000, ...more }],
    })
  }

  test.each(['ended', 'already', 'gone'])('because a watchdog decided %s', outcome => {
    expect(streams(killed(35_000), decided({ outcome }))).toEqual([])
  })

  test('because another writer closed the event', () => {
    expect(streams(killed(35_000), decided({ kind: 'settle', dueMs: undefined, outcome: 'settled' }))).toEqual([])
  })

  test.each<[string, Partial<RecordedDecision>]>([
    ['it has another outcome', { outcome: 'busy' }],
    ['it was before that deadline', { atMs: DUE.dueMs - 1 }],
    ['it was about an earlier deadline', { dueMs: DUE.dueMs - 60_000 }],
    ['it was about another stream', { stream: 'w/3' }],
  ])('but a decision does not count if %s', (_, more) => {
    expect(streams(killed(35_000), decided(more))).toEqual(['w/2'])
  })

  test('because another watchdog of the same names swept later and does not list it', () => {
    expect(streams(killed(35_000), other())).toEqual([])
    expect(streams(killed(35_000), other({ next: [DUE] }))).toEqual(['w/2'])
    expect(streams(killed(35_000), other({ lastSweepMs: NOW - 36_000 }))).toEqual(['w/2'])
  })

  test('but not if that one watches other names or shards, or its list ends earlier', () => {
    const { settings } = aWatchdog(NOW)
    expect(streams(killed(35_000), other({ settings: { ...settings, match: 'a/**' } }))).toEqual(['w/2'])
    expect(streams(killed(35_000), other({ shards: { held: [0, 1], total: 8 } }))).toEqual(['w/2'])
    const earlier = { stream: 'a', dueMs: DUE.dueMs - 1 }
    expect(streams(killed(35_000), other({ next: [earlier] }))).toEqual(['a', 'w/2'])
  })
})
