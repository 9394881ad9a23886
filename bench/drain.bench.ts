import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { drain } from '../src/inbox/drain/drain.ts'
import { drainWork } from '../src/inbox/drain/work.ts'
import { createInbox, type Inbox } from '../src/inbox/inbox.ts'
import { InboxWriter } from '../src/inbox/writer.ts'
import { keepNoDocuments } from '../src/ops/transact/commit.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { StreamStore } from '../src/store/store.ts'
import type { Row } from './lib/bench.ts'
import { bodiesIn } from './lib/body-table.ts'

export const name = 'drain'

/** `streams`: a lower bound. `memory`: an upper one, of the growth while a burst of 25 times as many records is drained, in 50 MB. */
export const limits = { streams: 0.3, memory: 1 }

setFlagsFromString('--expose-gc')
/** What is kept counts, not what could be freed. */
const collectGarbage: () => void = runInNewContext('gc')

const RECORDS = 10_000
const BURST = 250_000
const PUT_TOGETHER = 5_000
const KIB = 'x'.repeat(960)
const AT_ONCE = 100
const MEMORY_MB = 50
const ROUNDS = 3
const BY = 'bench@host'

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  try {
    return [await toStreams(folder), await burst(join(folder, 'burst.db'))]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Drains to streams against inserts of the same documents in batches, in turns; the best of each. */
async function toStreams(folder: string): Promise<Row> {
  let [drainMs, insertMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round <= ROUNDS; round++) {
    const file = join(folder, `${round}.db`)
    const { ms } = await drained(file, RECORDS)
    const bareMs = inserts(join(folder, `${round}-bare.db`), bodiesIn(file, 'd/'))
    // The first round is a warm-up.
    if (round > 0) [drainMs, insertMs] = [Math.min(drainMs, ms), Math.min(insertMs, bareMs)]
  }
  const rate = (ms: number) => Math.round((RECORDS / ms) * 1_000)
  return {
    figure: `drain ${RECORDS} records of 1 KiB to streams / bare inserts of the documents in batches of ${AT_ONCE}, SQLite`,
    ratio: insertMs / drainMs,
    limit: limits.streams,
    bound: 'at least',
    note: `${rate(drainMs)}/s / ${rate(insertMs)}/s`,
  }
}

async function burst(file: string): Promise<Row> {
  const { ms, growthMb } = await drained(file, BURST)
  return {
    figure: `growth of memory while a burst of ${BURST} records is drained / ${MEMORY_MB} MB, SQLite`,
    ratio: growthMb / MEMORY_MB,
    limit: limits.memory,
    note: `${Math.round((BURST / ms) * 1_000)} records/s, ${growthMb.toFixed(0)} MB more than after the first tenth`,
  }
}

async function drained(file: string, records: number): Promise<{ readonly ms: number; readonly growthMb: number }> {
  const store = openSqliteStore(file)
  const inbox = await filled(store, records)
  const init = { op: 'init', root: { name: 'Order' }, forks: [], hold: false } as const
  // As the command does.
  keepNoDocuments(store)
  const work = drainWork(store, { kind: 'create', name: 'd/{/id}', init }, { by: BY })
  let [done, warmMb, mostMb] = [0, 0, 0]
  const observe = () => {
    done += 1
    if (done % 5_000 !== 0) return
    collectGarbage()
    const mb = process.memoryUsage.rss() / 1024 ** 2
    if (done <= records / 10) warmMb = mb
    mostMb = Math.max(mostMb, mb)
  }
  const startMs = performance.now()
  const options = { inbox, work, by: BY, concurrency: 256, once: true, observe }
  const report = await drain(store, options, new AbortController().signal)
  const ms = performance.now() - startMs
  await store.close()
  if (report.done !== records) throw new Error(`${report.done} of ${records} records became streams`)
  return { ms, growthMb: mostMb - warmMb }
}

async function filled(store: StreamStore, records: number): Promise<Inbox> {
  const outcome = await createInbox(store, 'orders', 8, { by: BY })
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  const writer = new InboxWriter(store, outcome.inbox)
  // In parts, so that the memory of putting does not hide that of draining.
  for (let from = 0; from < records; from += PUT_TOGETHER) {
    const put = (_: unknown, at: number) =>
      writer.put({ id: `o${from + at}`, json: `{"n":${from + at},"text":"${KIB}"}` })
    await Promise.all(Array.from({ length: PUT_TOGETHER }, put))
  }
  return outcome.inbox
}

/** Elapsed ms. */
function inserts(file: string, bodies: readonly Uint8Array[]): number {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE bench (name TEXT PRIMARY KEY, body BLOB)')
  const insert = db.prepare('INSERT INTO bench VALUES (?, ?)')
  const startMs = performance.now()
  for (let at = 0; at < bodies.length; at += AT_ONCE) {
    db.exec('BEGIN IMMEDIATE')
    for (const [by, body] of bodies.slice(at, at + AT_ONCE).entries()) insert.run(`d/o${at + by}`, body)
    db.exec('COMMIT')
  }
  const ms = performance.now() - startMs
  db.close()
  return ms
}
