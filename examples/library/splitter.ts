// Splitter and aggregator, with nested splits: an order is searched in two shops, and each shop has pages. The worker that
// fetches the last page of a shop releases its merge; the worker that merges the last shop releases the offer.
import {
  advance,
  complete,
  createStream,
  mustReadStream,
  onDone,
  onJoined,
  openStore,
  type WorkerOptions,
  worker,
} from 'leasectl'

await using store = await openStore(process.argv[2] ?? 'memory:')
const name = 'orders/4711'
const shops = [
  { name: 'Search', key: 'north' },
  { name: 'Search', key: 'south' },
]
await createStream(store, name, { by: 'shop' }, { root: 'Order', forks: shops, join: 'Offer' })

// Called for exactly one of the workers that end a branch: the last one. A real program would send a message here.
const joined = onJoined(join => console.log(`the branches of ${join} have ended`))
const over = new AbortController()
const ended = onDone(() => over.abort())

const options: WorkerOptions = {
  name: ['Search', 'Fetch', 'Merge', 'Offer'],
  concurrency: 4,
  drain: over.signal,
  afterWrite: async result => {
    await joined(result)
    await ended(result)
  },
}
await worker(store, options, async job => {
  const { id, name: step, key } = job.event
  if (step === 'Search') {
    const pages = [1, 2, 3].map(page => ({ name: 'Fetch', key: `${key} ${page}` }))
    return advance({ forks: pages, join: 'Merge' })
  }
  if (step === 'Fetch') return complete(`${key.length} offers of ${key}`)
  // A merge and the offer read the results of the branches beside them.
  const stream = await mustReadStream(store, job.stream, { signal: job.signal })
  const branches = stream.mustFind(id).parent?.successors.filter(event => event.id !== id) ?? []
  return complete(`made of ${branches.map(event => event.id).join(', ')}`)
})

const stream = await mustReadStream(store, name)
const events = stream.events.toSorted((a, b) => (a.id < b.id ? -1 : 1))
for (const { id, name: step, status, msg } of events) console.log(`${id} ${step} ${status} ${msg}`.trim())
