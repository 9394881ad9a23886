import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { within } from '../../src/store/azure-releases.ts'
import { RunningChanges } from '../../src/store/azure-running.ts'
import { StoreUnreachable } from '../../src/store/errors.ts'
import type { ChangeOutcome, EventStore } from '../../src/store/store.ts'
import { changeOptions, given, put, stored, text } from '../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { type FaultProxy, type Operation, startFaultProxy } from '../support/fault-proxy.ts'
import { PATIENT, StoppedClock } from './azure-support.ts'

/** Sees the truth, past the proxy. */
let direct: EventStore & { container: string }
let proxy: FaultProxy
let store: EventStore

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

const change = (body: string): Promise<ChangeOutcome> => store.changeUnderLease('s', put(body), changeOptions())

/** Nothing to write: told only of what was read. */
const look = (): Promise<ChangeOutcome> => store.changeUnderLease('s', () => ({ kind: 'leave' }), changeOptions())

const leaseState = async (): Promise<string> => (await stored(direct, 's')).lease.state

describe('closing the store', () => {
  /** The end of a close that begins when the next such request has arrived. Its answer comes when all that is done at once is done. */
  function closedDuring(operation: Operation): Promise<void> {
    return new Promise((resolve, reject) => {
      const before = async () => {
        store.close().then(resolve, reject)
        await nextTurn()
      }
      proxy.add({ kind: 'delay', on: operation, nth: 1, before })
    })
  }

  it.each(['acquire', 'get', 'put'] as const)(
    'during the %s of a change lets it come to its end, and gives its lease back',
    async operation => {
      const closed = closedDuring(operation)
      expect(await change('1')).toMatchObject({ kind: 'committed' })
      await closed
      expect(await leaseState()).toBe('available')
      expect(proxy.count('release')).toBe(1)
    },
  )

  it('gives the lease back with which a change that has nothing to write went on', async () => {
    await change('1')
    const closed = closedDuring('get')
    expect(await look()).toEqual({ kind: 'left' })
    await closed
    expect(await leaseState()).toBe('available')
    expect(proxy.count('acquire')).toBe(1)
  })

  it('begins no further change', async () => {
    const closed = closedDuring('put')
    await change('1')
    await expect(change('2')).rejects.toBeInstanceOf(StoreUnreachable)
    await closed
    expect(text((await stored(direct, 's')).body)).toBe('1')
    expect(await leaseState()).toBe('available')
  })
})

describe('the lease of a change that is still being given back', () => {
  /** The release arrives behind what is sent beside it. */
  function slowRelease(beside: Operation): void {
    const before = async () => {
      for (let turn = 0; turn < 500 && proxy.count(beside) === 0; turn += 1) await nextTurn()
      await nextTurn()
    }
    proxy.add({ kind: 'delay', on: 'release', nth: 1, before })
  }

  it('keeps no removal out', async () => {
    slowRelease('delete')
    await change('1')
    expect(await store.remove('s', {})).toEqual({ kind: 'removed' })
  })

  it('is not taken for one that can be broken', async () => {
    slowRelease('break')
    await change('1')
    expect(await store.break('s', 0)).toEqual({ kind: 'not-leased' })
  })
})

it('what does not end is waited for no longer than the limit', async () => {
  const changes = new RunningChanges()
  void changes.run(() => new Promise(() => {}))
  await expect(within(10, changes.end())).resolves.toBeUndefined()
})
