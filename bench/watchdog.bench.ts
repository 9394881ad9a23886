import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { Row } from './lib/bench.ts'
import { withBundled } from './lib/bundled.ts'
import { interleave } from './lib/interleave.ts'
import { startListServer } from './lib/list-server.ts'
import { multiply } from './lib/multiply.ts'
import { peakMemoryMb } from './lib/peak-memory.ts'
import { processorMs } from './lib/processor-time.ts'
import { createStream } from './lib/streams.ts'
import { sweepAzurite } from './lib/sweep-azurite.ts'

export const name = 'watchdog'

/** Upper bounds, relative to 400 MB, to the same query over a hundredth of the rows, and to a core. */
export const limits = { memory: 1, dueQuery: 3, idle: 0.01 }

const MEMORY_MB = 400
const FEW = 10_000
const MANY = 1_000_000
const PAGE = 200
const WATCHED_MS = 40_000
const LEASECTL = fileURLToPath(new URL('../bin/leasectl.js', import.meta.url))
const WATCH_MANY = 'bench/lib/child-watch-many.ts'

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  try {
    const files = { few: join(folder, 'few.db'), many: join(folder, 'many.db') }
    await storeOf(files.few, FEW)
    await storeOf(files.many, MANY)
    return [...(await sweepAzurite()), await dueQuery(files), await memory(), await idle(files.few)]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function storeOf(file: string, streams: number): Promise<void> {
  const store = openSqliteStore(file)
  await createStream(store, 'orders/000000')
  multiply(file, streams, { shareBody: true })
  await store.close()
}

/** The next due streams: the time must not depend on the number of streams. */
async function dueQuery(files: { readonly few: string; readonly many: string }): Promise<Row> {
  const page = (file: string) => {
    const store = openSqliteStore(file)
    return async () => {
      const startMs = performance.now()
      for await (const rows of store.list({ order: 'due', limit: PAGE })) if (rows.length !== PAGE) throw new Error()
      return performance.now() - startMs
    }
  }
  const { few, many } = await interleave({ few: page(files.few), many: page(files.many) }, 40)
  return {
    figure: `the ${PAGE} due next of ${MANY} streams / of ${FEW}, SQLite`,
    ratio: many.median / few.median,
    limit: limits.dueQuery,
    note: `${many.median.toFixed(2)} ms / ${few.median.toFixed(2)} ms`,
  }
}

/** Memory of a watchdog with very many streams on Azure: two sweeps over canned pages. */
async function memory(): Promise<Row> {
  const server = await startListServer(MANY)
  const args = [String(server.port), String(MANY)]
  const peakMb = await withBundled(WATCH_MANY, ({ child }) => peakMemoryMb([process.execPath, child, ...args])).finally(
    () => server.stop(),
  )
  return {
    figure: `memory of a watchdog over ${MANY} streams / ${MEMORY_MB} MB`,
    ratio: peakMb / MEMORY_MB,
    limit: limits.memory,
    note: `${peakMb.toFixed(0)} MB`,
  }
}

/** Cost of watching idle streams. */
async function idle(file: string): Promise<Row> {
  const words = ['watchdog', '--interval', '10s', '--on-due', 'notify', '--store', `sqlite:${file}`]
  const child: ChildProcess = spawn(process.execPath, [LEASECTL, ...words], { stdio: 'ignore' })
  try {
    await sleep(12_000)
    const before = await processorMs(child.pid)
    await sleep(WATCHED_MS)
    const share = ((await processorMs(child.pid)) - before) / WATCHED_MS
    return {
      figure: `processor time of a watchdog over ${FEW} streams, interval 10s / a core, SQLite`,
      ratio: share,
      limit: limits.idle,
      note: `${(share * 1000).toFixed(1)} ms a second`,
    }
  } finally {
    child.kill('SIGKILL')
  }
}
