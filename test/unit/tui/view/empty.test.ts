import { expect, it } from 'vitest'
import type { Screen } from '../../../../src/tui/state/state.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { frameText, type SceneText, sceneWith, tooWide } from '../support/scenes.ts'
import { listingOf, NO_WATCHDOGS, NOW_MS } from '../support/world.ts'

const EMPTY: SceneText = { streams: [], rows: [], activity: [], watchdog: { state: NO_WATCHDOGS, next: [] } }

function bodyOf(screen: Screen, text: SceneText): string {
  const scene = sceneWith({ ...EMPTY, ...text, state: { screen, ...text.state } })
  return frameText(frameOf(scene)).split('\n').slice(3, -2).join('\n').trim()
}

const filtered = (screen: Screen, filter: string): SceneText => {
  const { lists } = sceneWith().state
  return {
    state: { lists: { ...lists, [screen]: { ...lists[screen], filter } } },
    rows: listingOf([], { total: 10_000 }),
  }
}

it('an empty list explains how to create the first stream', () => {
  const body = bodyOf('streams', {})
  expect(body).toMatch(/^no streams in sqlite:\/\/\/var\/lib\/orders\.db\n/)
  expect(body).toContain('leasectl init orders/4711')
})

it('every list announces the first poll', () => {
  for (const screen of ['streams', 'leases', 'watchdog', 'activity'] as const) {
    const freshness = { polledMs: undefined, waitingSinceMs: NOW_MS }
    expect(bodyOf(screen, { isComplete: false, freshness })).toBe('reading sqlite:///var/lib/orders.db …')
  }
})

it('an empty list gives the error of a store that has never answered', () => {
  const error = { sinceMs: NOW_MS - 5_000, code: 'unreachable', message: 'connect refused' }
  const body = bodyOf('streams', { isComplete: false, freshness: { polledMs: undefined, error } })
  expect(body).toMatch(/^sqlite:\/\/\/var\/lib\/orders\.db cannot be read: connect refused\n/)
})

it('an empty list says that the filter matches nothing, and how to clear it', () => {
  for (const screen of ['streams', 'leases', 'activity', 'watchdog'] as const) {
    const body = bodyOf(screen, { ...filtered(screen, 'nosuch'), streams: ['orders/1'] })
    expect(body).toMatch(/of 10 000 matches "nosuch"/)
    expect(body).toContain('esc clears the filter')
  }
})

it('an empty list of leases says that none is held', () => {
  expect(bodyOf('leases', { streams: ['orders/1'] })).toMatch(/^no lease is held/)
})

it('without a watchdog, the list says so, and how to run one', () => {
  const body = bodyOf('watchdog', { streams: ['orders/1'] })
  expect(body).toMatch(/^no watchdog has ever run here/)
  expect(body).toContain('leasectl watchdog')
  expect(bodyOf('watchdog', { streams: ['orders/1'], watchdog: { state: undefined } })).toMatch(
    /^reading the watchdog state/,
  )
})

it('an empty activity feed says that nothing has happened', () => {
  expect(bodyOf('activity', { streams: ['orders/1'] })).toMatch(/^nothing has happened yet/)
})

it('the text of an empty list fits any width', () => {
  for (const screen of ['streams', 'leases', 'watchdog', 'activity'] as const) {
    const scene = sceneWith({ ...EMPTY, state: { screen }, size: { columns: 25, rows: 7 } })
    expect(tooWide(frameOf(scene))).toEqual([])
  }
})

it('the text of an empty list names only existing commands', () => {
  const body = bodyOf('leases', {})
  expect(body).toMatch(/^no lease is held\n/)
  expect(body.match(/leasectl [a-z]+ [a-z]+/g)).toEqual(['leasectl lease acquire'])
})

it('in the smallest terminal, too, the screen and the reason are named', () => {
  const scene = sceneWith({ ...EMPTY, size: { columns: 20, rows: 5 }, state: { screen: 'watchdog' } })
  expect(frameText(frameOf(scene))).toMatch(/^ watchdog READ-ONLY\n {2}no stream has a t/)
})

it('while the store does not answer, the feed does not say that nothing happened', () => {
  const error = { sinceMs: NOW_MS - 5_000, code: 'unreachable', message: 'connect refused' }
  expect(bodyOf('activity', { freshness: { error } })).toBe('no answer yet: connect refused')
})
