import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { StreamStore } from '../src/store/store.ts'
import type { Row } from './lib/bench.ts'
import { multiply } from './lib/multiply.ts'
import { peakMemoryMb } from './lib/peak-memory.ts'
import { processorMs } from './lib/processor-time.ts'
import { change, createStream, tagging } from './lib/streams.ts'

export const name = 'tail'

/** Upper bounds: shares of a core, of one interval plus 100 ms, and of 150 MB. */
export const limits = { idle: 0.01, latency: 1, memory: 1 }

const QUIET_STREAMS = 1_000
const MANY_STREAMS = 100_000
const INTERVAL_MS = 1_000
const WATCHED_MS = 20_000
const CHANGES = 8
const MEMORY_MB = 150
const LEASECTL = fileURLToPath(new URL('../bin/leasectl.js', import.meta.url))

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  try {
    return [...(await quiet(join(folder, 'quiet.db'))), ...(await memory(join(folder, 'many.db')))]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function storeOf(file: string, streams: number): Promise<StreamStore> {
  const store = openSqliteStore(file)
  await createStream(store, 'orders/000000')
  multiply(file, streams)
  return store
}

/** Cost of following idle streams, and the delay until a change is shown. */
async function quiet(file: string): Promise<Row[]> {
  const store = await storeOf(file, QUIET_STREAMS)
  const interval = ['--interval', `${INTERVAL_MS}ms`]
  const child = spawn(process.execPath, [
    LEASECTL,
    'tail',
    '--all',
    '-f',
    '-n',
    '0',
    ...interval,
    '--store',
    `sqlite:${file}`,
  ])
  try {
    await sleep(5 * INTERVAL_MS)
    const before = await processorMs(child.pid)
    await sleep(WATCHED_MS)
    const share = ((await processorMs(child.pid)) - before) / WATCHED_MS
    const latencies: number[] = []
    for (let at = 0; at < CHANGES; at++) {
      await sleep((INTERVAL_MS * at) / CHANGES)
      latencies.push(await nextOutput(child, () => change(store, 'orders/000002', tagging('09.00'))))
    }
    const worst = Math.max(...latencies)
    return [
      {
        figure: `processor time of tail -f over ${QUIET_STREAMS} quiet streams / a core, SQLite`,
        ratio: share,
        limit: limits.idle,
        note: `${(share * 1000).toFixed(1)} ms a second`,
      },
      {
        figure: `change until tail -f shows it, worst of ${CHANGES} / interval + 100 ms`,
        ratio: worst / (INTERVAL_MS + 100),
        limit: limits.latency,
        note: `${worst.toFixed(0)} ms`,
      },
    ]
  } finally {
    child.kill('SIGKILL')
    await store.close()
  }
}

/** Makes a change; ms until the process prints it. */
async function nextOutput(child: ChildProcess, happen: () => Promise<void>): Promise<number> {
  const said = new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve())
    child.once('exit', code => reject(new Error(`tail ended with ${code}`)))
  })
  await happen()
  const startMs = performance.now()
  await said
  return performance.now() - startMs
}

/** Peak memory over all streams of a large store, all recently changed. */
async function memory(file: string): Promise<Row[]> {
  const store = await storeOf(file, MANY_STREAMS)
  await store.close()
  const commands = {
    ls: ['ls', '-o', 'ndjson'],
    tail: ['tail', '--all', '--since', '1h', '-o', 'ndjson'],
    log: ['log', '--all', '--since', '1h', '-o', 'ndjson'],
  }
  const rows: Row[] = []
  for (const [command, words] of Object.entries(commands)) {
    const peakMb = await peakMemoryMb([process.execPath, LEASECTL, ...words, '--store', `sqlite:${file}`])
    rows.push({
      figure: `memory of ${command} -o ndjson over ${MANY_STREAMS} streams / ${MEMORY_MB} MB`,
      ratio: peakMb / MEMORY_MB,
      limit: limits.memory,
      note: `${peakMb.toFixed(0)} MB`,
    })
  }
  return rows
}
