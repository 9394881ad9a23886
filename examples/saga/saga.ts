// A saga: an order starts an invoice, and an invoice that fails cancels its order. Each reaction is a subscription; what it sends
// to other streams is executed once, even if this program is killed at any point and started again.

import { createStream, mustReadStream, openStore, type SubscriptionHandler, subscribe, transact } from 'leasectl'

await using store = await openStore('sqlite:saga.db')
const over = new AbortController()
await createStream(store, 'orders/4711', { by: 'shop' }, { root: 'Order', forks: ['Ship'] })

/** An order is there: its invoice is made. */
const bill: SubscriptionHandler = async ({ stream, op }, { send }) => {
  if (op === 'init') await send({ do: 'init', stream: `invoices/${stream}`, root: 'Invoice', forks: ['Charge'] })
}

/** A step of the invoice has failed: the order is canceled. That it has ended meanwhile is no error. */
const compensate: SubscriptionHandler = async ({ stream, changes }, { send }) => {
  if (!changes.some(({ to }) => to === 'aborted')) return
  const order = stream.slice('invoices/'.length)
  await send({ do: 'cancel', stream: order, msg: `${stream} failed`, ifRefused: 'ignore' })
}

const running = [
  subscribe(store, { as: 'bill', match: 'orders/**', from: 'start', intervalMs: 100, drain: over.signal }, bill),
  subscribe(
    store,
    { as: 'compensate', match: 'invoices/**', from: 'start', intervalMs: 100, drain: over.signal },
    compensate,
  ),
]

await until(async () => (await store.read('invoices/orders/4711')) !== undefined)
await transact(store, 'invoices/orders/4711', { op: 'fail', event: '01.00', msg: 'card declined' }, { by: 'bank' })
await until(async () => (await mustReadStream(store, 'orders/4711')).isDone)

over.abort()
await Promise.all(running)
for (const name of ['orders/4711', 'invoices/orders/4711']) {
  for (const { version, op, by } of (await mustReadStream(store, name)).history) {
    console.log(`${name} v${version} ${op} by ${by.replace(/@.*/, '')}`)
  }
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise(resolve => setTimeout(resolve, 20))
}
