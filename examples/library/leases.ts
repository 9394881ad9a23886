// Hold the lease of a stream: in a scope that always releases it, and with separate calls.
import { randomUUID } from 'node:crypto'
import {
  acquireLease,
  breakLease,
  changeLease,
  changeStream,
  createStream,
  leaseScope,
  openStore,
  releaseLease,
  renewLease,
} from 'leasectl'

await using store = await openStore(process.argv[2] ?? 'memory:')
const name = 'orders/4711'
await createStream(store, name, { by: 'shop' }, { forks: ['Search'] })

// No other process can change the stream in the scope. The lease is renewed automatically; `lease.signal` aborts if it is lost.
const scope = await leaseScope(store, name, { by: 'audit', purpose: 'audit' }, async lease => {
  const { leaseId, signal } = lease
  const other = await changeStream(store, name, { by: 'other', leaseWaitMs: 0 }, stream => void stream.cancel())
  const own = await changeStream(store, name, { by: 'audit', leaseId, signal }, stream => {
    stream.mustFind('01.00').set({ tag: 'audited' })
  })
  return [other.kind, own.kind]
})
console.log(scope)

const taken = await acquireLease(store, name, { by: 'ann', purpose: 'repair', durationS: 30, waitMs: 2_000 })
if (taken.kind !== 'acquired') throw new Error(`not acquired: ${taken.kind}`)
const newId = randomUUID()
console.log((await renewLease(store, name, taken.leaseId)).kind)
console.log((await changeLease(store, name, taken.leaseId, newId)).kind)
console.log((await renewLease(store, name, taken.leaseId)).kind)
console.log((await releaseLease(store, name, newId)).kind)

await acquireLease(store, name, { by: 'a process that died', durationS: -1 })
console.log(await breakLease(store, name, { by: 'ann', why: 'its process died' }))
