// child-leasectl PROCESSES CONCURRENCY FILE: leasectl on SQLite
import { createStream, onDone, openStore, type WorkerEvent, worker } from '../../src/index.ts'
import { countdown, join, measure, step, together } from './job.mjs'

const [processes, concurrency, file] = process.argv.slice(2)
const store = await openStore(`sqlite:${file}`)
await store.createContainer()
const drain = new AbortController()
let tell = () => {}

const working = worker(
  store,
  {
    name: ['step', 'join'],
    concurrency: Number(concurrency),
    drain: drain.signal,
    afterWrite: onDone(() => tell()),
    observe,
  },
  ({ event }) => {
    if (event.name === 'join') join()
    else step()
    return undefined
  },
)

// The root is the stream's root event, which waits for the others.
const parts = { root: 'order', forks: ['step', 'step', 'step'], join: 'join' }

await measure(Number(processes), async (many, label) => {
  const ended = countdown(many)
  tell = ended.tell
  await together(many, async at => {
    const outcome = await createStream(store, `${label}/${at}`, { by: 'bench' }, parts)
    if (outcome.kind !== 'done') throw new Error(`${label}/${at}: ${outcome.kind}`)
  })
  await ended.promise
})
drain.abort()
await working
await store.close()

function observe(happening: WorkerEvent): void {
  if (happening.kind === 'fault') throw happening.error
}
