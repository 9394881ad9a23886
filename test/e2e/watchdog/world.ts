import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { readAside } from '../../../src/ops/aside.ts'
import { openStore } from '../../../src/store/open.ts'
import type { EventStore } from '../../../src/store/store.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import type { User } from '../program.ts'

/** A fresh embedded store in the user's home. */
export async function newSqlite(user: User): Promise<EventStore> {
  const store = await openStore(`sqlite:${join(user.home, `${randomUUID()}.db`)}`, {})
  onTestFinished(() => store.close())
  await store.createContainer()
  return store
}

export interface ProxiedStore {
  /** As the test sees it, without faults. */
  readonly store: EventStore
  readonly proxy: FaultProxy
  /** As the program sees it. */
  readonly address: string
}

/** A fresh container of the emulator, behind a proxy of its own. */
export async function newProxied(delayMs = 0): Promise<ProxiedStore> {
  const { port } = await sharedAzurite()
  const store = await openAzuriteStore(port)
  const proxy = await startFaultProxy({ target: { port }, delayMs })
  onTestFinished(async () => {
    await proxy.stop()
    await store.close()
  })
  return { store, proxy, address: `azurite://127.0.0.1:${proxy.port}/${store.container}` }
}

/** Names of the tool's own documents that are there, of some that a watchdog makes. */
export async function ownDocuments(store: EventStore, names: readonly string[]): Promise<readonly string[]> {
  const texts = await Promise.all(names.map(name => readAside(store, name)))
  return names.filter((_, at) => texts[at] !== undefined)
}
