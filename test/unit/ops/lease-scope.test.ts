import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { leaseScope } from '../../../src/ops/lease-scope.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { HOLDER, init, memoryStore, run } from './support.ts'

/** Resolves when the signal aborts, as work that listens to it ends. */
function untilAborted(signal: AbortSignal): Promise<string> {
  return new Promise(resolve => signal.addEventListener('abort', () => resolve('stopped')))
}

describe('leaseScope', () => {
  let store: StreamStore
  let advance: (ms: number) => void
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
    ;({ store, advance } = memoryStore())
    await run(store, 's', init())
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
  const pass = async (ms: number) => {
    advance(ms)
    await vi.advanceTimersByTimeAsync(ms)
  }

  it('holds the lease while the work runs and releases it afterwards', async () => {
    const outcome = await leaseScope(store, 's', { holder: HOLDER }, async () => (await store.read('s'))?.lease.state)
    expect(outcome).toEqual({ kind: 'done', value: 'leased' })
    expect((await store.read('s'))?.lease.state).toBe('available')
  })

  it('releases when the work throws', async () => {
    await expect(leaseScope(store, 's', { holder: HOLDER }, () => Promise.reject(new Error('no')))).rejects.toThrow(
      'no',
    )
    expect((await store.read('s'))?.lease.state).toBe('available')
  })

  it('renews at a third of the duration for as long as the work runs', async () => {
    let finish = (_: string) => {}
    const scope = leaseScope(
      store,
      's',
      { holder: HOLDER, durationS: 15 },
      () =>
        new Promise<string>(resolve => {
          finish = resolve
        }),
    )
    for (let at = 0; at < 10; at++) await pass(5_000)
    expect((await store.read('s'))?.lease.state).toBe('leased')
    finish('done')
    expect(await scope).toEqual({ kind: 'done', value: 'done' })
  })

  it('aborts the work when the lease is broken', async () => {
    const scope = leaseScope(store, 's', { holder: HOLDER, durationS: 15 }, lease => untilAborted(lease.signal))
    await pass(1_000)
    await store.breakLease('s', 0)
    await pass(5_000)
    expect(await scope).toMatchObject({ kind: 'lost' })
  })

  it('knows at its end that another has had the lease since the last renewal', async () => {
    const taken = async () => {
      await store.breakLease('s', 0)
      await store.acquireLease('s', { leaseId: crypto.randomUUID(), durationS: 15, holder: HOLDER })
    }
    expect(await leaseScope(store, 's', { holder: HOLDER }, taken)).toMatchObject({ kind: 'lost' })
    await store.breakLease('s', 0)
    const failing = async () => {
      await taken()
      throw new Error('no')
    }
    expect(await leaseScope(store, 's', { holder: HOLDER }, failing)).toMatchObject({ kind: 'lost' })
  })

  it('waits 2 s at most for the release after an aborted acquire', async () => {
    const hung = new Proxy(store, {
      get: (target, key) => {
        if (key === 'acquireLease') return async () => Promise.reject(new Error('aborted'))
        return key === 'releaseLease' ? () => new Promise(() => {}) : Reflect.get(target, key).bind?.(target)
      },
    })
    const scope = leaseScope(hung, 's', { holder: HOLDER }, async () => undefined)
    const ended = expect(scope).rejects.toThrow('aborted')
    await pass(2_000)
    await ended
  })

  it('treats an unanswered renewal as neither held nor lost, and stops before the lease can have expired', async () => {
    const deaf: StreamStore = new Proxy(store, {
      get: (target, key) =>
        key === 'renewLease'
          ? async () => ({ kind: 'unknown', cause: 'silence' })
          : Reflect.get(target, key).bind?.(target),
    })
    let aborted = false
    const scope = leaseScope(deaf, 's', { holder: HOLDER, durationS: 15 }, async lease => {
      lease.signal.addEventListener('abort', () => {
        aborted = true
      })
      return untilAborted(lease.signal)
    })
    await pass(9_900)
    expect(aborted).toBe(false)
    await pass(200)
    expect(await scope).toEqual({ kind: 'lost', code: 'deadline' })
  })

  it('reports the holder if the lease stays held, and does no work', async () => {
    await store.acquireLease('s', { leaseId: '11111111-1111-4111-8111-111111111111', durationS: 60, holder: HOLDER })
    const work = vi.fn()
    expect(await leaseScope(store, 's', { holder: HOLDER, waitMs: 0 }, work)).toMatchObject({
      kind: 'held',
      lease: { holder: HOLDER },
    })
    expect(work).not.toHaveBeenCalled()
  })

  it('waits for a lease that is released in time', async () => {
    const other = '11111111-1111-4111-8111-111111111111'
    await store.acquireLease('s', { leaseId: other, durationS: 60, holder: HOLDER })
    const scope = leaseScope(store, 's', { holder: HOLDER, waitMs: 5_000 }, async () => 'mine')
    await pass(1_000)
    await store.releaseLease('s', other)
    await pass(1_000)
    expect(await scope).toEqual({ kind: 'done', value: 'mine' })
  })

  it('reports a missing stream', async () => {
    expect(await leaseScope(store, 'none', { holder: HOLDER }, async () => 1)).toEqual({ kind: 'missing' })
  })

  it('releases a lease that a canceled acquire may have taken', async () => {
    const stop = new AbortController()
    const slow: StreamStore = new Proxy(store, {
      get(target, key) {
        if (key !== 'acquireLease') return Reflect.get(target, key).bind?.(target)
        const acquire: StreamStore['acquireLease'] = async (name, { signal: _, ...options }) => {
          await target.acquireLease(name, options)
          stop.abort(new Error('enough'))
          throw stop.signal.reason
        }
        return acquire
      },
    })
    const scope = leaseScope(slow, 's', { holder: HOLDER, signal: stop.signal }, async () => 1)
    await expect(scope).rejects.toThrow('enough')
    expect((await store.read('s'))?.lease.state).toBe('available')
  })

  it('counts the time in which the machine was suspended', async () => {
    let aborted = false
    const scope = leaseScope(store, 's', { holder: HOLDER, durationS: 60 }, async lease => {
      lease.signal.addEventListener('abort', () => {
        aborted = true
      })
      return untilAborted(lease.signal)
    })
    await pass(2_000)
    expect(aborted).toBe(false)
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000)
    await pass(1_000)
    expect(await scope).toEqual({ kind: 'lost', code: 'deadline' })
  })

  it.each([
    ['slept', () => void vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000)],
    ['was blocked', () => void vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000)],
  ])('reports a lost lease if the machine %s past the deadline before a timer ran', async (_, skip) => {
    let signal: AbortSignal | undefined
    const until = (end: () => Promise<string>) =>
      leaseScope(store, 's', { holder: HOLDER, durationS: 15 }, lease => {
        signal = lease.signal
        skip()
        return end()
      })
    expect(await until(async () => 'worked')).toEqual({ kind: 'lost', code: 'deadline' })
    expect(signal?.aborted).toBe(true)
    vi.restoreAllMocks()
    expect(await until(() => Promise.reject(new Error('no')))).toEqual({ kind: 'lost', code: 'deadline' })
  })
})
