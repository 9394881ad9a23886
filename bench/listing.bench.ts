import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { StreamStore } from '../src/store/store.ts'
import type { Row } from './lib/bench.ts'
import { interleave } from './lib/interleave.ts'
import { multiply } from './lib/multiply.ts'
import { peakMemoryMb } from './lib/peak-memory.ts'
import { createStream } from './lib/streams.ts'

export const name = 'listing'

/** Upper bounds: time of a page relative to the bare query; memory of a listing relative to one of half the length. */
export const limits = { duePage: 1.5, memory: 1.25 }

const STREAMS = 100_000
const PAGE = 200
const ROUNDS = 40
const LEASECTL = fileURLToPath(new URL('../bin/leasectl.js', import.meta.url))

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  const file = join(folder, 'bench.db')
  const store = openSqliteStore(file)
  try {
    await createStream(store, 'orders/000000')
    multiply(file, STREAMS)
    return [await pageByDue(store, file), await memory(file)]
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The next 200 due streams, against a bare query of the same columns from a covering index, with their summaries parsed. */
async function pageByDue(store: StreamStore, file: string): Promise<Row> {
  const db = new DatabaseSync(file)
  const columns = (db.prepare("SELECT name FROM pragma_table_info('streams')").all() as { name: string }[]).map(
    column => column.name,
  )
  db.exec(`CREATE TABLE bench AS SELECT * FROM streams`)
  const rest = columns.filter(column => column !== 'due_ms')
  db.exec(`CREATE INDEX bench_due ON bench (due_ms, ${rest.join(', ')})`)
  const bare = db.prepare(
    `SELECT ${columns.join(', ')} FROM bench WHERE due_ms IS NOT NULL ORDER BY due_ms, name LIMIT ${PAGE}`,
  )
  const samples = await interleave(
    {
      bare: () => elapsed(() => bare.all().map(({ summary }) => JSON.parse(String(summary)))),
      page: () =>
        elapsed(async () => {
          let rows = 0
          for await (const page of store.list({ order: 'due', limit: PAGE })) rows += page.length
          if (rows !== PAGE) throw new Error(`${rows} rows`)
        }),
    },
    ROUNDS,
  )
  db.exec('DROP TABLE bench')
  db.close()
  return {
    figure: `page of ${PAGE} of ${STREAMS} by due time / bare covering-index query`,
    ratio: samples.page.best / samples.bare.best,
    limit: limits.duePage,
    note: `${samples.page.best.toFixed(2)} ms / ${samples.bare.best.toFixed(2)} ms`,
  }
}

/** Peak memory of `ls -o ndjson` for all streams against half of them: twice as many must not need more. */
async function memory(file: string): Promise<Row> {
  const ls = (...more: string[]) => [
    process.execPath,
    LEASECTL,
    'ls',
    '-o',
    'ndjson',
    '--store',
    `sqlite:${file}`,
    ...more,
  ]
  const half = await peakMemoryMb(ls('--limit', String(STREAMS / 2)))
  const all = await peakMemoryMb(ls())
  return {
    figure: `memory of ls -o ndjson, ${STREAMS} streams / ${STREAMS / 2}`,
    ratio: all / half,
    limit: limits.memory,
    note: `${all.toFixed(0)} MB / ${half.toFixed(0)} MB`,
  }
}

async function elapsed(work: () => unknown): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}
