import { expect, test } from 'vitest'
import { Timeline, type TimelineOptions } from '../../../../src/ops/follow/timeline.ts'
import type { JournalEntry } from '../../../../src/ops/read-stream.ts'

const NOON = Date.UTC(2026, 2, 1, 12)

function tx(version: number, seconds: number | string, more: Partial<JournalEntry> = {}): JournalEntry {
  const at = typeof seconds === 'string' ? seconds : new Date(NOON + seconds * 1000).toISOString()
  const empty = { by: 'a', op: 'set', on: '00', commandId: '', hash: '', why: '', other: false, changes: [] }
  return { version, at, ...empty, provisional: false, ...more }
}

type Streams = Readonly<Record<string, readonly JournalEntry[]>>

function timeline(streams: Streams, options: Partial<TimelineOptions> = {}): string[] {
  const line = new Timeline({ keep: Number.POSITIVE_INFINITY, ...options })
  for (const [stream, transactions] of Object.entries(streams)) line.add(stream, transactions, NOON)
  return [...line.entries()].map(
    ({ stream, tx: { version, provisional } }) => `${stream}${version}${provisional ? '?' : ''}`,
  )
}

test('entries are sorted by time, then by stream, then by version', () => {
  expect(timeline({ b: [tx(1, 1), tx(2, 3), tx(3, 3)], a: [tx(1, 2), tx(2, 3)] })).toEqual([
    'b1',
    'a1',
    'a2',
    'b2',
    'b3',
  ])
})

test('a stream keeps its order if its clock went back or its times are unreadable', () => {
  expect(timeline({ a: [tx(1, 5), tx(2, 1), tx(3, 'yesterday')], b: [tx(1, 4), tx(2, 6)] })).toEqual([
    ...['b1', 'a1', 'a2', 'a3', 'b2'],
  ])
  expect(timeline({ a: [tx(1, '')], b: [tx(1, -1), tx(2, 1)] })).toEqual(['b1', 'a1', 'b2'])
})

test('an unrecorded change comes after the version at which it was found', () => {
  expect(timeline({ a: [tx(1, 0), tx(1, 0, { provisional: true })], b: [tx(1, 0)] })).toEqual(['a1', 'a1?', 'b1'])
})

test('a transaction is returned unchanged', () => {
  const line = new Timeline({ keep: Number.POSITIVE_INFINITY })
  const original = tx(3, 1, { why: 'a\nb\u2028"\\ – 😀', changes: [{ event: '00', from: '', to: 'init', how: 'add' }] })
  line.add('orders/"1"\n😀', [original], NOON)
  expect([...line.entries()]).toEqual([{ stream: 'orders/"1"\n😀', tx: original }])
})

test('the timeline keeps the latest entries, and has the time from which another entry could be one of them', () => {
  const streams = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`s${at}`, [tx(at, (at * 37) % 300)]]))
  const latest = timeline(streams).slice(-10)
  expect(timeline(streams, { keep: 10 })).toEqual(latest)
  expect(timeline(streams, { keep: 500 })).toHaveLength(300)
  const line = new Timeline({ keep: 2 })
  expect(line.floorMs).toBe(Number.NEGATIVE_INFINITY)
  line.add(
    's',
    Array.from({ length: 100 }, (_, at) => tx(at, at)),
    NOON,
  )
  expect(line.floorMs).toBe(NOON + 98_000)
})
