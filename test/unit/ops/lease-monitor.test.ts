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

  it('trusts the lease for two thirds of its time and renews it after a third', () => {
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

  it('does not trust the lease before its first request was granted', () => {
    expect(monitor(store)).toMatchObject({ isTrusted: false })
  })

  it.each(['monotonic', 'wall'] as const)('counts the longer time if only the %s clock advanced', which => {
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

  it('treats an unanswered renewal as neither held nor lost, and is due again at once', async () => {
    lease = monitor(answering(async () => ({ kind: 'unknown', cause: 'silence' })))
    await lease.acquire({ holder: HOLDER })
    pass(10_000)
    expect(await lease.renew()).toEqual({ kind: 'unknown' })
    expect(state()).toEqual({ isTrusted: true, isDue: true, isOver: false })
    pass(10_000)
    expect(lease.isTrusted).toBe(false)
  })

  it('is neither due nor over while a renewal is in flight', async () => {
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

  it('reports the code with which the lease was lost', async () => {
    await store.breakLease('s', 0)
    expect(await lease.renew()).toMatchObject({ kind: 'lost' })
    await store.remove('s', {})
    expect(await lease.renew()).toEqual({ kind: 'lost', code: 'BlobNotFound' })
  })

  it('passes on errors of the store, except for a canceled request', async () => {
    const fault = new Error('no rights')
    lease = monitor(answering(() => Promise.reject(fault)))
    await expect(lease.renew()).rejects.toBe(fault)
    expect(await lease.renew(AbortSignal.abort())).toEqual({ kind: 'unknown' })
  })

  it('never expires if the lease is infinite', async () => {
    lease = new LeaseMonitor(store, 's', { leaseId: lease.leaseId, durationS: -1, clock })
    await lease.acquire({ holder: HOLDER })
    pass(3_600_000)
    expect(state()).toEqual({ isTrusted: true, isDue: false, isOver: false })
  })
})
