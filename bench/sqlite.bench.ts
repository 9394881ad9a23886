import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { StreamStore } from '../src/store/store.ts'
import { bareCommits } from './lib/bare-commits.ts'
import type { Row } from './lib/bench.ts'
import { interleave } from './lib/interleave.ts'
import { change, createStream, tagging, WORK_IDS } from './lib/streams.ts'

export const name = 'sqlite'

/** Lower bounds: rates relative to bare commits, and of a group of 100 relative to single changes. */
export const limits = { distinct: 0.5, group: 8 }

const STREAMS = 300
const GROUP = 100
const ROUNDS = 15

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  const file = join(folder, 'bench.db')
  const store = openSqliteStore(file)
  try {
    const names = Array.from({ length: STREAMS }, (_, at) => `orders/${at}`)
    for (const stream of names) await createStream(store, stream)
    return [await distinctStreams(store, file, names), await groupCommit(store)]
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** One transaction on each of many streams, against bare commits of the same bodies in the same file. */
async function distinctStreams(store: StreamStore, file: string, names: readonly string[]): Promise<Row> {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA synchronous = FULL')
  const read = db.prepare('SELECT body FROM bodies ORDER BY id')
  const bodies = () => read.all().map(row => row.body as Uint8Array)
  db.exec('CREATE TABLE bench (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT')
  db.exec('INSERT INTO bench SELECT id, body FROM bodies')
  // The bodies after one change: SQLite does not write unchanged pages.
  const states = [bodies()]
  for (const stream of names) await change(store, stream, tagging('09.00'))
  states.push(bodies())
  let round = 0
  const samples = await interleave(
    {
      bare: () => bareCommits(db, states[++round % 2] ?? []),
      transact: async () => {
        const startMs = performance.now()
        for (const stream of names) await change(store, stream, tagging('09.00'))
        return performance.now() - startMs
      },
    },
    ROUNDS,
  )
  db.close()
  return {
    figure: 'transact on distinct streams / bare commits, SQLite',
    ratio: samples.bare.best / samples.transact.best,
    limit: limits.distinct,
    bound: 'at least',
    note: `${perSecond(STREAMS, samples.transact.best)} / ${perSecond(STREAMS, samples.bare.best)}`,
  }
}

/** 100 changes of one stream requested together, against the same in sequence. Each round has new streams. */
async function groupCommit(store: StreamStore): Promise<Row> {
  let streams = 0
  const measure = async (go: (stream: string) => Promise<unknown>) => {
    streams++
    const stream = `group/${streams}`
    await createStream(store, stream)
    const startMs = performance.now()
    await go(stream)
    return performance.now() - startMs
  }
  const unclaimed = WORK_IDS.slice(3)
  const targets = Array.from({ length: GROUP }, (_, at) => unclaimed[at % unclaimed.length] ?? '')
  const samples = await interleave(
    {
      single: () =>
        measure(async stream => {
          for (const event of targets) await change(store, stream, tagging(event))
        }),
      group: () => measure(stream => Promise.all(targets.map(event => change(store, stream, tagging(event))))),
    },
    ROUNDS,
  )
  return {
    figure: `group commit of ${targets.length} / one by one, SQLite`,
    ratio: samples.single.best / samples.group.best,
    limit: limits.group,
    bound: 'at least',
    note: `${perSecond(targets.length, samples.group.best)} / ${perSecond(targets.length, samples.single.best)}`,
  }
}

function perSecond(count: number, ms: number): string {
  return `${((count / ms) * 1000).toFixed(0)}/s`
}
