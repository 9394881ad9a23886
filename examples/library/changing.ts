// Read a stream and change it: several steps in one write, all or nothing.
import { changeStream, createStream, EventNotFound, mustReadStream, openStore, type StreamEditor } from 'leasectl'

await using store = await openStore(process.argv[2] ?? 'memory:')
const name = 'orders/4711'
await createStream(store, name, { by: 'shop' }, { forks: ['Search', 'Pay'], join: 'Ship' })

const stream = await mustReadStream(store, name)
console.log(stream.isDone, stream.mustFind('01.00').name, stream.find('07.00'), stream.root.successors.length)
console.log((await stream.select("./Event[@status='init']")).map(event => event.id))
console.log(await stream.values('count(./Event)'))

// Decided on the state at the moment of writing. The id of the triggering message makes a repetition safe.
const searched = (order: StreamEditor) => {
  const search = order.mustFind('01.00')
  if (!search.isOpen) return
  search.set({ tag: 'quick' }).advance({ forks: ['Ask north', 'Ask south'] })
  for (const ask of search.successors) ask.complete('nothing in stock')
}
for (const time of ['first', 'second']) {
  const outcome = await changeStream(store, name, { by: 'search', commandId: 'message-17' }, searched)
  if (outcome.kind === 'done') console.log(time, outcome.duplicate, outcome.results.at(-1)?.closed)
}

// The second step is refused, so the first is not written either.
const refused = await changeStream(store, name, { by: 'till' }, order => {
  order.mustFind('02.00').complete('paid')
  order.mustFind('01.00').complete('again')
})
if (refused.kind === 'refused') console.log(refused.refusal.code, refused.refusal.event)

// Change the stream only if it is still in the state that was read.
const seen = await mustReadStream(store, name)
await changeStream(store, name, { by: 'till' }, order => void order.mustFind('02.00').complete('paid'))
const late = await changeStream(store, name, { by: 'operator', ...seen.pin }, order => void order.cancel('too slow'))
console.log(late.kind === 'refused' && late.refusal.code)

try {
  await changeStream(store, name, { by: 'till' }, order => void order.mustFind('09.00'))
} catch (error) {
  console.log(error instanceof EventNotFound && error.code)
}
