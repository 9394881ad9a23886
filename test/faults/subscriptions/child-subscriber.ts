/** A process of a subscription that writes down each delivery until it is killed. Argument: `SubscriberOrders`. */
import { appendFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { runSubscription } from '../../../src/subscriptions/engine.ts'
import { openAzurite } from '../load/crew-orders.ts'
import type { SubscriberOrders } from './orders.ts'

const { group, shards, intervalMs, log, place }: SubscriberOrders = JSON.parse(process.argv[2] ?? '')
const store: StreamStore = place.kind === 'sqlite' ? openSqliteStore(place.file) : await openAzurite(place)
const stop = new AbortController()
process.once('disconnect', () => process.exit())
process.once('message', () => stop.abort())
// Node would do so at the end, but this process is killed.
flushCompileCache()
await runSubscription(
  store,
  {
    spec: { name: group, match: ['orders/**'], notMatch: [], ops: [], eventNames: [], doneOnly: false, shards },
    fromMs: 0,
    by: `${group}@test`,
    concurrency: 8,
    intervalMs,
    async handler({ stream, transaction: { version } }) {
      // One write of one line: a killed process leaves no half of it.
      appendFileSync(log, `${stream} ${version}\n`)
      return { kind: 'handled' }
    },
  },
  stop.signal,
)
await store.close()
process.exit()
