import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { transact } from '../../../../../src/ops/transact/transact.ts'
import { BlobIO } from '../../../../../src/store/azure/blobs.ts'
import { ServiceError } from '../../../../../src/store/azure/errors.ts'
import type { ChangeOptions, Decision, StreamSnapshot, StreamStore, WriteMode } from '../../../../../src/store/store.ts'
import { bytes, changeOptions, leased, put, stored, summary, text } from '../../../../contract/harness.ts'
import type { FaultProxy } from '../../../../support/fault-proxy.ts'
import { behindProxy, type StoppedClock } from '../support.ts'

/** Reads and writes the actual state, without the proxy. */
let direct: StreamStore & { container: string }
let proxy: FaultProxy
let store: StreamStore
/** Of the store's machine. */
let clock: StoppedClock
let end: () => Promise<void>

beforeEach(async () => {
  ;({ direct, proxy, store, clock, end } = await behindProxy({ random: () => 0 }))
})

afterEach(async () => {
  vi.restoreAllMocks()
  await end()
})

/** Decides to write `a;` until it is written, and records discarded decisions: the first is 1. */
function account(onDecide: (decision: number) => void = () => {}) {
  const discarded: number[] = []
  let made = 0
  const decide = (current: StreamSnapshot): Decision => {
    const body = text(current.body)
    if (body.includes('a;')) return { kind: 'leave' }
    made += 1
    const decision = made
    onDecide(decision)
    return { kind: 'put', body: bytes(`${body}a;`), summary: summary(), discard: () => discarded.push(decision) }
  }
  return { decide, discarded, made: () => made }
}

const change = (decide: (current: StreamSnapshot) => Decision, options: Partial<ChangeOptions> = {}) =>
  store.update('s', decide, changeOptions(options))

/** The next Put finds no connection. @param meanwhile actions of others at that moment */
function unreachableOnce(meanwhile: () => Promise<unknown> = async () => {}): void {
  const unsent = { kind: 'unanswered', error: new ServiceError('ECONNREFUSED'), unansweredAttempts: 0 } as const
  vi.spyOn(BlobIO.prototype, 'put').mockImplementationOnce(async () => {
    await meanwhile()
    return { ...unsent, md5: '', metadata: {}, headers: {} }
  })
}

const MODES: readonly WriteMode[] = ['lease', 'optimistic']

describe('a decision under a lease whose Put is not sent is discarded:', () => {
  it.each([
    { what: 'the clock was set', where: 'alone', wallMs: 60_000, monotonicMs: 0 },
    { what: 'two thirds of the lease are over', where: 'alone', wallMs: 10_001, monotonicMs: 10_001 },
    { what: 'the clock was set', where: 'in a burst', wallMs: 60_000, monotonicMs: 0 },
  ])('because $what before it, $where', async ({ where, wallMs, monotonicMs }) => {
    const { decide, discarded } = account(decision => {
      if (decision === 1) clock.pass(monotonicMs, wallMs)
    })
    if (where === 'in a burst') await change(put('w;'))
    proxy.reset()
    expect(await change(decide)).toMatchObject({ kind: 'committed' })
    expect(discarded).toEqual([1])
    expect(proxy.count('put')).toBe(1)
  })

  it('because the given lease is over', async () => {
    const leaseId = await leased(direct, 's')
    proxy.add({ kind: 'delay', on: 'put', nth: 1, before: () => direct.breakLease('s', 0) })
    const { decide, discarded, made } = account()
    expect(await change(decide, { leaseId })).toMatchObject({ kind: 'lost' })
    expect([made(), proxy.count('put')]).toEqual([2, 1])
    expect(discarded).toEqual([2])
  })
})

describe.each(MODES)('a decision (%s) whose Put is not sent is discarded:', write => {
  it('because another has taken the lease, and it only served to resolve the previous Put', async () => {
    const take = async () => {
      await direct.breakLease('s', 0)
      await leased(direct, 's', 'grace')
    }
    proxy.add({ kind: 'delay', on: 'put', nth: 1, before: take })
    const { decide, discarded, made } = account()
    expect(await change(decide, { write, waitMs: 0 })).toMatchObject({ kind: 'held' })
    expect(proxy.count('put')).toBe(made() - 1)
    expect(discarded).toEqual([made()])
  })

  it.each(['alone', 'after another of this process'])('because the service was unreachable, %s', async where => {
    if (where !== 'alone') await change(put('w;'), { write })
    proxy.reset()
    unreachableOnce()
    const { decide, discarded } = account()
    expect(await change(decide, { write })).toMatchObject({ kind: 'committed' })
    expect(discarded).toEqual([1])
    expect(proxy.count('put')).toBe(1)
  })

  it('because another process applied the same command meanwhile, which is reported as a duplicate', async () => {
    const init = { op: 'init', root: { name: 'A' }, forks: [{ name: 'B' }], hold: false, born: 'b' } as const
    const start = { op: 'start', event: '01.00', owner: 'w', claimMs: 60_000 } as const
    await transact(direct, 's', init, { commandId: 'i', by: 'ada' })
    unreachableOnce(async () => {
      await direct.breakLease('s', 0)
      await transact(direct, 's', start, { commandId: 'c', by: 'grace' })
    })
    const afterWrite = vi.fn()
    const outcome = await transact(store, 's', start, { commandId: 'c', by: 'ada', write, afterWrite })
    expect(outcome).toMatchObject({ kind: 'done', result: { outcome: 'already', duplicate: true } })
    expect(afterWrite).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ duplicate: true }))
  })
})

describe.each(MODES)('a decision (%s) whose Put was sent is not discarded', write => {
  it.each(['lose-request', 'lose-answer', 'error-before', 'error-after'] as const)('on %s', async kind => {
    proxy.add({ kind, on: 'put', nth: 1 })
    const { decide, discarded } = account()
    expect(await change(decide, { write })).toMatchObject({ kind: 'committed' })
    expect(discarded).toEqual([])
    expect(text((await stored(direct, 's')).body)).toBe('a;')
  })
})
