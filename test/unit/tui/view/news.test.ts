import { expect, it } from 'vitest'
import type { WatchdogEntry } from '../../../../src/ops/watchdog-state/state.ts'
import { SCREENS, type State } from '../../../../src/tui/state/state.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { watchdog } from '../support/demo-data.ts'
import { frameText, halfDone, type SceneText, sceneWith } from '../support/scenes.ts'
import { NOW_MS, streamEntry } from '../support/world.ts'

const MINUTE = 60_000
const LATE = [streamEntry('a', { dueMs: NOW_MS - 1 }), streamEntry('b', { dueMs: NOW_MS + MINUTE }), streamEntry('c')]
const SOON = LATE.slice(1)

const lines = (text: SceneText) =>
  frameText(frameOf(sceneWith({ size: { columns: 120, rows: 30 }, ...text }))).split('\n')

function news(watchdogs: readonly WatchdogEntry[] | undefined, more: SceneText = {}) {
  const state = watchdogs === undefined ? undefined : { watchdogs, damaged: false }
  return lines({ streams: LATE, watchdog: { state, next: [] }, ...more })[2]
    ?.replace(/─+$/, '')
    .trim()
}

const stopped = watchdog('w', 1, { stoppedMs: NOW_MS - 50 * MINUTE, writtenMs: NOW_MS - 50 * MINUTE })

it('the header says that nobody watches, and how many streams that concerns', () => {
  expect(news([])).toBe('─ no watchdog runs: 1 stream past the limit')
  expect(news([stopped])).toBe('─ no watchdog runs, the last 50m ago: 1 stream past the limit')
  expect(news([stopped], { streams: SOON })).toBe('─ no watchdog runs, the last 50m ago: 1 stream with a limit')
})

it('it counts thousands as the line of health does', () => {
  const streams = Array.from({ length: 1_200 }, (_, at) => streamEntry(`s${at}`, { dueMs: NOW_MS + MINUTE }))
  expect(news([], { streams })).toBe('─ no watchdog runs: 1 200 streams with a limit')
})

it('it says nothing without limits, while a watchdog runs, and while nothing is known', () => {
  expect(news([], { streams: LATE.slice(2) })).toBe('')
  expect(news([watchdog('w', 1), stopped])).toBe('')
  expect(news(undefined)).toBe('')
})

it('it says that the circuit breaker is open', () => {
  const breaker = { isOpen: true, sinceMs: NOW_MS, wouldEnd: 12, openEvents: 30, maxShare: 0.1 }
  expect(news([watchdog('w', 1, { breaker })])).toContain('w:1: circuit breaker open, nothing is ended')
})

it('it says that the store is slow, after everything that is worse', () => {
  const freshness = { isSlow: true, intervalMs: 12_000 }
  expect(news([watchdog('w', 1)], { freshness })).toBe('─ the store is slow: it is read every 12s')
  expect(news([watchdog('w', 1)], { freshness: { isSlow: true, intervalMs: 4_000 } })).toBe('')
  expect(news([], { freshness })).toContain('no watchdog runs')
  expect(news([], { freshness, state: { batch: halfDone() } })).toBe('─ cancel: 1 of 2 done, O shows them')
  const error = { sinceMs: NOW_MS, code: 'x', message: 'no way' }
  expect(news([], { freshness: { ...freshness, error }, state: { batch: halfDone() } })).toContain('retrying: no way')
})

it('each screen has the line of health, a stream above its own line', () => {
  for (const screen of SCREENS) expect(lines({ state: { screen } })[1]).toMatch(/^ 16 streams {2}▶ 9 {2}✗ 5 failed/)
  expect(lines({ state: { screen: 'stream' } })[2]).toMatch(/^ OrderStart/)
  const low = lines({ state: { screen: 'stream' }, size: { columns: 120, rows: 15 } })
  expect([low[1], low[2]]).toEqual([expect.stringMatching(/^ OrderStart/), expect.stringMatching(/^─+$/)])
})

it('each screen names its filter and the matches, however long the news are', () => {
  const { lists } = sceneWith().state
  for (const screen of SCREENS) {
    const state: Partial<State> = { screen, lists: { ...lists, [screen]: { ...lists[screen], filter: 'abc' } } }
    const head = (columns: number) =>
      lines({
        streams: LATE,
        watchdog: { state: { watchdogs: [stopped], damaged: false }, next: [] },
        state,
        size: { columns, rows: 30 },
      })
        .slice(0, 4)
        .join('\n')
    expect(head(80)).toMatch(/no watchdog runs.*filter abc: [\d ]+ of \d/)
    expect(head(40)).toMatch(/no watchdog.*… · filter abc: [\d ]+ of \d/)
  }
})

it('a wrong filter says what is wrong in place of the matches', () => {
  const { lists } = sceneWith().state
  const state = { lists: { ...lists, streams: { ...lists.streams, filter: 'ownr:x' } } }
  expect(lines({ state })[2]).toContain('filter ownr:x: no field ownr: owner?')
})

it('a filter that is too long is cut, its number of matches never', () => {
  const { lists } = sceneWith().state
  const streams = { ...lists.streams, filter: 'orders status:failed key:4711 due<10m' }
  const head = lines({
    state: { lists: { ...lists, streams } },
    watchdog: { state: { watchdogs: [], damaged: false }, next: [] },
    size: { columns: 48, rows: 30 },
  })
  expect(head[2]).toMatch(/^─ no watchdog.*… · filter orders.*…: [\d ]+ of [\d ]+ ─+$/)
})

it('before the first listing it says that the streams are read', () => {
  expect(lines({ streams: [], isComplete: false, state: { screen: 'stream' } })[1]).toMatch(/^ reading the streams …/)
  expect(lines({ streams: [], isComplete: true, state: { screen: 'leases' } })[1]).toMatch(/^ 0 streams/)
})
