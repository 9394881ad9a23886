// A read model: a table with one row for each order, in a database of its own. A transaction may be handed over twice if this
// program is killed; the version in the row makes the second time harmless. Delete the table and reset the subscription, and it is
// built again from the beginning.

import { DatabaseSync } from 'node:sqlite'
import { openStore, subscribe } from 'leasectl'

const [address = 'sqlite:orders.db', file = 'read-model.db', seconds = '0'] = process.argv.slice(2)
await using store = await openStore(address)
const db = new DatabaseSync(file)
db.exec('create table if not exists orders (stream primary key, born, version, steps, done) without rowid')

// Only a later version changes the row; a stream that was removed and made anew begins at 1.
const write = db.prepare(`
  insert into orders values (:stream, :born, :version, 1, :done)
  on conflict (stream) do update set born = :born, version = :version, done = :done,
    steps = case when born = :born then steps + 1 else 1 end
  where version < :version or (born <> :born and :version = 1)`)

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())
if (Number(seconds) > 0) setTimeout(() => stop.abort(), Number(seconds) * 1_000)

const options = { as: 'read-model', match: 'orders/**', from: 'start', drain: stop.signal } as const
await subscribe(store, options, ({ stream, born, version, done }) => {
  write.run({ stream, born, version, done: done ? 1 : 0 })
})

for (const { stream, version, done } of db.prepare('select * from orders').all()) {
  console.log(`${stream} version ${version}${done === 1 ? ', done' : ''}`)
}
