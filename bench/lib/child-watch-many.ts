// child-watch-many PORT STREAMS: two sweeps of a watchdog over a server of canned pages, like the daemon
import { keepHeapSmall } from '../../src/cli/v8-flags.ts'
import { openStore } from '../../src/store/open.ts'
import { machineTiming } from '../../src/util/clock.ts'
import { Pass } from '../../src/watchdog/pass.ts'

const [port = '', streams = ''] = process.argv.slice(2)
await keepHeapSmall()
const store = await openStore(`azurite://127.0.0.1:${port}/sweep`, {})
const rules = { intervalMs: 10_000, onDue: 'notify', maxPerPass: 1_000, maxShare: 0.2, concurrency: 8 } as const
const settings = { trustsClock: false, isDryRun: false, timing: machineTiming, tickMs: 1_000 }
const watch = new Pass(store, { ...rules, by: 'bench', observers: [] }, settings)
const { signal } = new AbortController()
for (let sweep = 0; sweep < 2; sweep++) {
  const report = await watch.pass('sweep', signal)
  if (report.total !== Number(streams)) throw new Error(`${report.total} streams`)
}
await store.close()
