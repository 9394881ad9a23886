import { expect, it } from 'vitest'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import type { SceneText } from '../support/scenes.ts'
import { frameText, halfDone, sceneWith } from '../support/scenes.ts'
import { listingOf, NOW_MS } from '../support/world.ts'

const lines = (text: SceneText) => frameText(frameOf(sceneWith(text))).split('\n')
const title = (text: SceneText) => lines(text)[0] ?? ''
const rule = (text: SceneText) => lines(text)[2] ?? ''

it('the title names the screen, or the stream and its pane', () => {
  expect(title({})).toMatch(/^ leasectl ▸ streams /)
  expect(title({ state: { screen: 'stream' } })).toMatch(/^ leasectl ▸ orders\/4711 /)
  expect(title({ state: { screen: 'stream', pane: 'xml' } })).toMatch(/^ leasectl ▸ orders\/4711 ▸ xml /)
})

it.each([
  ['before the first answer', { polledMs: undefined, waitingSinceMs: NOW_MS }, '◌ reading…'],
  ['without changes: the interval, which does not count up', { polledMs: NOW_MS - 1_900 }, '● live 1s'],
  ['with a slow store', { isSlow: true, intervalMs: 4_000 }, '● slow 4s'],
  ['with short intervals', { intervalMs: 250 }, '● live 250ms'],
  ['older than two intervals', { polledMs: NOW_MS - 12_000 }, '◌ 12s old'],
  ['with a store that hangs', { polledMs: NOW_MS - 9_000, waitingSinceMs: NOW_MS - 8_000 }, '✗ no answer 8s'],
  ['with a store that is always that slow', { waitingSinceMs: NOW_MS - 8_000, intervalMs: 16_000 }, '● live 16s'],
  ['on error', { polledMs: NOW_MS - 40_000, error: { sinceMs: 0, code: 'x', message: 'no way' } }, '✗ stale 40s'],
])('the title shows the age of the data: %s', (_when, freshness, shown) => {
  expect(title({ freshness })).toContain(`  ${shown}  READ-ONLY`)
})

it('a store that has not answered for five seconds is told as trouble, with the age of the data', () => {
  const hung = { polledMs: NOW_MS - 9_000, waitingSinceMs: NOW_MS - 8_000 }
  expect(rule({ freshness: hung })).toContain('the store has not answered for 8s; what is shown is 9s old')
  expect(rule({ freshness: { ...hung, waitingSinceMs: NOW_MS - 4_000 } })).not.toContain('not answered')
  const first = { streams: [], rows: [], isComplete: false, freshness: { ...hung, polledMs: undefined } }
  expect(lines(first).join('\n')).toContain('  the store has not answered for 8s\n')
})

it('the next look is counted down while it is not soon', () => {
  const nextPollMs = NOW_MS + 4_000
  const slow = { isSlow: true, intervalMs: 6_000, nextPollMs }
  expect(rule({ freshness: slow })).toContain('the store is slow: next look in 4s, r now')
  expect(rule({ freshness: { ...slow, waitingSinceMs: NOW_MS } })).not.toContain('next look')
  const error = { sinceMs: NOW_MS, code: 'x', message: 'no way' }
  expect(rule({ freshness: { polledMs: NOW_MS - 8_000, error, nextPollMs } })).toContain(
    'stale 8s, retrying in 4s (r now): no way',
  )
})

it('the title shows an error in a line of its own, and the data stay', () => {
  const error = { sinceMs: NOW_MS - 38_000, code: 'store', message: 'connect refused\u001b[2J' }
  const shown = lines({ freshness: { polledMs: NOW_MS - 40_000, error } })
  expect(shown[2]).toMatch(/^─ stale 40s, retrying: connect refused␛\[2J ─+$/)
  expect(shown.join('\n')).toContain('orders/4711')
  expect(rule({ freshness: { polledMs: undefined, error } })).toContain('no answer yet, retrying: connect refused')
})

it('the title counts pending changes while the screen is frozen, and shows its age', () => {
  const state = { frozen: { revision: 20 } }
  expect(title({ state, liveRevision: 37 })).toContain('❄ frozen, 17 pending')
  expect(title({ state, liveRevision: 37, freshness: { polledMs: NOW_MS - 90_000 } })).toContain(
    '❄ frozen 1m30s, 17 pending',
  )
})

it('the title shows whether changes are possible', () => {
  expect(title({})).toMatch(/READ-ONLY$/)
  expect(title({ state: { writes: { kind: 'never' } } })).toMatch(/READ-ONLY$/)
  expect(title({ state: { writes: { kind: 'unlocked', untilMs: NOW_MS + 9 * 60_000 } } })).toMatch(/WRITES 9m$/)
  expect(title({ state: { writes: { kind: 'unlocked', untilMs: NOW_MS + 30_000 } } })).toMatch(/WRITES 30s$/)
  expect(title({ state: { writes: { kind: 'unlocked', untilMs: NOW_MS } } })).toMatch(/READ-ONLY$/)
  expect(title({ facts: { isProtected: true } })).toMatch(/PROTECTED {2}READ-ONLY$/)
})

it('a narrow title keeps the most important parts', () => {
  const state = { screen: 'stream' as const, stream: `orders/${'x'.repeat(80)}/4711`, time: 'utc' as const }
  const facts = { isProtected: true }
  expect(title({ state, facts, size: { columns: 100, rows: 20 } })).toMatch(
    /● live 1s {2}UTC {2}PROTECTED {2}READ-ONLY$/,
  )
  expect(title({ state, facts, size: { columns: 60, rows: 20 } })).toMatch(/PROTECTED {2}READ-ONLY$/)
  expect(title({ state, facts, size: { columns: 42, rows: 20 } })).toMatch(/x\/4711 +READ-ONLY$/)
})

it('the title shows a running change', () => {
  expect(rule({ state: { batch: halfDone() } })).toMatch(/^─ cancel: 1 of 2 done, O shows them ─+$/)
  expect(rule({ state: { batch: { ...halfDone(), end: { lines: [] } } } })).toMatch(/^─+$/)
})

it('the title counts streams, matches and marks, and names the order and the store', () => {
  const scene = sceneWith({ size: { columns: 100, rows: 20 } })
  const streams = {
    ...scene.state.lists.streams,
    filter: 'wo"rd',
    marks: new Set(['a', 'b', 'c']),
    sort: { by: 'due', isDescending: true },
  }
  const state = { lists: { ...scene.state.lists, streams } }
  const rows = listingOf(['orders/4711'], { matching: 58, total: 10_000 })
  const size = { columns: 190, rows: 20 }
  expect(lines({ state, rows, size })[1]).toMatch(
    /^ 16 streams {2}▶ 9 open {2}✗ 5 failed {2}† 1 abandoned {2}! 1 overdue {2}■ 1 blocked {2}‖ 1 suspended {2}\? 1 unreadable {2}⊘ 2 canceled {2}✓ 3 completed {2}▁▂▂▂▅█▃▂ 1\.4\/s +sqlite:\/\/\/var\/lib\/orders\.db$/,
  )
  expect(rule({ state, rows, size })).toMatch(/^─ filter wo"rd: 58 of 10 000 · 3 marked · sorted by due, reversed ─+$/)
  expect(lines({ isComplete: false })[1]).toMatch(/^ 16 streams so far /)
})

it('counts with fewer words where the line is narrow, and never drops what is broken', () => {
  const health = (columns: number) => lines({ size: { columns, rows: 24 } })[1]
  expect(health(115)).toMatch(
    /^ 16 streams {2}▶ 9 {2}✗ 5 failed {2}† 1 abandoned {2}! 1 overdue {2}■ 1 blocked {2}‖ 1 {2}\? 1 unreadable {2}⊘ 2 {2}✓ 3/,
  )
  expect(health(40)).toBe(' 16 ▶9 ✗5 †1 !1 ■1 ‖1 ?1 ⊘2 ✓3')
})

it('tells how much changes as long as there is room for all numbers', () => {
  const health = (columns: number) => lines({ size: { columns, rows: 24 } })[1]
  expect(health(80)).toMatch(/✓ 3 {2}▁▂▂▂▅█▃▂ 1\.4\/s$/)
  expect(health(66)).toMatch(/^ 16 streams.* ✓ 3 {2}1\.4\/s$/)
  expect(health(58)).toMatch(/^ 16 {2}▶ 9.* ✓ 3 {2}1\.4\/s$/)
})

it('says that only what is broken is listed, and with which flags it was started', () => {
  const { lists } = sceneWith().state
  const state = { lists: { ...lists, streams: { ...lists.streams, onlyBroken: true } } }
  const rows = listingOf(['orders/4711'], { matching: 5, total: 13 })
  expect(rule({ state, rows })).toMatch(/^─ only broken: 5 of 13 ─+$/)
  expect(rule({ facts: { selection: "--failed --match 'orders/**'" } })).toMatch(
    /^─ only --failed --match 'orders\/\*\*' ─+$/,
  )
})
