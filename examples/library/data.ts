// Hand data from event to event: inputs, results, and a join that works with those of its branches.
import { complete, createStream, mustReadStream, newData, openStore, readData, worker } from 'leasectl'

await using store = await openStore(process.argv[2] ?? 'memory:')
const forks = ['north', 'south'].map(shop => ({ name: 'Ask', data: JSON.stringify({ shop }) }))
await createStream(store, 'orders/4711', { by: 'shop' }, { forks, join: 'Merge' })

await worker(store, { name: ['Ask', 'Merge'], until: 'until-empty' }, async job => {
  if (job.event.name === 'Ask') {
    const input = await job.input()
    return complete('asked', { result: newData(`from ${input?.text()}`, { type: 'text/x-offer' }) })
  }
  // A join works with the results of its branches.
  const offers = await Promise.all((await job.inputs()).map(async input => (await input.read()).text()))
  job.result(offers.join('\n'))
  return complete()
})

const order = await mustReadStream(store, 'orders/4711')
const { result } = order.mustFind('01')
console.log(
  result?.type,
  result?.size,
  order.mustFind('01').inputs.map(({ event }) => event),
)
if (result) console.log((await readData(store, order, result)).text())
