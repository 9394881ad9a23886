import { expect, it } from 'vitest'
import type { StreamEntry, StreamTable } from '../../../../src/tui/data/types.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { currentHealth } from '../../../../src/tui/view/health.ts'
import { frameText, sceneWith } from '../support/scenes.ts'
import { NOW_MS, streamEntry } from '../support/world.ts'

/** A table that counts how often it is gone through. */
function table(...entries: readonly StreamEntry[]) {
  let looks = 0
  const of = (revision: number): StreamTable => Object.assign(counting, { revision })
  const counting = {
    revision: 1,
    membership: 1,
    size: entries.length,
    isComplete: true,
    get: () => undefined,
    values: () => {
      looks++
      return entries
    },
  }
  const looksAt = (nowMs: number, revision = 1) => {
    const before = looks
    currentHealth(of(revision), nowMs)
    return looks > before
  }
  return { looksAt, of }
}

it('streams without limits are counted again only after a change, and at most once a second', () => {
  const { looksAt } = table(streamEntry('a'))
  expect([looksAt(NOW_MS), looksAt(NOW_MS + 60_000), looksAt(NOW_MS + 60_000, 2)]).toEqual([true, false, true])
  expect([looksAt(NOW_MS + 60_000, 3), looksAt(NOW_MS + 61_000, 3)]).toEqual([false, true])
})

it('they are counted again when a limit or a claim ends: it passes without a write', () => {
  for (const entry of [
    streamEntry('a', { dueMs: NOW_MS + 5_000 }),
    streamEntry('a', { claimEndMs: NOW_MS + 5_000 }),
    streamEntry('a', { dueMs: NOW_MS - 1, claimEndMs: NOW_MS + 5_000 }),
  ]) {
    const { looksAt } = table(streamEntry('z', { dueMs: NOW_MS + 60_000 }), entry)
    const seconds = [0, 0, 1, 4, 5, 6, 59, 60, 61]
    const counted = [true, false, false, false, true, false, false, true, false]
    expect(seconds.map(s => looksAt(NOW_MS + s * 1_000))).toEqual(counted)
    expect(looksAt(NOW_MS)).toBe(true)
  }
})

it('recent changes are counted again each second: the bars move', () => {
  const entry = streamEntry('a', {}, { rate: [0, 0, 0, 0, 0, 0, 0, 9] })
  const { looksAt, of } = table(entry)
  expect([looksAt(NOW_MS), looksAt(NOW_MS), looksAt(NOW_MS + 1_000)]).toEqual([true, false, true])
  expect(currentHealth(of(1), NOW_MS + 1_000).changes.at(-1)).toBe(entry.rate.at(-1))
})

it('a number that does not fit is left out, not cut', () => {
  const many = (count: number, summary: Parameters<typeof streamEntry>[1]) =>
    Array.from({ length: count }, (_, at) => streamEntry(`${JSON.stringify(summary)}${at}`, summary))
  const streams = [
    ...many(1_200, {}),
    ...many(1_100, { suspendedMs: NOW_MS }),
    ...many(1_050, { status: 'aborted', open: 0, failed: 1 }),
    ...many(1_150, { dueMs: NOW_MS - 1 }),
    ...many(1_160, { status: 'completed', open: 0 }),
  ]
  const line = (columns: number) =>
    frameText(frameOf(sceneWith({ streams, size: { columns, rows: 24 } }))).split('\n')[1]
  expect(line(40)).toBe(' 5 660 ▶3 450 ✗1 050 !1 150 ‖1 100')
  expect(line(48)).toMatch(/ ✓ ?1 160$/)
})
