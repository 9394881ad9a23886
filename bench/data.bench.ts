import { hash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readDataBytes } from '../src/ops/event-data.ts'
import { readStream } from '../src/ops/read-stream.ts'
import { systemSummary } from '../src/ops/system-documents.ts'
import { transact } from '../src/ops/transact/transact.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { StreamStore } from '../src/store/store.ts'
import { dataOf, MAX_DATA_BYTES } from '../src/stream/data.ts'
import type { Row } from './lib/bench.ts'
import { interleave } from './lib/interleave.ts'
import { change, createStream } from './lib/streams.ts'

export const name = 'data'

/**
 * Lower bounds: data of 16 MiB against the bare store and one SHA-256, which names and proves the data: on many processors
 * it alone takes longer than the store. Upper bound: a heartbeat beside 1 MiB against one without.
 */
export const limits = { write: 0.5, read: 0.8, touch: 1.1 }

const ROUNDS = 9
const TOUCHES = 200

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  const store = openSqliteStore(join(folder, 'bench.db'))
  try {
    await createStream(store, 'data')
    return [...(await largestData(store)), await heartbeats(store)]
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** A new stream whose root gets 16 MiB, against one bare body of 16 MiB and its SHA-256; then the same read back. */
async function largestData(store: StreamStore): Promise<Row[]> {
  let count = 0
  let bare = ''
  let last = ''
  const bytes = () => randomBytes(MAX_DATA_BYTES)
  const timed = async (work: () => Promise<unknown>) => {
    const startMs = performance.now()
    await work()
    return performance.now() - startMs
  }
  const hashed = async (body = bytes()) => timed(async () => hash('sha256', body, 'hex'))
  const written = await interleave(
    {
      hash: hashed,
      bare: () => {
        const body = bytes()
        bare = `.leasectl/bench/${++count}`
        return timed(() => store.create(bare, body, systemSummary(store, 'bench')))
      },
      data: () => {
        const body = bytes()
        last = `large/${++count}`
        return timed(async () => {
          const root = { name: 'Start', data: dataOf(body) }
          const born = crypto.randomUUID()
          const operation = { op: 'init', root, forks: [], hold: false, born } as const
          await transact(store, last, operation, { by: 'bench', commandId: `c${count}` })
        })
      },
    },
    ROUNDS,
  )
  const sample = bytes()
  const read = await interleave(
    {
      hash: () => hashed(sample),
      bare: () => timed(() => store.read(bare)),
      data: () =>
        timed(async () => {
          const view = await readStream(store, last)
          const input = view?.document.events[0]?.input
          if (view === undefined || input === undefined) throw new Error('no data')
          await readDataBytes(store, { stream: last, born: view.document.born }, input)
        }),
    },
    ROUNDS,
  )
  return [
    row('write 16 MiB of data / the bare store and a SHA-256, SQLite', written, limits.write),
    row('read 16 MiB of data / the bare store and a SHA-256, SQLite', read, limits.read),
  ]
}

type Three = Readonly<Record<'bare' | 'data' | 'hash', { readonly best: number }>>

function row(figure: string, { bare, data, hash }: Three, limit: number): Row {
  const alone = (bare.best / data.best).toFixed(2)
  const note =
    `${data.best.toFixed(1)} ms / (${bare.best.toFixed(1)} ms + ${hash.best.toFixed(1)} ms); ` +
    `against the bare store alone ${alone}`
  return { figure, ratio: (bare.best + hash.best) / data.best, limit, bound: 'at least', note }
}

/** Heartbeats of an event in a stream with 1 MiB of data beside it, against the same stream without. */
async function heartbeats(store: StreamStore): Promise<Row> {
  for (const stream of ['beside', 'without']) {
    await createStream(store, stream)
    const data = stream === 'beside' ? { data: dataOf(randomBytes(1024 * 1024)) } : {}
    await change(store, stream, { op: 'advance', event: '09.00', forks: [], next: { name: 'Long', ...data } })
    await change(store, stream, { op: 'start', event: '09.01', owner: 'w', claimMs: 3_600_000 })
  }
  const measure = async (stream: string) => {
    const startMs = performance.now()
    for (let at = 0; at < TOUCHES; at++)
      await change(store, stream, { op: 'touch', event: '09.01', owner: 'w', claimMs: 3_600_000 })
    return performance.now() - startMs
  }
  const samples = await interleave({ without: () => measure('without'), beside: () => measure('beside') }, ROUNDS)
  return {
    figure: 'heartbeat with 1 MiB of data beside the stream / without, SQLite',
    ratio: samples.beside.best / samples.without.best,
    limit: limits.touch,
    note: `${(samples.beside.best / TOUCHES).toFixed(2)} ms / ${(samples.without.best / TOUCHES).toFixed(2)} ms`,
  }
}
