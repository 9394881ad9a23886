import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openMemoryStore } from '../src/store/memory.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { StreamDocument } from '../src/stream/document.ts'
import { sumOf } from '../src/stream/fingerprint.ts'
import type { Operation } from '../src/stream/operations/operation.ts'
import { summarize } from '../src/stream/summarize.ts'
import { readDocument } from '../src/stream/xml/read.ts'
import { writeDocument } from '../src/stream/xml/write.ts'
import type { Row } from './lib/bench.ts'
import { interleave } from './lib/interleave.ts'
import { change } from './lib/streams.ts'

export const name = 'sessions'

/** Upper bounds: appending to a long session against as many times a short one as it is longer: it is no worse than linear. */
export const limits = { thousand: 1.5, fiveThousand: 1.5 }

const SIZES = { short: 100, thousand: 1_000, fiveThousand: 5_000 } as const
const STEP: Operation = { op: 'append', step: { name: 'Move' } }
/** The id of the first step. */
const FIRST = '02.00'
const ROUNDS = 7

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  const file = join(folder, 'bench.db')
  try {
    const sizes = await withSessions(file)
    const { short, thousand, fiveThousand } = await interleave(
      {
        short: () => appendTo(file, 'short'),
        thousand: () => appendTo(file, 'thousand'),
        fiveThousand: () => appendTo(file, 'fiveThousand'),
      },
      ROUNDS,
    )
    const row = (long: 'thousand' | 'fiveThousand', best: number): Row => {
      const times = SIZES[long] / SIZES.short
      const kib = (of: keyof typeof SIZES) => `${((sizes.get(of) ?? 0) / 1024).toFixed(0)} KiB`
      return {
        figure: `append a step to a session of ${SIZES[long]} steps / ${times} times to one of ${SIZES.short}, SQLite`,
        ratio: best / (times * short.best),
        limit: limits[long],
        note: `${best.toFixed(1)} ms, ${kib(long)} / ${short.best.toFixed(1)} ms, ${kib('short')}`,
      }
    }
    return [row('thousand', thousand.best), row('fiveThousand', fiveThousand.best)]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Writes the sessions, whose steps are all completed. Returns the sizes of their documents. */
async function withSessions(file: string): Promise<ReadonlyMap<string, number>> {
  const store = openSqliteStore(file)
  const sizes = new Map<string, number>()
  const one = await sessionOfOne()
  for (const [stream, steps] of Object.entries(SIZES)) {
    const document = sessionOf(one, steps)
    const { text } = writeDocument(document)
    const body = Buffer.from(text)
    await store.create(stream, body, summarize(document, { nowMs: Date.now(), lastBy: 'bench' }))
    sizes.set(stream, body.length)
  }
  await store.close()
  return sizes
}

/** The text of a session with one step, which is completed. */
async function sessionOfOne(): Promise<string> {
  const store = openMemoryStore()
  const root = { name: 'Session' }
  await change(store, 'one', { op: 'init', root, forks: [], hold: false, session: true, born: randomUUID() })
  await change(store, 'one', STEP)
  await change(store, 'one', { op: 'complete', event: FIRST })
  const stored = await store.read('one')
  return Buffer.from(stored?.body ?? []).toString()
}

/**
 * The same with more steps: their lines and those of their entries, repeated. Making each step would take time that grows with
 * the square of their number.
 */
function sessionOf(one: string, steps: number): StreamDocument {
  const numbers = Array.from({ length: steps }, (_, at) => at)
  const lines = one.split('\n')
  const isOfStep = (line: string) => line.includes(` id="${FIRST}"`) || line.includes(` on="${FIRST}"`)
  const [step = '', ...entries] = lines.filter(isOfStep)
  const text = lines
    .filter(line => !isOfStep(line) || line === step || line === entries[0])
    .flatMap(line => {
      if (line === step) return numbers.map(at => step.replace(FIRST, idOf(at)))
      if (line === entries[0]) return numbers.flatMap(at => entries.map((entry, of) => entryOf(entry, at, of)))
      return [line]
    })
    .join('\n')
    .replace(`next="01.00|${FIRST}"`, `next="${['01.00', ...numbers.map(idOf)].join('|')}"`)
    .replace(`lc:appended="${FIRST}"`, `lc:appended="${idOf(steps - 1)}"`)
    .replace('lc:v="3"', `lc:v="${1 + 2 * steps}"`)
  const document = readDocument(text)
  return { ...document, sum: sumOf(document.events) }
}

function entryOf(entry: string, at: number, of: number): string {
  return entry
    .replaceAll(FIRST, idOf(at))
    .replace(/ v="\d+"/, ` v="${2 + 2 * at + of}"`)
    .replace(/ cmd="[^"]*"/, ` cmd="${randomUUID()}"`)
}

function idOf(at: number): string {
  return `02.${String(at).padStart(2, '0')}`
}

/** Processor time of one append, by a program that has not read the session before, ms. */
async function appendTo(file: string, stream: string): Promise<number> {
  const store = openSqliteStore(file)
  await store.read('none')
  const before = process.cpuUsage()
  await change(store, stream, STEP)
  const { user, system } = process.cpuUsage(before)
  await store.close()
  return (user + system) / 1_000
}
