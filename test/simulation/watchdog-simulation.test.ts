import { describe, expect, it } from 'vitest'
import type { StreamSnapshot, StreamStore } from '../../src/store/store.ts'
import type { WatchdogOptions } from '../../src/watchdog/options.ts'
import { runOnce } from '../../src/watchdog/pass.ts'
import { trustRow } from '../guarantees/record.ts'
import { sized } from '../guarantees/size.ts'
import { live, type WorldOutcome, type WorldSettings } from './world.ts'
import { ALONE, brokenIn, LONG_OUTAGE, MONTH, RACE, RESTLESS, SET_CLOCK, WEEK } from './worlds.ts'

const FILE = 'watchdog-simulation.test.ts'
const DAY = 86_400_000

const row = trustRow('watchdog')
/** In CI a month of fewer streams, so that each of its events lasts as long. */
const MONTHS: readonly WorldSettings[] = sized(
  [{ ...MONTH, streams: 60 }],
  [MONTH, { ...MONTH, seed: `${MONTH.seed} again` }, { ...MONTH, seed: `${MONTH.seed} once more`, beats: 64 }],
)

async function kept(settings: WorldSettings): Promise<WorldOutcome> {
  const outcome = await live(settings)
  expect(brokenIn(outcome, settings, FILE)).toBe('')
  return outcome
}

const countIn = ({ counts }: WorldOutcome, what: string) => counts.get(what) ?? 0
const kindsIn = ({ violations }: WorldOutcome) => [...new Set(violations.map(({ kind }) => kind))].sort()

/** Half of a week is enough in CI, where each simulation only has to repeat identically, or to fail. */
const HALF = { days: sized(3.5, 7) }

/** Other tests run in parallel. */
const timeout = sized(180_000, 1_800_000)

/** The report on simulated months. */
function tell(outcomes: readonly WorldOutcome[]): void {
  const sum = (what: string) => outcomes.reduce((total, outcome) => total + countIn(outcome, what), 0)
  const broken = (kind: string) => outcomes.flatMap(({ violations }) => violations.filter(each => each.kind === kind))
  row.figure('heartbeats', sum('heartbeat'), sized('', 'at least 20 000'))
  row.figure('ended early', broken('early').length, '0')
  row.figure('stale', sum('expired abort'))
  row.figure('ended late', broken('forgotten').length, '0')
  for (const what of ['fault', 'leased', 'outage', 'down', 'blind']) row.injected(what, sum(what))
}

describe('three watchdogs', { timeout }, () => {
  it('end in a month all events without heartbeats, each once, and no other', async () => {
    const outcomes: WorldOutcome[] = []
    for (const month of MONTHS) outcomes.push(await kept(month))
    const sum = (what: string) => outcomes.reduce((total, outcome) => total + countIn(outcome, what), 0)
    expect(sum('heartbeat')).toBeGreaterThan(sized(2_000, 20_000))
    expect(sum('expired abort')).toBeGreaterThan(sized(60, 500))
    // The faults have reached the code.
    for (const fault of ['list request-lost', 'read request-lost', 'change request-lost', 'change answer-lost']) {
      expect(sum(`dog ${fault}`), fault).toBeGreaterThan(0)
    }
    for (const fate of ['unknown-applied', 'unknown-lost', 'unknown-late']) {
      expect(sum(`dog change ${fate}`) + sum(`worker change ${fate}`), fate).toBeGreaterThan(0)
    }
    for (const what of ['leased', 'outage', 'down', 'retry', 'carried notified', 'carried unknown', 'carried busy']) {
      expect(sum(what), what).toBeGreaterThan(0)
    }
    expect(sum('breaker')).toBe(0)
    tell(outcomes)
  })

  it('on one exact clock end each event once, although all are due at the same moment and many workers are just in time', async () => {
    const outcome = await kept(RACE)
    expect(countIn(outcome, 'carried already')).toBeGreaterThan(0)
    expect(countIn(outcome, 'carried showed-life')).toBeGreaterThan(0)
  })

  it('are not needed for that: one alone ends due events in time, apart from leases of others', async () => {
    const outcome = await kept(ALONE)
    expect(countIn(outcome, 'carried busy')).toBeGreaterThan(0)
  })

  it('end no event at its first observation, however often they are started', async () => {
    const outcome = await kept({ ...RESTLESS, ...HALF })
    expect(countIn(outcome, 'up')).toBeGreaterThan(200)
  })

  it('spare live workers when the clock of the store is set', async () => {
    const outcome = await kept(SET_CLOCK)
    expect(outcome.trace.happenings.some(h => h.kind === 'blind' && h.why.startsWith('clock'))).toBe(true)
  })

  it('spare live workers after a long outage, and then end events without heartbeats', async () => {
    const outcome = await kept(LONG_OUTAGE)
    expect(outcome.trace.happenings.some(h => h.kind === 'blind' && h.why.startsWith('outage'))).toBe(true)
    expect(countIn(outcome, 'expired abort')).toBeGreaterThan(20)
  })
})

describe('a simulation', { timeout }, () => {
  it('runs identically from the same seed, and differently from another', async () => {
    const days = { ...WEEK, days: sized(2, 7) }
    const [first, again] = [await live(days), await live(days)]
    expect(again.trace.hash).toBe(first.trace.hash)
    expect((await live({ ...days, seed: `${WEEK.seed} other` })).trace.hash).not.toBe(first.trace.hash)
  })
})

describe('the test detects', { timeout }, () => {
  it('that live events are ended without the check under the lease', async () => {
    const outcome = await live({ ...RACE, ...HALF, sabotage: { store: stale } })
    expect(kindsIn(outcome)).toContain('early')
    row.control('no comparison under the lease', true)
  })

  it('that streams that are never inspected are forgotten, and no others', async () => {
    const isForgotten = (name: string) => name.endsWith('3')
    const ownership = { owns: (name: string) => !isForgotten(name) }
    const outcome = await live({ ...WEEK, ...HALF, sabotage: { options: { ownership } } })
    expect(kindsIn(outcome)).toEqual(['forgotten'])
    expect(outcome.violations.every(({ stream }) => isForgotten(stream))).toBe(true)
    row.control('streams that nobody looks at', true)
  })

  it('that live events are ended by a watchdog that trusts a clock that was set', async () => {
    const outcome = await live({ ...SET_CLOCK, days: 3.5, sabotage: { run: trustingly } })
    expect(kindsIn(outcome)).toContain('early')
    row.control('a clock that was set is trusted', true)
  })

  it('that events last too long if deadlines count for a day more', async () => {
    const store = (view: StreamStore) => withClock(view, () => view.nowMs() - DAY)
    expect(kindsIn(await live({ ...WEEK, ...HALF, sabotage: { store } }))).toContain('forgotten')
    row.control('limits count for a day more', true)
  })
})

/** One observation has to be enough. */
async function trustingly(store: StreamStore, options: WatchdogOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await runOnce(store, options, { isDryRun: false, signal }).catch(() => {})
    await options.timing?.pause(options.intervalMs, signal)
  }
}

/** A decision under the lease uses an earlier read. */
function stale(view: StreamStore): StreamStore {
  const seen = new Map<string, StreamSnapshot>()
  return withMethods(view, {
    async read(name, signal) {
      const stored = await view.read(name, signal)
      if (stored !== undefined) seen.set(name, stored)
      return stored
    },
    update: (name, decide, options) =>
      view.update(name, (current, nowMs) => decide(seen.get(name) ?? current, nowMs), options),
  })
}

function withClock(view: StreamStore, nowMs: () => number): StreamStore {
  return withMethods(view, {
    nowMs,
    update: (name, decide, options) => view.update(name, current => decide(current, nowMs()), options),
  })
}

function withMethods(view: StreamStore, methods: Partial<StreamStore>): StreamStore {
  return new Proxy(view, {
    get(target, name) {
      const own: unknown = Reflect.get(methods, name)
      if (own !== undefined) return own
      const inner: unknown = Reflect.get(target, name)
      return typeof inner === 'function' ? inner.bind(target) : inner
    },
  })
}
