// A pipeline: each worker does one step and names the next, which another worker claims. Here all three run in one process;
// they could as well run in separate processes, on separate machines.
import { advance, complete, createStream, follow, openStore, type Work, worker } from 'leasectl'

await using store = await openStore(process.argv[2] ?? 'memory:')
const letter = 'letters/1'
await createStream(store, letter, { by: 'mailroom' }, { root: 'Letter', forks: [{ name: 'Scan', ref: 'tray 7' }] })

const steps: Record<string, Work> = {
  Scan: job => advance({ next: { name: 'Read', ref: job.event.ref.replace('tray ', 'scan-') } }),
  Read: job => advance({ next: { name: 'File', ref: `${job.event.ref}.txt` } }),
  File: job => complete(`filed ${job.event.ref}`),
}
const over = new AbortController()
const workers = Object.entries(steps).map(([name, work]) =>
  worker(store, { name, owner: name.toLowerCase(), drain: over.signal, maxIdleMs: 50 }, work),
)

for await (const item of follow(store, letter, { intervalMs: 20 })) {
  if (item.kind === 'transaction') console.log(`v${item.tx.version} ${item.tx.by} ${item.tx.op} ${item.tx.on}`)
  if (item.kind === 'done') break
}
over.abort()
await Promise.all(workers)
