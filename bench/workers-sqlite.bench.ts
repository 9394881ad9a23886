import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { StreamStore } from '../src/store/store.ts'
import type { Row } from './lib/bench.ts'
import { BodyTable, bodiesIn } from './lib/body-table.ts'
import { change, createStream, tagging } from './lib/streams.ts'

export const name = 'workers-sqlite'

/** Lower bounds of the rate relative to that of the bare commits. */
export const limits = { together: 0.15, processes: 0.5 }

const STREAMS = 1_000
/** Number of concurrent changes, and of bare updates per transaction. */
const TOGETHER = 100
const PROCESSES = 5
const EACH = 100
/** A new stream has 4 entries, and each round adds one: at most 20, including the warm-up. */
const ROUNDS = 15

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  try {
    return [await together(folder), await fromProcesses(folder)]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** One process with a change on each of many streams, against bare updates to the same bytes. */
async function together(folder: string): Promise<Row> {
  const file = join(folder, 'together.db')
  const store = openSqliteStore(file)
  const names = Array.from({ length: STREAMS }, (_, at) => `orders/${at}`)
  for (let at = 0; at < STREAMS; at += TOGETHER) {
    await Promise.all(names.slice(at, at + TOGETHER).map(stream => createStream(store, stream)))
  }
  const table = new BodyTable(join(folder, 'bare-together.db'), bodiesIn(file))
  const [bare, changes] = await inTurns(
    async took => table.update(bodiesIn(file), TOGETHER, took),
    took => timed(() => changeAll(store, names, took)),
  )
  table.close()
  await store.close()
  return {
    figure: `changes of ${STREAMS} streams, ${TOGETHER} at a time / bare updates, ${TOGETHER} a transaction, SQLite`,
    ratio: ratioOf(bare, changes),
    limit: limits.together,
    bound: 'at least',
    note: `${told(STREAMS, changes)} / ${told(STREAMS, bare)}`,
  }
}

async function changeAll(store: StreamStore, names: readonly string[], took: number[]): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let stream = names[next++]; stream !== undefined; stream = names[next++]) {
      const startMs = performance.now()
      await change(store, stream, tagging('09.00'))
      took.push(performance.now() - startMs)
    }
  }
  await Promise.all(Array.from({ length: TOGETHER }, worker))
}

/** Processes that change their own streams in one file, each in sequence, against as many with bare commits. */
async function fromProcesses(folder: string): Promise<Row> {
  const children = await Promise.all(Array.from({ length: PROCESSES }, (_, at) => startChild(folder, at)))
  const round = (word: 'bare' | 'change') => async (took: number[]) => {
    // Work left over from the previous round does not count.
    for (const child of children) await child.ask('prepare')
    return timed(async () => {
      for (const times of await Promise.all(children.map(child => child.ask(word)))) took.push(...times)
    })
  }
  const [bare, changes] = await inTurns(round('bare'), round('change'))
  for (const child of children) await child.end()
  const count = PROCESSES * EACH
  return {
    figure: `changes of own streams, one by one / bare commits, from ${PROCESSES} processes, SQLite`,
    ratio: ratioOf(bare, changes),
    limit: limits.processes,
    bound: 'at least',
    note: `${told(count, changes)} / ${told(count, bare)}`,
  }
}

/** Cost of the rounds of one subject, ms, and of each change in them. */
interface Costs {
  readonly rounds: number[]
  readonly took: number[]
}

type Round = (took: number[]) => Promise<number>

/** Like `interleave`, but compared within a round: bodies grow, so only those of the same round are comparable. */
async function inTurns(bare: Round, changes: Round): Promise<[bare: Costs, changes: Costs]> {
  const subjects: [Round, Costs][] = [bare, changes].map(round => [round, { rounds: [], took: [] }])
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [measure, costs] of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const took: number[] = []
      const ms = await measure(took)
      if (round === 0) continue
      costs.rounds.push(ms)
      costs.took.push(...took)
    }
  }
  return subjects.map(([, costs]) => costs) as [Costs, Costs]
}

/** The median of the rounds' ratios of rates. */
function ratioOf(bare: Costs, changes: Costs): number {
  return share(
    bare.rounds.map((ms, round) => ms / (changes.rounds[round] ?? Number.NaN)),
    0.5,
  )
}

const CHILD = fileURLToPath(new URL('./lib/child-change-own.ts', import.meta.url))

/** A child process that answers each word with one line of times, ms. */
async function startChild(folder: string, at: number) {
  const child: ChildProcess = spawn(process.execPath, [CHILD, folder, String(at), String(EACH)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('no pipes')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const answer = async (): Promise<number[]> => {
    const { value, done } = await lines.next()
    if (done) throw new Error('a child ended')
    return JSON.parse(value)
  }
  await answer()
  return {
    ask(word: string): Promise<number[]> {
      stdin.write(`${word}\n`)
      return answer()
    },
    async end(): Promise<void> {
      stdin.end()
      await once(child, 'close')
    },
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

function told(count: number, { rounds, took }: Costs): string {
  return `${((count / share(rounds, 0.5)) * 1000).toFixed(0)}/s p99 ${share(took, 0.99).toFixed(1)} ms`
}

function share(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN
}
