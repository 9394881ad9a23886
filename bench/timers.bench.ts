import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readStream } from '../src/ops/read-stream.ts'
import { applyGroup } from '../src/ops/transact/plan.ts'
import { pendingOperation } from '../src/ops/transact/transact.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { StreamStore } from '../src/store/store.ts'
import type { Operation, StepSpec } from '../src/stream/operations/operation.ts'
import { machineTiming } from '../src/util/clock.ts'
import type { WatchdogOptions } from '../src/watchdog/options.ts'
import { Pass } from '../src/watchdog/pass.ts'
import type { Row } from './lib/bench.ts'
import { interleave } from './lib/interleave.ts'
import { change } from './lib/streams.ts'

export const name = 'timers'

/** Upper bounds, relative to the interval and 2 s, to two listings and a write for each, and to a fourth of the steps. */
export const limits = { burst: 1, pass: 1, steps: 1.5 }

const TIMERS = 10_000
const IN_ONE_PASS = 2_000
const WATCHDOGS = 3
const INTERVAL_MS = 2_000
const LEAD_MS = 30_000
const ROUNDS = 7
const PASS_OPTIONS: WatchdogOptions = {
  intervalMs: INTERVAL_MS,
  onDue: 'abort-event',
  maxPerPass: 10_000,
  maxShare: 1,
  concurrency: 64,
  by: 'bench',
  observers: [],
  timing: machineTiming,
}
const LEASECTL = fileURLToPath(new URL('../bin/leasectl.js', import.meta.url))

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  try {
    return [await burst(join(folder, 'burst.db')), await pass(join(folder, 'pass.db')), await longPlans()]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Streams with one gate each, all with the same time to open. */
async function withTimers(store: StreamStore, count: number, wakesMs: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, at) => `reminders/${String(at).padStart(6, '0')}`)
  const [first = '', ...others] = names
  const wake = new Date(wakesMs).toISOString()
  const root = { name: 'Start' }
  await change(store, first, { op: 'init', root, forks: [{ name: 'Remind', wake }], hold: false, born: randomUUID() })
  const stored = await store.read(first)
  const { body, summary } = stored ?? {}
  if (body === undefined || summary === undefined) throw new Error('it has a summary')
  await inGroups(others, async name => void (await store.create(name, body, summary)))
  return names
}

async function inGroups(names: readonly string[], act: (name: string) => Promise<void>): Promise<void> {
  for (let at = 0; at < names.length; at += 64) await Promise.all(names.slice(at, at + 64).map(act))
}

/** Three watchdogs open all timers of one second: each once, none early. */
async function burst(file: string): Promise<Row> {
  const store = openSqliteStore(file)
  const dogs: ChildProcess[] = []
  try {
    const wakesMs = store.nowMs() + LEAD_MS
    const names = await withTimers(store, TIMERS, wakesMs)
    const words = ['watchdog', '-q', '--interval', `${INTERVAL_MS}ms`, '--store', `sqlite:${file}`]
    for (let at = 0; at < WATCHDOGS; at++) dogs.push(spawn(process.execPath, [LEASECTL, ...words], { stdio: 'ignore' }))
    await sleep(wakesMs - store.nowMs() + INTERVAL_MS)
    while ((await waiting(store)) > 0) await sleep(1_000)
    const lastMs = await lastOpening(store, names, wakesMs)
    return {
      figure: `${TIMERS} timers of one second, until ${WATCHDOGS} watchdogs have opened the last / interval + 2 s, SQLite`,
      ratio: (lastMs - wakesMs) / (INTERVAL_MS + 2_000),
      limit: limits.burst,
      note: `${((lastMs - wakesMs) / 1_000).toFixed(1)} s after their time, each once, none early`,
    }
  } finally {
    for (const dog of dogs) dog.kill('SIGKILL')
    await store.close()
  }
}

async function waiting(store: StreamStore): Promise<number> {
  let count = 0
  for await (const rows of store.list({})) count += rows.filter(({ summary }) => summary?.wakeMs !== undefined).length
  return count
}

/** When the last gate was opened, epoch ms. @throws if one was opened early, twice or never */
async function lastOpening(store: StreamStore, names: readonly string[], wakesMs: number): Promise<number> {
  let lastMs = 0
  await inGroups(names, async name => {
    const view = await readStream(store, name)
    const entries = (view?.transactions() ?? []).filter(({ changes }) => changes.some(({ how }) => how === 'gate'))
    const [atMs = 0, ...again] = entries.filter(({ op }) => op !== 'init').map(({ at }) => Date.parse(at))
    if (again.length > 0 || atMs < wakesMs) throw new Error(`${name} was opened at ${atMs}, then at ${again.join()}`)
    lastMs = Math.max(lastMs, atMs)
  })
  return lastMs
}

/**
 * One pass that opens many timers, against two listings and one ordinary change of each stream. Each round has its own
 * copies of the file, so that neither finds the work of the other, or documents that it has read before.
 */
async function pass(file: string): Promise<Row> {
  const template = openSqliteStore(file)
  const wakesMs = template.nowMs() + 10_000
  const names = await withTimers(template, IN_ONE_PASS, wakesMs)
  await sleep(Math.max(0, wakesMs - template.nowMs()))
  await template.close()
  let listMs = Number.POSITIVE_INFINITY
  const onCopy = (work: (store: StreamStore) => Promise<number>) => async () => {
    const copy = `${file}.copy`
    await copyFile(file, copy)
    const store = openSqliteStore(copy)
    try {
      await store.read('none')
      return await work(store)
    } finally {
      await store.close()
      await rm(copy)
    }
  }
  const { pass, changes } = await interleave(
    {
      pass: onCopy(async store => {
        const watchdog = new Pass(store, PASS_OPTIONS, { trustsClock: true, isDryRun: false, timing: machineTiming })
        const passMs = await duration(() => watchdog.pass('sweep', new AbortController().signal))
        if ((await waiting(store)) > 0) throw new Error('the pass has not opened all timers')
        return passMs
      }),
      changes: onCopy(async store => {
        const ms = await duration(() => waiting(store))
        listMs = Math.min(listMs, ms)
        const tagged = { op: 'set', event: '01.00', attributes: { tag: 't' } } as const
        return 2 * ms + (await duration(() => inGroups(names, name => change(store, name, tagged))))
      }),
    },
    ROUNDS,
  )
  return {
    figure: `a pass that opens ${IN_ONE_PASS} timers / two listings and one change of each stream, SQLite`,
    ratio: pass.best / changes.best,
    limit: limits.pass,
    note: `${pass.best.toFixed(0)} ms / ${changes.best.toFixed(0)} ms, of which a listing ${listMs.toFixed(0)} ms`,
  }
}

async function duration(act: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await act()
  return performance.now() - startMs
}

/** The cost of a step in a long plan: it grows as the document does, and not faster. */
async function longPlans(): Promise<Row> {
  const subject = (steps: number) => {
    const document = planOf(steps)
    return () => {
      const startMs = performance.now()
      for (let round = 0; round < 5; round++) applied(document, { op: 'complete', event: '01.00' })
      return (performance.now() - startMs) / 5
    }
  }
  const { long, short } = await interleave({ long: subject(1_000), short: subject(250) }, 20)
  return {
    figure: 'a step of a plan of 1000 gated steps / four times one of 250',
    ratio: long.median / (4 * short.median),
    limit: limits.steps,
    note: `${long.median.toFixed(1)} ms / 4 × ${short.median.toFixed(1)} ms`,
  }
}

function planOf(count: number): Uint8Array {
  const steps: StepSpec[] = Array.from({ length: count }, (_, at) => ({
    name: `Step${at}`,
    thread: 0,
    needs: at === 0 ? [] : [at - 1],
  }))
  const empty = Buffer.from('<EventStream/>')
  return applied(empty, { op: 'init', root: { name: 'Start' }, forks: [], steps, hold: false, born: randomUUID() })
}

/** The document after an operation. */
function applied(body: Uint8Array, operation: Operation): Uint8Array {
  const pending = pendingOperation(operation, { by: 'bench', commandId: randomUUID() })
  const { decision } = applyGroup([pending], { body, versionFloor: 0 }, Date.now())
  if (decision.kind !== 'put') throw new Error(`${operation.op}: ${decision.kind}`)
  return decision.body
}
