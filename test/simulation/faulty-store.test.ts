import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { transact } from '../../src/ops/transact/transact.ts'
import { StoreUnreachable } from '../../src/store/errors.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { ChangeOutcome, Decision, StreamSnapshot } from '../../src/store/store.ts'
import { Clock, type ClockFault } from './clock.ts'
import { type FaultRates, NO_FAULTS, type Outage, Weather } from './faults.ts'
import { FaultyStore } from './faulty-store.ts'
import { Random } from './random.ts'
import { Actor, Scheduler } from './scheduler.ts'
import { Sights } from './sights.ts'
import { Trace } from './trace.ts'

const HOLDER = { by: 'test', host: '', pid: 0, purpose: '', sinceMs: 0 }
const HOUR = 3_600_000

interface Conditions {
  readonly rates?: Partial<FaultRates>
  readonly outages?: readonly Outage[]
  readonly clock?: ClockFault
  readonly seed?: string
}

/** A stream `a` in a store that an actor accesses under these conditions. */
async function stage({ rates = {}, outages = [], clock = {}, seed = 'seed' }: Conditions = {}) {
  const scheduler = new Scheduler(0)
  const base = openMemoryStore({ clock: () => scheduler.nowMs })
  const trace = new Trace(0)
  const actor = new Actor(scheduler, 'actor', new Random(seed))
  const view = new FaultyStore({
    base,
    actor,
    clock: new Clock(scheduler, clock),
    rates: { ...NO_FAULTS, ...rates },
    weather: new Weather(outages),
    trace,
    sights: new Sights(),
  })
  const init = { op: 'init', root: { name: 'Start' }, forks: [{ name: 'A' }], hold: false, born: 'born' } as const
  await transact(base, 'a', init, { commandId: 'init', by: 'test' })
  const set = (value: string) =>
    transact(view, 'a', { op: 'set', event: '01.00', attributes: { tag: value } }, { commandId: value, by: 'actor' })
  const tag = async () => /tag="(\w+)"/.exec(Buffer.from((await base.read('a'))?.body ?? []).toString())?.[1]
  /** The result of a call, and its time. */
  const outcomeOf = async <T>(call: () => Promise<T>, forMs = HOUR) => {
    const settled: { value?: T; error?: unknown; atMs?: number } = {}
    actor.spawn(async () => {
      try {
        settled.value = await call()
      } catch (error) {
        settled.error = error
      }
      settled.atMs = scheduler.nowMs
    })
    await scheduler.run(scheduler.nowMs + forMs)
    return settled
  }
  const faults = () => trace.happenings.flatMap(h => (h.kind === 'fault' ? [h.fault] : []))
  const writes = () => trace.happenings.filter(({ kind }) => kind === 'wrote')
  return { scheduler, base, view, actor, set, tag, outcomeOf, faults, writes }
}

/** The first seed with this result of a write. */
async function withFate(fate: string) {
  for (let seed = 0; seed < 100; seed++) {
    const world = await stage({ rates: { unknown: 1 }, seed: String(seed) })
    const settled = await world.outcomeOf(() => world.set('x'), 31_000)
    if (world.faults()[0] === fate) return { ...world, settled }
  }
  throw new Error(`no seed leads to ${fate}`)
}

describe('an intact store', () => {
  it('takes its time, executes requests, and reports writes', async () => {
    const { set, tag, outcomeOf, writes, faults, view } = await stage()
    const { value, atMs } = await outcomeOf(() => set('x'))
    expect(value).toMatchObject({ kind: 'done', result: { outcome: 'done' } })
    expect(atMs).toBeGreaterThan(0)
    expect(await tag()).toBe('x')
    expect(writes()).toMatchObject([
      { who: 'actor', stream: 'a', entries: [{ op: 'init' }, { op: 'set', by: 'actor' }] },
    ])
    expect(faults()).toEqual([])
    expect((await outcomeOf(() => view.read('a'))).value?.name).toBe('a')
    expect((await outcomeOf(() => Array.fromAsync(view.list({})))).value?.flat().map(({ name }) => name)).toEqual(['a'])
  })

  it('passes the time of its actor to decide', async () => {
    const { view, outcomeOf } = await stage({ clock: { offsetMs: 7_000 } })
    const seen: number[] = []
    const look = (_: StreamSnapshot, nowMs: number): Decision => {
      seen.push(nowMs)
      return { kind: 'leave' }
    }
    await outcomeOf(() => view.update('a', look, { waitMs: 0, holder: HOLDER }))
    expect(seen).toHaveLength(1)
    expect(seen[0]).toBeGreaterThanOrEqual(7_000)
    expect(seen[0]).toBeLessThan(7_100)
  })
})

describe('a lost request', () => {
  it('is store-unreachable, and nothing has happened', async () => {
    const { set, view, tag, outcomeOf, faults } = await stage({ rates: { requestLost: 1 } })
    expect((await outcomeOf(() => set('x'))).error).toBeInstanceOf(StoreUnreachable)
    expect((await outcomeOf(() => view.read('a'))).error).toBeInstanceOf(StoreUnreachable)
    expect((await outcomeOf(() => Array.fromAsync(view.list({})))).error).toBeInstanceOf(StoreUnreachable)
    expect(await tag()).toBeUndefined()
    expect(faults()).toEqual(['request-lost', 'request-lost', 'request-lost'])
  })

  it('happens to all requests while this actor cannot reach the store', async () => {
    const outages = [{ fromMs: 0, toMs: HOUR, who: 'actor' }]
    const { set, outcomeOf, faults } = await stage({ outages })
    expect((await outcomeOf(() => set('x'))).error).toBeInstanceOf(StoreUnreachable)
    expect((await outcomeOf(() => set('y'))).value).toMatchObject({ kind: 'done' })
    expect(faults()).toEqual(['outage'])
    const other = await stage({ outages: [{ fromMs: 0, toMs: HOUR, who: 'somebody' }] })
    expect((await other.outcomeOf(() => other.set('x'))).value).toMatchObject({ kind: 'done' })
  })
})

describe('a lost answer', () => {
  it('is resolved by reading: done, and once', async () => {
    const { set, tag, outcomeOf, faults, writes } = await stage({ rates: { answerLost: 1 } })
    expect((await outcomeOf(() => set('x'))).value).toMatchObject({ kind: 'done', result: { duplicate: false } })
    expect(await tag()).toBe('x')
    expect(faults()).toEqual(['answer-lost'])
    expect(writes()).toHaveLength(1)
  })
})

describe('an unknown outcome', () => {
  it('may mean that the change was applied', async () => {
    const { settled, tag } = await withFate('unknown-applied')
    expect(settled).toMatchObject({ value: { kind: 'unknown' } })
    expect(settled.atMs).toBeGreaterThanOrEqual(30_000)
    expect(await tag()).toBe('x')
  })

  it('may mean that it was not, and never will be', async () => {
    const { settled, tag, scheduler } = await withFate('unknown-lost')
    expect(settled).toMatchObject({ value: { kind: 'unknown' } })
    await scheduler.run(HOUR)
    expect(await tag()).toBeUndefined()
  })

  it('may mean that it arrives when the caller no longer waits, or is dead', async () => {
    const { settled, tag, scheduler, actor, writes } = await withFate('unknown-late')
    expect(settled).toMatchObject({ value: { kind: 'unknown' } })
    expect(await tag()).toBeUndefined()
    actor.die()
    await scheduler.run(HOUR)
    expect(await tag()).toBe('x')
    const [write] = writes()
    expect(write?.kind === 'wrote' && write.atMs - write.sentMs).toBeGreaterThanOrEqual(31_000)
  })

  it('has no effect if another wrote before it arrived', async () => {
    const { base, tag, scheduler } = await withFate('unknown-late')
    await transact(base, 'a', { op: 'set', event: '01.00', attributes: { tag: 'y' } }, { commandId: 'y', by: 'test' })
    await scheduler.run(HOUR)
    expect(await tag()).toBe('y')
  })
})

describe('a lease held by another', () => {
  const leave = (): Decision => ({ kind: 'leave' })

  it('is waited for in virtual time, as long as the caller requests', async () => {
    const { base, view, outcomeOf } = await stage()
    await base.acquireLease('a', { leaseId: randomUUID(), durationS: 15, holder: HOLDER })
    const change = (waitMs: number) => () => view.update('a', leave, { waitMs, holder: HOLDER })
    const impatient = await outcomeOf<ChangeOutcome>(change(2_000), 5_000)
    expect(impatient.value).toMatchObject({ kind: 'held', lease: { state: 'leased' } })
    expect(impatient.atMs).toBeGreaterThanOrEqual(2_000)
    expect((await outcomeOf<ChangeOutcome>(change(60_000))).value).toMatchObject({ kind: 'left' })
  })
})

describe('an actor that dies', () => {
  it('learns no outcome of its requests, applied or not', async () => {
    const { set, actor, scheduler, outcomeOf, tag } = await stage()
    scheduler.at(1, () => actor.die())
    expect(await outcomeOf(() => set('x'))).toEqual({})
    expect(await tag()).toBeUndefined()
  })
})
