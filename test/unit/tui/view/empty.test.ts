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

it('says how to make the first stream', () => {
  const body = bodyOf('streams', {})
  expect(body).toMatch(/^no streams in sqlite:\/\/\/var\/lib\/orders\.db\n/)
  expect(body).toContain('leasectl init orders/4711')
})

it('says that the first look is under way, and on every list', () => {
  for (const screen of ['streams', 'leases', 'watchdog', 'activity'] as const) {
    const freshness = { polledMs: undefined, pollStartedMs: NOW_MS }
    expect(bodyOf(screen, { isComplete: false, freshness })).toBe('reading sqlite:///var/lib/orders.db …')
  }
})

it('says why there is nothing yet when the store has never answered', () => {
  const error = { sinceMs: NOW_MS - 5_000, code: 'unreachable', message: 'connect refused' }
  const body = bodyOf('streams', { isComplete: false, freshness: { polledMs: undefined, error } })
  expect(body).toMatch(/^sqlite:\/\/\/var\/lib\/orders\.db does not answer yet: connect refused\n/)
})

it('says that nothing passes the filter, and how to be rid of it', () => {
  for (const screen of ['streams', 'leases', 'activity', 'watchdog'] as const) {
    const body = bodyOf(screen, { ...filtered(screen, 'nosuch'), streams: ['orders/1'] })
    expect(body).toMatch(/of 10 000 matches "nosuch"/)
    expect(body).toContain('esc clears the filter')
  }
})

it('says that nobody holds a lease', () => {
  expect(bodyOf('leases', { streams: ['orders/1'] })).toMatch(/^no lease is held/)
})

it('says that no watchdog ever ran, and how to run one', () => {
  const body = bodyOf('watchdog', { streams: ['orders/1'] })
  expect(body).toMatch(/^no watchdog has ever run here/)
  expect(body).toContain('leasectl watchdog')
  expect(bodyOf('watchdog', { streams: ['orders/1'], watchdog: { state: undefined } })).toMatch(
    /^reading the watchdog state/,
  )
})

it('says that nothing has happened', () => {
  expect(bodyOf('activity', { streams: ['orders/1'] })).toMatch(/^nothing has happened yet/)
})

it('fits any width', () => {
  for (const screen of ['streams', 'leases', 'watchdog', 'activity'] as const) {
    const scene = sceneWith({ ...EMPTY, state: { screen }, size: { columns: 25, rows: 7 } })
    expect(tooWide(frameOf(scene))).toEqual([])
  }
})

it('names only commands that are there', () => {
  const body = bodyOf('leases', {})
  expect(body).toMatch(/^no lease is held\n/)
  expect(body.match(/leasectl [a-z]+ [a-z]+/g)).toEqual(['leasectl lease acquire'])
})

it('names the screen and why it is empty in the smallest terminal, too', () => {
  const scene = sceneWith({ ...EMPTY, size: { columns: 20, rows: 5 }, state: { screen: 'watchdog' } })
  expect(frameText(frameOf(scene))).toMatch(/^ watchdog READ-ONLY\n {2}no stream has a t/)
})

it('does not say that nothing happened while the store does not answer', () => {
  const error = { sinceMs: NOW_MS - 5_000, code: 'unreachable', message: 'connect refused' }
  expect(bodyOf('activity', { freshness: { error } })).toBe('no answer yet: connect refused')
})
