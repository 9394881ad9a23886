import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { openStore } from '../../../src/store/open.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import { type FaultProxy, type FaultProxyOptions, startFaultProxy } from '../../support/fault-proxy.ts'
import { inFile } from '../../unit/store/sqlite/support.ts'
import { newUser, type User } from '../program.ts'
import { eventually } from './poll.ts'
import { startWatchdog, type WatchdogProcess } from './watchdog-process.ts'

export interface ProxiedStore {
  /** The store of the test, without faults. */
  readonly store: StreamStore
  readonly proxy: FaultProxy
  /** The store of the program. */
  readonly address: string
}

/** A user, stores and watchdogs of one test file, whose tests may run in parallel. */
export interface World {
  readonly user: User
  /** A fresh embedded store. */
  sqlite(): Promise<StreamStore>
  /** A fresh container of the emulator, behind a proxy of its own. */
  proxied(options?: Omit<FaultProxyOptions, 'target'>): Promise<ProxiedStore>
  watchdog(store: string, flags: readonly string[], env?: Record<string, string>): WatchdogProcess
  /** Ends and removes all of it. @throws when a process that was started for it still runs */
  leave(): Promise<void>
}

export async function newWorld(): Promise<World> {
  const user = await newUser()
  const opened: (() => Promise<void>)[] = []
  const keep = <Store extends StreamStore>(store: Store): Store => {
    opened.push(() => store.close())
    return store
  }
  return {
    user,
    async sqlite() {
      const store = keep(await openStore(`sqlite:${join(user.home, `${randomUUID()}.db`)}`, {}))
      await store.createContainer()
      return store
    },
    async proxied(options) {
      const { port } = await sharedAzurite()
      const store = keep(await openAzuriteStore(port))
      const proxy = await startFaultProxy({ ...options, target: { port } })
      opened.push(() => proxy.stop())
      return { store, proxy, address: `azurite://127.0.0.1:${proxy.port}/${store.container}` }
    },
    watchdog: (store, flags, env) => startWatchdog(user, store, flags, env),
    async leave() {
      user.leave()
      for (const close of opened) await close()
      await eventually('no process is left', () => user.processesWith(user.home).length === 0 || undefined)
    },
  }
}

/** A row of the embedded store in the file: streams and system documents. */
export interface Row {
  readonly name: string
  readonly etag: string
  /** Its lease runs. */
  readonly isLeased: boolean
}

export function rowsOf({ address }: StreamStore): readonly Row[] {
  const sql = 'SELECT name, etag, lease_until_ms AS untilMs FROM streams ORDER BY name'
  const rows = inFile(address.slice('sqlite:'.length), db => db.prepare(sql).all())
  return rows.map(({ name, etag, untilMs }) => ({
    name: String(name),
    etag: String(etag),
    isLeased: Number(untilMs ?? 0) > Date.now(),
  }))
}
