// Works on the same documents as a .NET program from 2013: reads what it wrote, and writes what it can read.
import { complete, mustReadStream, openStore, workOn } from 'leasectl'

await using store = await openStore(process.argv[2] ?? 'memory:')
const name = 'orders/4712'

const before = await mustReadStream(store, name)
const waiting = before.waitingOn.map(event => event.id)
console.log(`v${before.version} of ${new Date(before.root.createdMs ?? 0).toISOString()} waits on ${waiting}`)

await workOn(store, name, '02.00', { owner: 'ts-1' }, () => complete('3 results'))

const after = await mustReadStream(store, name)
for (const { version, op, on } of after.history) console.log(`v${version} ${op} ${on}`.trim())
