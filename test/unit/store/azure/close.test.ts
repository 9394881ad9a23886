import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { InFlightOperations } from '../../../../src/store/azure/in-flight.ts'
import { StoreClosed } from '../../../../src/store/errors.ts'
import type { ChangeOutcome, StreamStore } from '../../../../src/store/store.ts'
import { within } from '../../../../src/util/concurrency.ts'
import { bytes, changeOptions, given, leased, put, stored, summary, text } from '../../../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../../../support/azurite.ts'
import { type FaultProxy, type Operation, startFaultProxy } from '../../../support/fault-proxy.ts'
import { PATIENT, SOON, StoppedClock } from './support.ts'

/** Reads the actual state, without the proxy. */
let direct: StreamStore & { container: string }
let proxy: FaultProxy
let store: StreamStore

beforeEach(async () => {
  const { port } = await sharedAzurite()
  direct = await openAzuriteStore(port, PATIENT)
  proxy = await startFaultProxy({ target: { port } })
  const machine = new StoppedClock()
  store = await openAzuriteStore(proxy.port, { container: direct.container, machine, ...PATIENT })
  await given(direct, 's')
})

afterEach(async () => {
  proxy.heal()
  await Promise.all([direct.close(), store.close()])
  await proxy.stop()
})

const change = (body: string): Promise<ChangeOutcome> => store.update('s', put(body), changeOptions())

/** No write: the decision is based on a read only. */
const look = (): Promise<ChangeOutcome> => store.update('s', () => ({ kind: 'leave' }), changeOptions())

const leaseState = async (): Promise<string> => (await stored(direct, 's')).lease.state

/** The end of a close that begins when the next such request arrives. It is answered when all immediate work is done. */
function closedDuring(operation: Operation): Promise<void> {
  return new Promise((resolve, reject) => {
    const before = async () => {
      store.close().then(resolve, reject)
      await nextTurn()
    }
    proxy.add({ kind: 'delay', on: operation, nth: 1, before })
  })
}

const LEASE_ID = '11111111-1111-4111-8111-111111111111'
const OTHER_ID = '22222222-2222-4222-8222-222222222222'

const acquire = () => {
  const { holder } = changeOptions()
  return store.acquireLease('s', { leaseId: LEASE_ID, durationS: 60, holder, record: true })
}

describe('closing the store', () => {
  it.each(['acquire', 'get', 'put'] as const)(
    'during the %s of a change lets the change complete and releases its lease',
    async operation => {
      const closed = closedDuring(operation)
      expect(await change('1')).toMatchObject({ kind: 'committed' })
      await closed
      expect(await leaseState()).toBe('available')
      expect(proxy.count('release')).toBe(1)
    },
  )

  it('releases the lease that a change without a write has continued under', async () => {
    await change('1')
    const closed = closedDuring('get')
    expect(await look()).toEqual({ kind: 'left' })
    await closed
    expect(await leaseState()).toBe('available')
    expect(proxy.count('acquire')).toBe(1)
  })

  it('starts no further change', async () => {
    const closed = closedDuring('put')
    await change('1')
    await expect(change('2')).rejects.toBeInstanceOf(StoreClosed)
    await closed
    expect(text((await stored(direct, 's')).body)).toBe('1')
    expect(await leaseState()).toBe('available')
  })
})

describe('closing the store lets a request in flight complete:', () => {
  it('a create', async () => {
    const closed = closedDuring('put')
    expect(await store.create('new', bytes('1'), summary())).toMatchObject({ kind: 'created' })
    await closed
    expect(text((await stored(direct, 'new')).body)).toBe('1')
  })

  it('a removal', async () => {
    const closed = closedDuring('delete')
    expect(await store.remove('s', {})).toEqual({ kind: 'removed' })
    await closed
    expect(await direct.read('s')).toBeUndefined()
  })

  it.each(['acquire', 'head', 'metadata'] as const)(
    'an explicit acquire that records its holder (%s)',
    async operation => {
      const closed = closedDuring(operation)
      expect(await acquire()).toMatchObject({ kind: 'acquired', leaseId: LEASE_ID })
      await closed
      expect((await stored(direct, 's')).lease).toMatchObject({ state: 'leased', holder: { by: 'ada' } })
    },
  )

  it.each([
    { operation: 'renew', ask: (id: string) => store.renewLease('s', id), outcome: { kind: 'ok' }, state: 'leased' },
    {
      operation: 'change',
      ask: (id: string) => store.changeLeaseId('s', id, OTHER_ID),
      outcome: { kind: 'ok' },
      state: 'leased',
    },
    {
      operation: 'head',
      ask: (id: string) => store.releaseLease('s', id),
      outcome: { kind: 'ok' },
      state: 'available',
    },
    {
      operation: 'release',
      ask: (id: string) => store.releaseLease('s', id),
      outcome: { kind: 'ok' },
      state: 'available',
    },
    { operation: 'break', ask: () => store.breakLease('s', 0), outcome: { kind: 'broken' }, state: 'broken' },
  ] as const)('a $operation of an explicit lease', async ({ operation, ask, outcome, state }) => {
    const leaseId = await leased(direct, 's')
    const closed = closedDuring(operation)
    expect(await ask(leaseId)).toMatchObject(outcome)
    await closed
    expect(await leaseState()).toBe(state)
  })

  it('and the caller that acquired a lease then can release it, but nothing else', async () => {
    const closed = closedDuring('acquire')
    await acquire()
    // The maximum number of functions between the answer and the caller.
    for (let depth = 0; depth < 20; depth += 1) await undefined
    const released = store.releaseLease('s', LEASE_ID)
    await expect(store.create('new', bytes('1'), summary())).rejects.toBeInstanceOf(StoreClosed)
    await expect(store.remove('s', {})).rejects.toBeInstanceOf(StoreClosed)
    await expect(acquire()).rejects.toBeInstanceOf(StoreClosed)
    expect(await released).toMatchObject({ kind: 'ok' })
    await closed
    expect(await leaseState()).toBe('available')
    expect([proxy.count('put'), proxy.count('delete'), proxy.count('acquire')]).toEqual([0, 0, 1])
  })
})

describe('a request that closing the store finally aborts is unknown, because it may have been applied:', () => {
  beforeEach(async () => {
    await store.close()
    const waits = { ...PATIENT.waits, closeMs: 20 }
    store = await openAzuriteStore(proxy.port, { ...PATIENT, container: direct.container, waits })
  })

  const unknown = { kind: 'unknown', cause: expect.objectContaining({ message: 'the store was closed' }) }

  /** Such requests are never answered, and the store is closed when the first one has arrived. */
  function cutOff(operation: Operation): void {
    proxy.add({ kind: 'lose-answer', on: operation, silent: true, before: async () => void store.close() })
  }

  it('a create', async () => {
    cutOff('put')
    expect(await store.create('new', bytes('1'), summary())).toEqual(unknown)
    await vi.waitFor(async () => expect(await direct.read('new')).toBeDefined(), SOON)
  })

  it.each(['without', 'with'])('a removal %s an ETag, which is not retried', async which => {
    const { etag } = await stored(direct, 's')
    cutOff('delete')
    expect(await store.remove('s', which === 'with' ? { etag } : {})).toEqual(unknown)
    await vi.waitFor(async () => expect(await direct.read('s')).toBeUndefined(), SOON)
    expect(proxy.count('delete')).toBe(1)
  })

  it('an explicit acquire', async () => {
    cutOff('acquire')
    expect(await acquire()).toEqual(unknown)
    await vi.waitFor(async () => expect(await leaseState()).toBe('leased'), SOON)
  })

  it('an explicit release', async () => {
    const leaseId = await leased(direct, 's')
    cutOff('release')
    expect(await store.releaseLease('s', leaseId)).toEqual(unknown)
    await vi.waitFor(async () => expect(await leaseState()).toBe('available'), SOON)
  })

  it('but a later request is not sent, and its error says so', async () => {
    await store.close()
    await expect(store.create('new', bytes('1'), summary())).rejects.toThrow('the store was closed')
    await expect(store.releaseLease('s', LEASE_ID)).rejects.toThrow('the store was closed')
    await expect(store.read('s')).rejects.toThrow('the store was closed')
    expect(proxy.requests).toEqual([])
  })
})

describe('the lease of a change whose release is in flight', () => {
  /** The release arrives after the request sent in parallel. */
  function slowRelease(beside: Operation): void {
    const before = async () => {
      for (let turn = 0; turn < 500 && proxy.count(beside) === 0; turn += 1) await nextTurn()
      await nextTurn()
    }
    proxy.add({ kind: 'delay', on: 'release', nth: 1, before })
  }

  it('does not prevent a removal', async () => {
    slowRelease('delete')
    await change('1')
    expect(await store.remove('s', {})).toEqual({ kind: 'removed' })
  })

  it('does not count as a lease that can be broken', async () => {
    slowRelease('break')
    await change('1')
    expect(await store.breakLease('s', 0)).toEqual({ kind: 'not-leased' })
  })
})

it('a request that does not end delays closing no longer than the limit', async () => {
  const changes = new InFlightOperations()
  void changes.run(() => new Promise(() => {}))
  await expect(within(10, changes.drain())).resolves.toBeUndefined()
})
