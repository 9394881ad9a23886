import { describe, expect, it } from 'vitest'
import type { StreamStore } from '../../../src/store/store.ts'
import { trustRow } from '../../guarantees/record.ts'
import { SIZE, sized } from '../../guarantees/size.ts'
import type { DogPlan } from '../../simulation/dog.ts'
import { live, type WorldOutcome, type WorldSettings } from '../../simulation/world.ts'
import { brokenIn, SEED, SET_CLOCK, WEEK } from '../../simulation/worlds.ts'
import { LIES } from './lies.ts'

/** Watchdogs, in virtual time, on machines with wrong clocks, three at a time; and a store whose clock is set. */

const FILE = 'test/faults/clocks/clocks-watchdogs.test.ts'
const TIMEOUT_MS = sized(300_000, 3_600_000)
const DAY = 86_400_000
const trust = trustRow('clocks')

const SMALL = { days: sized(3, 30), streams: sized(20, 200), outages: [] } as const
const DOGS: readonly DogPlan[] = LIES.filter(({ setBy }) => setBy === undefined).map(
  ({ name, offsetMs = 0, rate = 1 }) => ({
    name,
    machine: { offsetMs, rate },
  }),
)
const WORLDS: readonly { readonly name: string; readonly settings: WorldSettings }[] = [
  ...[0, 3, 6].map(from => {
    const dogs = DOGS.slice(from, from + 3)
    return { name: dogs.map(dog => dog.name).join(', '), settings: { ...WEEK, ...SMALL, dogs } }
  }),
  {
    name: 'the store’s own, set by 1 h and 1 d',
    settings: { ...SET_CLOCK, ...SMALL, days: Math.max(SMALL.days, 6), streams: sized(10, 200) },
  },
]

describe('watchdogs end no event early, and all events without heartbeats, with clocks that are', () => {
  it.each(WORLDS)('$name', { timeout: TIMEOUT_MS }, async ({ name, settings }) => {
    const outcome = await live(settings)
    expect(told(outcome, settings)).toBe('')
    const heartbeats = outcome.counts.get('heartbeat') ?? 0
    expect(heartbeats).toBeGreaterThan(50)
    expect(outcome.counts.get('expired abort') ?? 0).toBeGreaterThan(0)
    trust.figure('clocks', `watchdogs: ${name}`)
    trust.figure('early expiries', earlyIn(outcome), `0 in ${heartbeats} heartbeats: ${name}`)
    trust.injected(`days by the clocks ${name}`, settings.days * settings.dogs.length)
  })
})

describe('the test detects', () => {
  it('that a watchdog that trusts a clock a day fast ends live events', { timeout: TIMEOUT_MS }, async () => {
    const store = (view: StreamStore) => withTime(view, () => view.nowMs() + DAY)
    const outcome = await live({ ...WEEK, ...SMALL, days: 2, streams: 10, sabotage: { store } })
    expect(earlyIn(outcome)).toBeGreaterThan(0)
    trust.control('a watchdog believes the clock of its machine, a day fast', earlyIn(outcome) > 0)
  })
})

function earlyIn({ violations }: WorldOutcome): number {
  return violations.filter(({ kind }) => kind === 'early').length
}

function told(outcome: WorldOutcome, settings: WorldSettings): string {
  const broken = brokenIn(outcome, settings, '')
  return broken === ''
    ? ''
    : `${broken}\nrepeat: LEASECTL_SIM_SEED=${SEED} LEASECTL_TRUST_SIZE=${SIZE} npx vitest run ${FILE}`
}

function withTime(view: StreamStore, nowMs: () => number): StreamStore {
  const update: StreamStore['update'] = (name, decide, options) =>
    view.update(name, current => decide(current, nowMs()), options)
  return new Proxy(view, {
    get(target, name) {
      if (name === 'nowMs') return nowMs
      if (name === 'update') return update
      const inner: unknown = Reflect.get(target, name)
      return typeof inner === 'function' ? inner.bind(target) : inner
    },
  })
}
