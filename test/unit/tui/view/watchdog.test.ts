import { expect, it } from 'vitest'
import type { WatchdogView } from '../../../../src/tui/data/types.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { DEMO_WATCHDOG, watchdog } from '../support/demo-data.ts'
import { frameText, sceneWith } from '../support/scenes.ts'
import { NOW_MS } from '../support/world.ts'

function screen(more: Partial<WatchdogView>, rows = 40): string {
  const size = { columns: 100, rows }
  return frameText(frameOf(sceneWith({ size, watchdog: { ...DEMO_WATCHDOG, ...more }, state: { screen: 'watchdog' } })))
}

it('the dry run is shown: running, failed, done', () => {
  expect(screen({ dryRun: { kind: 'running', sinceMs: NOW_MS - 3_000 } })).toContain('dry run: running for 3s …')
  expect(screen({ dryRun: { kind: 'failed', message: 'no \u001b[2J way' } })).toContain('dry run failed: no ␛[2J way')
  const done = {
    kind: 'done',
    atMs: NOW_MS - 5_000,
    tookMs: 320.054_076,
    total: 2,
    decisions: ['orders/4712 02.00 timeout: abort-event', 'orders/4714 00 timeout: abort-stream'],
    breaker: '2 of 3 open events',
  } as const
  const shown = screen({ dryRun: done })
  expect(shown).toContain('dry run 5s ago: 2 decisions, took 320ms; nothing was changed')
  expect(shown).toContain('! the circuit breaker would stop it: 2 of 3 open events')
  expect(shown).toContain('   orders/4714 00 timeout: abort-stream')
})

it('the number of decisions that do not fit is shown', () => {
  const decisions = Array.from({ length: 50 }, (_, at) => `decision ${at}`)
  const done = { kind: 'done', atMs: NOW_MS, tookMs: 1, total: 80, decisions, breaker: undefined } as const
  const shown = screen({ dryRun: done })
  const listed = shown.match(/decision \d+/g)?.length ?? 0
  expect(listed).toBeGreaterThan(2)
  expect(shown).toContain(`and ${80 - listed} more`)
})

it('problems of watchdogs are shown', () => {
  const failure = { startedMs: 0, sinceMs: NOW_MS - 125_000, code: 'unreachable', message: 'no route' }
  const breaker = { isOpen: true, wouldEnd: 900, openEvents: 1_000, maxShare: 0.2 }
  const shown = screen({ state: { damaged: true, watchdogs: [watchdog('a', 1, { failure, breaker })] } })
  expect(shown).toContain('! failing')
  expect(shown).toContain('! a:1: no pass has completed for 2m5s: no route [unreachable]')
  expect(shown).toContain(
    '! a:1: circuit breaker open, nothing is ended: a pass would end 900 of 1000 open events, limit 20%',
  )
  expect(shown).toContain('part of the watchdog state cannot be read')
})

it('the number of watchdogs that do not fit is shown', () => {
  const watchdogs = Array.from({ length: 40 }, (_, at) => watchdog(`host-${at}`, at + 1))
  const shown = screen({ state: { damaged: false, watchdogs } }, 24)
  const listed = shown.match(/● live +host/g)?.length ?? 0
  expect(shown).toContain(`and ${40 - listed} more`)
})

it('the list with the cursor is always shown', () => {
  for (const rows of [12, 16, 20, 30])
    expect(screen({ dryRun: { kind: 'running', sinceMs: NOW_MS } }, rows)).toContain('›  ')
})
