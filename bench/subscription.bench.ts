import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { followMany } from '../src/ops/follow/follow-many.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { runSubscription } from '../src/subscriptions/engine.ts'
import type { Row } from './lib/bench.ts'
import { withBundled } from './lib/bundled.ts'
import { multiply } from './lib/multiply.ts'
import { runChild } from './lib/run-child.ts'
import { createStream } from './lib/streams.ts'

export const name = 'subscription'

/** Upper bounds but for `delivery`, a lower one; see the figures. */
export const limits = { missed: 0, delay: 1.5, positions: 0.05, memory: 1, delivery: 0.5 }

const STREAMS = 100_000
const CHANGES = 20_000
const INTERVAL_MS = 1_000
const MEMORY_MB = 150
const FEWER = 5_000

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  try {
    return [...(await load(join(folder, 'many.db'))), await delivery(join(folder, 'fewer.db'))]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function storeOf(file: string, streams: number): Promise<void> {
  const store = openSqliteStore(file)
  await createStream(store, 'orders/000000')
  await store.close()
  multiply(file, streams)
  const db = new DatabaseSync(file)
  // Written long ago, as most streams of a large store.
  db.exec('UPDATE streams SET modified_ms = modified_ms - 3600000')
  db.close()
}

interface Figures {
  readonly delivered: number
  readonly repeated: number
  readonly medianMs: number
  readonly p99Ms: number
  readonly positionShare: number
  readonly writes: number
}

/** 1 000 of 100 000 streams change each second. */
async function load(file: string): Promise<Row[]> {
  await storeOf(file, STREAMS)
  return withBundled('bench/lib/child-subscription.ts', async ({ child }) => {
    const { figures, peakMb } = await subscribed([child, file, `${CHANGES}`, `${INTERVAL_MS}`], file)
    const { delivered, repeated, medianMs, p99Ms, positionShare, writes } = figures
    const what = `1 000 changes a second in ${STREAMS} streams, SQLite`
    return [
      {
        figure: `not delivered, or twice: ${what}`,
        ratio: CHANGES - delivered + repeated,
        limit: limits.missed,
        note: `${delivered} delivered`,
      },
      {
        figure: `median delay of deliveries / interval: ${what}`,
        ratio: medianMs / INTERVAL_MS,
        limit: limits.delay,
        note: `${medianMs} ms; 99 % within ${p99Ms} ms`,
      },
      {
        figure: `writing positions / time: ${what}`,
        ratio: positionShare,
        limit: limits.positions,
        note: `${writes} writes`,
      },
      {
        figure: `memory / ${MEMORY_MB} MB: ${what}`,
        ratio: peakMb / MEMORY_MB,
        limit: limits.memory,
        note: `${peakMb.toFixed(0)} MB`,
      },
    ]
  })
}

/** Prints the peak resident memory, in KiB, when the process ends. */
const REPORT =
  'data:text/javascript,import{readFileSync}from"node:fs";process.on("exit",()=>process.stderr.write(' +
  '"\\npeak "+/VmHWM:\\s*(\\d+)/.exec(readFileSync("/proc/self/status","utf8"))[1]))'

async function subscribed(args: readonly string[], file: string): Promise<{ figures: Figures; peakMb: number }> {
  const child = spawn(process.execPath, ['--import', REPORT, ...args], { timeout: 180_000 })
  let stdout = ''
  let stderr = ''
  let writer: Promise<unknown> | undefined
  child.stdout.on('data', chunk => {
    stdout += chunk
    if (stdout.startsWith('ready')) {
      writer ??= runChild('bench/lib/child-subscription-load.ts', [file, `${STREAMS}`, `${CHANGES}`])
    }
  })
  child.stderr.on('data', chunk => {
    stderr += chunk
  })
  const code = await new Promise(resolve => child.on('close', (exit, signal) => resolve(exit ?? signal)))
  await writer
  const peak = /peak (\d+)$/.exec(stderr)?.[1]
  if (code !== 0 || peak === undefined) throw new Error(`the subscription ended with ${code}: ${stderr}`)
  return { figures: JSON.parse(stdout.trim().split('\n').at(-1) ?? ''), peakMb: Number(peak) / 1024 }
}

/** All transactions of a store: handed to a function, and as `tail` reads them. */
async function delivery(file: string): Promise<Row> {
  await storeOf(file, FEWER)
  const tailMs = await tailed(file)
  const subscriptionMs = await handed(file)
  const rate = (4 * FEWER * 1_000) / subscriptionMs
  return {
    figure: `transactions a second to a function / to tail -f, ${4 * FEWER} of them, SQLite`,
    ratio: tailMs / subscriptionMs,
    limit: limits.delivery,
    bound: 'at least',
    note: `${rate.toFixed(0)} a second`,
  }
}

async function tailed(file: string): Promise<number> {
  const store = openSqliteStore(file)
  const startMs = performance.now()
  let transactions = 0
  const selection = { kind: 'filter', filter: {} } as const
  for await (const item of followMany(store, selection, {
    past: { latest: Number.POSITIVE_INFINITY },
    intervalMs: 1_000,
  })) {
    if (item.kind === 'transaction') transactions += 1
    if (transactions === 4 * FEWER) break
  }
  const tookMs = performance.now() - startMs
  await store.close()
  return tookMs
}

async function handed(file: string): Promise<number> {
  const store = openSqliteStore(file)
  const stop = new AbortController()
  const startMs = performance.now()
  let transactions = 0
  let tookMs = 0
  const spec = { name: 'bench', match: [], notMatch: [], ops: [], eventNames: [], doneOnly: false, shards: 8 }
  const options = { spec, fromMs: 0, by: 'bench@host', concurrency: 32, intervalMs: 1_000 }
  const handler = async () => {
    transactions += 1
    if (transactions === 4 * FEWER) {
      tookMs = performance.now() - startMs
      stop.abort()
    }
    return { kind: 'handled' } as const
  }
  await runSubscription(store, { ...options, handler }, stop.signal)
  await store.close()
  return tookMs
}
