/** A process of several workers that load a store, until the test sends `over` or ends. Argument: `ChildOrders`. */
import { flushCompileCache } from 'node:module'
import { seededRandom } from '../../support/faults.ts'
import { HistoryWriter } from '../history/history.ts'
import { type ChildOrders, openAzurite } from './crew-orders.ts'
import { load } from './load.ts'

const orders: ChildOrders = JSON.parse(process.argv[2] ?? '')
const { who, workers, path, seed, streams, shortLived, open } = orders
let isOver = false
process.once('message', () => {
  isOver = true
})
process.once('disconnect', () => process.exit())
const shared = await openAzurite(orders)
let changes = 0

await Promise.all(
  Array.from({ length: workers }, async (_, at) => {
    // Some workers share a store and their changes a write, others are independent.
    const store = at % 2 === 0 ? shared : await openAzurite(orders)
    const name = `${who}w${at}`
    await load({
      store,
      who: name,
      history: HistoryWriter.toFile(name, path),
      random: seededRandom(seed + at),
      streams,
      shortLived,
      open: open.filter((_change, index) => index % workers === at),
      isOver: () => isOver,
      made,
    })
    if (store !== shared) await store.close()
  }),
)
await shared.close()
process.exit()

function made(): void {
  process.send?.('made')
  changes += 1
  // Node would do so at the end, but most are killed before: their successors start with the code compiled so far.
  if (changes === 20) flushCompileCache()
}
