import { expect, it } from 'vitest'
import { limitRows } from '../../../../src/tui/data/limit-rows.ts'
import type { WatchdogView } from '../../../../src/tui/data/types.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { DEMO_WATCHDOG, watchdog } from '../support/demo-data.ts'
import { frameText, sceneWith } from '../support/scenes.ts'
import { NOW_MS } from '../support/world.ts'

function screen(more: Partial<WatchdogView>, height = 40): string {
  const size = { columns: 100, rows: height }
  const watchdog: WatchdogView = { revision: 1, dryRun: undefined, ...DEMO_WATCHDOG, ...more }
  const rows = limitRows(watchdog).map(({ key }) => key)
  return frameText(frameOf(sceneWith({ size, rows, watchdog, state: { screen: 'watchdog' } })))
}

it('the dry run is shown: running, failed, done', () => {
  expect(screen({ dryRun: { kind: 'running', sinceMs: NOW_MS - 3_000 } })).toContain('dry run: running for 3s …')
  expect(screen({ dryRun: { kind: 'failed', message: 'no \u001b[2J way' } })).toContain('dry run failed: no ␛[2J way')
  const done = {
    kind: 'done',
    atMs: NOW_MS - 5_000,
    tookMs: 320.054_076,
    total: 2,
    decisions: [
      { stream: 'orders/4712', action: 'abort-event', event: '01.00', name: 'Pay', kind: 'no-sign-of-life', ends: 4 },
      { stream: 'orders/4714', action: 'settle', ends: 0 },
    ],
    breaker: '2 of 3 open events',
  } as const
  const shown = screen({ dryRun: done })
  expect(shown).toContain('dry run 5s ago: 2 decisions, took 320ms; nothing was changed')
  expect(shown).toContain('! the circuit breaker would stop it: 2 of 3 open events')
  expect(shown).toMatch(/LIMIT +DRY RUN/)
  expect(shown).toMatch(/orders\/4712 +01\.00 Pay +\S+ \S+ +now, ends 4\n/)
  expect(shown).toMatch(/orders\/4714 .+ settle\n/)
  expect(shown).toMatch(/orders\/4711 (?!.* now).+\n/)
})

it('a row says what will be done, to which event, by which limit', () => {
  const shown = screen({})
  expect(shown).toMatch(/DUE ↑ +WILL +STREAM +EVENT +LIMIT/)
  expect(shown).toMatch(/overdue 2m14s +abort event +orders\/4712 +01\.00 Pay +00:10:00/)
  expect(shown).toMatch(/in 8m +abort stream +orders\/4713 +00 OrderStart/)
  expect(shown).toMatch(/in 3h +… +réservations/)
})

it('a limit that was only told of stands behind those that will end something', () => {
  const rows = screen({}).split('\n')
  const at = (text: string) => rows.findIndex(row => row.includes(text))
  expect(rows[at('notified')]).toMatch(/43m ago +notified +imports/)
  expect(at('notified')).toBeGreaterThan(at('réservations'))
})

it('what was never read is unknown, and neither absent nor none', () => {
  const shown = screen({ state: undefined })
  expect(shown).toContain('watchdogs: not known yet')
  expect(shown).not.toContain('no watchdog')
})

it('nobody watches if all watchdogs have stopped', () => {
  const stopped = watchdog('a', 1, { stoppedMs: NOW_MS - 1_000 })
  expect(screen({ state: { damaged: false, watchdogs: [stopped] } })).toContain(
    '! no watchdog is running: nothing of this happens',
  )
  expect(screen({})).not.toContain('nothing of this happens')
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
