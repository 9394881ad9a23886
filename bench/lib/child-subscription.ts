// child-subscription FILE CHANGES: runs a subscription until it has delivered a number of changes; prints its figures
import { keepHeapSmallest } from '../../src/cli/v8-flags.ts'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { runSubscription } from '../../src/subscriptions/engine.ts'

const [file = '', changes = '', intervalMs = ''] = process.argv.slice(2)
await keepHeapSmallest()
const inner = await openStore(`sqlite:${file}`, {})
const stop = new AbortController()
let last: Parameters<StreamStore['update']> | undefined
let writes = 0

/** Counts the writes of positions. */
const store: StreamStore = Object.assign(Object.create(inner) as StreamStore, {
  nowMs: () => inner.nowMs(),
  list: inner.list.bind(inner),
  read: inner.read.bind(inner),
  create: inner.create.bind(inner),
  acquireLease: inner.acquireLease.bind(inner),
  renewLease: inner.renewLease.bind(inner),
  releaseLease: inner.releaseLease.bind(inner),
  async update(...args: Parameters<StreamStore['update']>) {
    writes += 1
    last = args
    return inner.update(...args)
  },
})

const delays: number[] = []
/** Each stream changes once. */
const seen = new Uint8Array(1_000_000)
let delivered = 0
let startMs = 0
let repeated = 0
const spec = { name: 'bench', match: [], notMatch: [], ops: [], eventNames: [], doneOnly: false, shards: 8 }
await runSubscription(
  store,
  {
    spec,
    by: 'bench@host',
    concurrency: 32,
    intervalMs: Number(intervalMs),
    observer: {
      progress({ shards }) {
        if (startMs === 0 && shards === spec.shards) {
          startMs = performance.now()
          writes = 0
          process.stdout.write('ready\n')
        }
      },
    },
    async handler({ stream, transaction: { at } }) {
      const number = Number(stream.slice(-6))
      if (seen[number] === 1) repeated += 1
      else delivered += 1
      seen[number] = 1
      delays.push(Date.now() - Date.parse(at))
      if (delivered === Number(changes)) stop.abort()
      return { kind: 'handled' }
    },
  },
  stop.signal,
)
const tookMs = performance.now() - startMs
delays.sort((a, b) => a - b)
const positionMs = writes * (await writeMs())
const at = (share: number) => delays[Math.floor(delays.length * share)]
await inner.close()

/** One more write of the last position, ms, the median of several, without another writer to wait for. */
async function writeMs(): Promise<number> {
  if (last === undefined) throw new Error('no position was written')
  const [name, decide, { leaseId: _, ...options }] = last
  const tookMs: number[] = []
  for (let round = 0; round < 21; round++) {
    const beginMs = performance.now()
    await inner.update(name, decide, options)
    tookMs.push(performance.now() - beginMs)
  }
  return tookMs.sort((a, b) => a - b)[10] ?? 0
}
process.stdout.write(
  `${JSON.stringify({ delivered, repeated, medianMs: at(0.5), p99Ms: at(0.99), tookMs, positionShare: positionMs / tookMs, writes })}\n`,
)
