import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applyGroup } from '../src/ops/transact/plan.ts'
import { pendingOperation } from '../src/ops/transact/transact.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { StreamDocument } from '../src/stream/document.ts'
import type { Operation } from '../src/stream/operations/operation.ts'
import type { Row } from './lib/bench.ts'
import { interleave } from './lib/interleave.ts'
import { change } from './lib/streams.ts'

export const name = 'sessions'

/** Upper bounds: appending to a long session against as many times a short one as it is longer: it is no worse than linear. */
export const limits = { thousand: 1.5, fiveThousand: 1.5 }

const SIZES = { short: 100, thousand: 1_000, fiveThousand: 5_000 } as const
/** Steps that are made together, to build a session in less time. */
const TOGETHER = 25
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
  const grown = new GrowingSession()
  for (const [stream, steps] of Object.entries(SIZES)) {
    grown.growTo(steps)
    const { body, summary } = grown.written
    await store.create(stream, body, summary)
    sizes.set(stream, body.length)
  }
  await store.close()
  return sizes
}

/** Processor time of one append, by a program that has not read the session before, ms. */
async function appendTo(file: string, stream: string): Promise<number> {
  const store = openSqliteStore(file)
  await store.read('none')
  const before = process.cpuUsage()
  await change(store, stream, { op: 'append', step: { name: 'Move' } })
  const { user, system } = process.cpuUsage(before)
  await store.close()
  return (user + system) / 1_000
}

type Put = Extract<ReturnType<typeof applyGroup>['decision'], { readonly kind: 'put' }>

/** A session in memory. */
class GrowingSession {
  #document: StreamDocument | undefined
  #written: Put | undefined
  #steps = 0

  get written(): Put {
    if (this.#written === undefined) throw new Error('the session has not begun')
    return this.#written
  }

  growTo(steps: number): void {
    if (this.#document === undefined) {
      this.#apply([
        { op: 'init', root: { name: 'Session' }, forks: [], hold: false, session: true, born: randomUUID() },
      ])
    }
    while (this.#steps < steps) {
      const count = Math.min(TOGETHER, steps - this.#steps)
      this.#apply(Array.from({ length: count }, () => this.#nextStep()).flat())
    }
  }

  #nextStep(): Operation[] {
    const event = `02.${String(this.#steps++).padStart(2, '0')}`
    return [
      { op: 'append', step: { name: 'Move' } },
      { op: 'complete', event },
    ]
  }

  #apply(operations: readonly Operation[]): void {
    const group = operations.map(operation => pendingOperation(operation, { by: 'bench', commandId: randomUUID() }))
    const current = { body: this.#written?.body ?? Buffer.from('<EventStream/>'), versionFloor: 0 }
    let rest = group
    while (rest.length > 0) {
      const { decision, document, results } = applyGroup(rest, current, Date.now(), [], this.#document)
      if (decision.kind !== 'put' || results.some(({ kind }) => kind !== 'changed'))
        throw new Error('the session did not grow')
      this.#document = document
      this.#written = decision
      rest = rest.slice(results.length)
    }
  }
}
