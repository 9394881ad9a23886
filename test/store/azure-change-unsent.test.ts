import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AzureBodies } from '../../src/store/azure-body.ts'
import { ServiceError } from '../../src/store/azure-errors.ts'
import type { Decision, EventStore, Stored } from '../../src/store/store.ts'
import { bytes, changeOptions, leased, put, stored, summary, text } from '../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { PATIENT, StoppedClock } from './azure-support.ts'

/** Sees and writes the truth, past the proxy. */
let direct: EventStore & { container: string }
let proxy: FaultProxy
let store: EventStore
/** Of the store's machine. */
let clock: StoppedClock

beforeEach(async () => {
  const { port } = await sharedAzurite()
  clock = new StoppedClock()
  direct = await openAzuriteStore(port, PATIENT)
  proxy = await startFaultProxy({ target: { port } })
  store = await openAzuriteStore(proxy.port, {
    container: direct.container,
    random: () => 0,
    machine: clock,
    ...PATIENT,
  })
  await direct.create('s', bytes(''), summary())
})

afterEach(async () => {
  vi.restoreAllMocks()
  proxy.heal()
  await Promise.all([direct.close(), store.close()])
  await proxy.stop()
})

/** Decides to write `a;` until that is there, and keeps account of what was discarded: the first decision is 1. */
function account(onDecide: (decision: number) => void = () => {}) {
  const discarded: number[] = []
  let made = 0
  const decide = (current: Stored): Decision => {
    const body = text(current.body)
    if (body.includes('a;')) return { kind: 'leave' }
    made += 1
    const decision = made
    onDecide(decision)
    return { kind: 'put', body: bytes(`${body}a;`), summary: summary(), discard: () => discarded.push(decision) }
  }
  return { decide, discarded, made: () => made }
}

describe('a decision whose Put is not sent is discarded:', () => {
  it.each([
    { what: 'the clock was set', where: 'alone', wallMs: 60_000, monotonicMs: 0 },
    { what: 'two thirds of the lease are over', where: 'alone', wallMs: 10_001, monotonicMs: 10_001 },
    { what: 'the clock was set', where: 'in a burst', wallMs: 60_000, monotonicMs: 0 },
  ])('$what before it, $where', async ({ where, wallMs, monotonicMs }) => {
    const { decide, discarded } = account(decision => {
      if (decision === 1) clock.pass(monotonicMs, wallMs)
    })
    if (where === 'in a burst') await store.changeUnderLease('s', put('w;'), changeOptions())
    proxy.reset()
    expect(await store.changeUnderLease('s', decide, changeOptions())).toMatchObject({ kind: 'committed' })
    expect(discarded).toEqual([1])
    expect(proxy.count('put')).toBe(1)
  })

  it('the given lease is over', async () => {
    const leaseId = await leased(direct, 's')
    proxy.add({ kind: 'delay', on: 'put', nth: 1, before: () => direct.break('s', 0) })
    const { decide, discarded, made } = account()
    expect(await store.changeUnderLease('s', decide, changeOptions({ leaseId }))).toMatchObject({ kind: 'lost' })
    expect([made(), proxy.count('put')]).toEqual([2, 1])
    expect(discarded).toEqual([2])
  })

  it('another has the lease by then, and it was made only to learn of the Put before', async () => {
    const take = async () => {
      await direct.break('s', 0)
      await leased(direct, 's', 'grace')
    }
    proxy.add({ kind: 'delay', on: 'put', nth: 1, before: take })
    const { decide, discarded, made } = account()
    expect(await store.changeUnderLease('s', decide, changeOptions({ waitMs: 0 }))).toMatchObject({ kind: 'held' })
    expect(proxy.count('put')).toBe(made() - 1)
    expect(discarded).toEqual([made()])
  })

  it('the service could not be reached with it', async () => {
    const unsent = { kind: 'silent', error: new ServiceError('ECONNREFUSED'), silences: 0 } as const
    vi.spyOn(AzureBodies.prototype, 'put').mockResolvedValueOnce({ ...unsent, md5: '', metadata: {}, headers: {} })
    const { decide, discarded } = account()
    expect(await store.changeUnderLease('s', decide, changeOptions())).toMatchObject({ kind: 'committed' })
    expect(discarded).toEqual([1])
    expect(proxy.count('put')).toBe(1)
  })
})

describe('a decision whose Put was sent is not discarded', () => {
  it.each(['lose-request', 'lose-answer', 'error-before', 'error-after'] as const)('%s', async kind => {
    proxy.add({ kind, on: 'put', nth: 1 })
    const { decide, discarded } = account()
    expect(await store.changeUnderLease('s', decide, changeOptions())).toMatchObject({ kind: 'committed' })
    expect(discarded).toEqual([])
    expect(text((await stored(direct, 's')).body)).toBe('a;')
  })
})
