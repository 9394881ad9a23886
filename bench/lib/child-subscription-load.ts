// child-subscription-load FILE STREAMS CHANGES: changes 1 000 streams a second, each once, spread over all
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { change, tagging } from './streams.ts'

const [file = '', streams = '', changes = ''] = process.argv.slice(2)
const PART = 100
const PART_MS = 100

const store = openSqliteStore(file)
const stride = Math.floor(Number(streams) / Number(changes))
const startMs = performance.now()
for (let at = 0; at < Number(changes); at += PART) {
  const part = Array.from({ length: PART }, (_, index) => 2 + (at + index) * stride)
  await Promise.all(part.map(number => change(store, `orders/${String(number).padStart(6, '0')}`, tagging('09.00'))))
  const restMs = startMs + (at / PART + 1) * PART_MS - performance.now()
  if (restMs > 0) await new Promise(resolve => setTimeout(resolve, restMs))
}
await store.close()
process.stdout.write(`${JSON.stringify({ tookMs: performance.now() - startMs })}\n`)
