import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { StreamStore } from '../../../../src/store/store.ts'
import { openAzuriteStore, sharedAzurite } from '../../../support/azurite.ts'
import { type FaultProxy, startFaultProxy } from '../../../support/fault-proxy.ts'
import { limitToEnd, PATIENT, SOON } from './support.ts'

/** More than the attempts of a request. */
const IDLE = 6

let proxy: FaultProxy
let store: StreamStore

beforeEach(async () => {
  proxy = await startFaultProxy({ target: { port: (await sharedAzurite()).port } })
  store = await openAzuriteStore(proxy.port, PATIENT)
})

afterEach(async () => {
  await store.close()
  await proxy.stop()
})

/** Parallel reads, each with a connection, which is idle afterwards. */
async function connect(): Promise<void> {
  let go = () => {}
  const together = new Promise<void>(resolve => {
    go = resolve
  })
  const isLast = () => proxy.count('get') === IDLE
  proxy.add({ kind: 'delay', on: 'get', before: async () => (isLast() ? go() : together) })
  await Promise.all(Array.from({ length: IDLE }, () => store.read('none')))
  proxy.heal()
  proxy.reset()
}

describe('connections that failed unnoticed while they were idle', () => {
  it.each([false, true])('cost one attempt in total, not one each (silent: %s)', async silent => {
    await connect()
    const endLimit = limitToEnd()
    proxy.add({ kind: 'dead-socket', silent, when: ({ connection }) => connection <= IDLE + 1 })
    const read = store.read('none')
    await vi.waitUntil(() => proxy.injected.length > 0, SOON)
    if (silent) endLimit()
    expect(await read).toBeUndefined()
    expect(proxy.injected).toHaveLength(1)
  })

  it('of another store do not affect this store', async () => {
    const other = await startFaultProxy({ target: { port: (await sharedAzurite()).port } })
    const otherStore = await openAzuriteStore(other.port)
    await connect()
    other.add({ kind: 'dead-socket' })
    expect(await otherStore.read('none')).toBeUndefined()
    expect(other.injected).toHaveLength(1)
    await store.read('none')
    expect(proxy.requests.map(({ reused }) => reused)).toEqual([true])
    await otherStore.close()
    await other.stop()
  })
})
