import { expect, test } from 'vitest'
import { type StaleRule, staleReasons } from '../../../src/ops/stale-lease.ts'
import type { LeaseView } from '../../../src/store/store.ts'

const NOW = Date.UTC(2026, 10, 20, 12)
const RULE: StaleRule = { nowMs: NOW, longerThanMs: 300_000, host: 'here', isRunning: pid => pid === 41 }

function lease(heldS: number, host = 'here', pid = 41): LeaseView {
  const holder = { by: 'w', host, pid, purpose: 'p', sinceMs: NOW - heldS * 1_000 }
  return { state: 'leased', duration: 'fixed', holder }
}

test.each<[string, LeaseView, readonly string[]]>([
  ['held exactly as long as the limit', lease(300), []],
  ['held for longer than the limit', lease(301), ['held-long']],
  ['of an ended process of this host, for a minute', lease(61, 'here', 42), ['process-gone']],
  ['of an ended process, for less than the duration of a finite lease', lease(60, 'here', 42), []],
  ['of a process of another host', lease(61, 'there', 42), []],
  ['of no process', lease(61, 'here', 0), []],
  ['both', lease(301, 'here', 42), ['held-long', 'process-gone']],
  ['infinite, of an unknown holder', { state: 'leased', duration: 'infinite' }, ['holder-unknown']],
  ['finite, of an unknown holder', { state: 'leased', duration: 'fixed' }, []],
  ['that is breaking, which ends by itself', { ...lease(900), state: 'breaking' }, []],
  ['none', { state: 'available' }, []],
])('a lease %s', (_what, view, reasons) => {
  expect(staleReasons(view, RULE)).toEqual(reasons)
})
