// child-change-own FOLDER AT EACH: changes its own streams, or bodies of the same bytes, on command
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { BodyTable, bodiesIn } from './body-table.ts'
import { change, createStream, tagging } from './streams.ts'

/** Warm-up changes on another store: workers run long, with compiled code. */
const WARM_CHANGES = 2_000

const [folder = '', at = '', each = ''] = process.argv.slice(2)
const file = join(folder, 'processes.db')
await warmUp()
const store = openSqliteStore(file)
const names = Array.from({ length: Number(each) }, (_, next) => `own/${at}/${String(next).padStart(4, '0')}`)
for (const stream of names) await createStream(store, stream)
let bodies = bodiesIn(file, `own/${at}/`)
const table = new BodyTable(join(folder, 'bare-processes.db'), bodies, Number(at))
console.log('[]')

for await (const word of createInterface({ input: process.stdin })) {
  const took: number[] = []
  if (word === 'prepare') bodies = bodiesIn(file, `own/${at}/`)
  else if (word === 'bare') table.update(bodies, 1, took)
  else await changeAll(took)
  console.log(JSON.stringify(took))
}
table.close()
await store.close()

async function warmUp(): Promise<void> {
  const elsewhere = openSqliteStore(join(folder, `warm-${at}.db`))
  const streams = Array.from({ length: WARM_CHANGES / 20 }, (_, next) => `warm/${next}`)
  for (const stream of streams) await createStream(elsewhere, stream)
  for (let made = 0; made < WARM_CHANGES; made += 1) {
    await change(elsewhere, streams[made % streams.length] ?? '', tagging('09.00'))
  }
  await elsewhere.close()
}

/** Starts each change when the previous one is durable. */
async function changeAll(took: number[]): Promise<void> {
  for (const stream of names) {
    const startMs = performance.now()
    await change(store, stream, tagging('09.00'))
    took.push(performance.now() - startMs)
  }
}
