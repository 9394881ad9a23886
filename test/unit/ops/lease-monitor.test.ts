import { beforeEach, describe, expect, it } from 'vitest'
import { LeaseMonitor } from '../../../src/ops/lease-monitor.ts'
import type { LeaseOutcome, StreamStore } from '../../../src/store/store.ts'
import { HOLDER, init, memoryStore, run } from './support.ts'

describe('LeaseMonitor', () => {
  const clock = { monotonic: 0, wall: 0, monotonicMs: () => clock.monotonic, wallMs: () => clock.wall }
  const pass = (ms: number) => {
    clock.monotonic += ms
    clock.wall += ms
  }
  let store: StreamStore
  let lease: LeaseMonitor
  const monitor = (of: StreamStore) =>
    new LeaseMonitor(of, 's', { leaseId: '11111111-1111-4111-8111-111111111111', durationS: 30, clock })
  beforeEach(async () => {
    ;({ store } = memoryStore())
    await run(store, 's', init())
    lease = monitor(store)
    await lease.acquire({ holder: HOLDER })
  })
  const state = () => ({ isTrusted: lease.isTrusted, isDue: lease.isDue, isOver: lease.isOver })
  /** The store, with another answer to renewals. */
  const answering = (renew: () => Promise<LeaseOutcome>): StreamStore =>
    new Proxy(store, { get: (target, key) => (key === 'renewLease' ? renew : Reflect.get(target, key).bind?.(target)) })

  it('is trusted for two thirds of its time and due for renewal after a third', () => {
    expect(state()).toEqual({ isTrusted: true, isDue: false, isOver: false })
    pass(9_999)
    expect(state()).toEqual({ isTrusted: true, isDue: false, isOver: false })
    pass(1)
    expect(state()).toEqual({ isTrusted: true, isDue: true, isOver: false })
    pass(10_000)
    expect(state()).toEqual({ isTrusted: false, isDue: true, isOver: false })
    pass(10_000)
    expect(state()).toEqual({ isTrusted: false, isDue: true, isOver: true })
  })

  it('is not trusted before its first request was granted', () => {
    expect(monitor(store)).toMatchObject({ isTrusted: false })
  })

  it.each(['monotonic', 'wall'] as const)('takes the longer time where only the %s clock went on', which => {
    clock[which] += 20_000
    expect(lease.isTrusted).toBe(false)
  })

  it('counts from the sending of a renewal, not from its answer', async () => {
    lease = monitor(
      answering(async () => {
        pass(4_000)
        return { kind: 'ok', leaseId: lease.leaseId }
      }),
    )
    await lease.acquire({ holder: HOLDER })
    pass(10_000)
    expect(await lease.renew()).toEqual({ kind: 'held' })
    pass(15_999)
    expect(lease.isTrusted).toBe(true)
    pass(1)
    expect(lease.isTrusted).toBe(false)
  })

  it('takes an unanswered renewal neither for held nor for lost, and is due again at once', async () => {
    lease = monitor(answering(async () => ({ kind: 'unknown', cause: 'silence' })))
    await lease.acquire({ holder: HOLDER })
    pass(10_000)
    expect(await lease.renew()).toEqual({ kind: 'unknown' })
    expect(state()).toEqual({ isTrusted: true, isDue: true, isOver: false })
    pass(10_000)
    expect(lease.isTrusted).toBe(false)
  })

  it('is neither due nor over while a renewal is under way', async () => {
    const answer = Promise.withResolvers<LeaseOutcome>()
    lease = monitor(answering(() => answer.promise))
    await lease.acquire({ holder: HOLDER })
    const renewal = lease.renew()
    pass(30_000)
    expect(state()).toEqual({ isTrusted: false, isDue: false, isOver: false })
    answer.resolve({ kind: 'unknown', cause: 'silence' })
    await renewal
    expect(state()).toEqual({ isTrusted: false, isDue: true, isOver: true })
  })

  it('tells by which code the lease was lost', async () => {
    await store.breakLease('s', 0)
    expect(await lease.renew()).toMatchObject({ kind: 'lost' })
    await store.remove('s', {})
    expect(await lease.renew()).toEqual({ kind: 'lost', code: 'BlobNotFound' })
  })

  it('hands on what the store throws, but for a request that was given up', async () => {
    const fault = new Error('no rights')
    lease = monitor(answering(() => Promise.reject(fault)))
    await expect(lease.renew()).rejects.toBe(fault)
    expect(await lease.renew(AbortSignal.abort())).toEqual({ kind: 'unknown' })
  })

  it('never ends when it is infinite', async () => {
    lease = new LeaseMonitor(store, 's', { leaseId: lease.leaseId, durationS: -1, clock })
    await lease.acquire({ holder: HOLDER })
    pass(3_600_000)
    expect(state()).toEqual({ isTrusted: true, isDue: false, isOver: false })
  })
})
