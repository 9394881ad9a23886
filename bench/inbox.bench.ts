import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { finished } from 'node:stream/promises'
import { createInbox } from '../src/inbox/inbox.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { Row } from './lib/bench.ts'
import { withBundled } from './lib/bundled.ts'
import { runChild } from './lib/run-child.ts'

export const name = 'inbox'

/** `put`, `lines`: lower bounds; `p99` of 500 ms; `lost` and `refused`: none. */
export const limits = { put: 0.7, p99: 1, lost: 0, refused: 0, lines: 1 }

const RECORDS = 200_000
const PUT_ROUNDS = 5
const RATE = 10_000
const SHARE = 0.8
/** Each in turn with the bare server: the machine may have more or less to do from one to the next. */
const ROUNDS = 6
const ROUND_SECONDS = 10
const BURST = 5
const BURST_SECONDS = 5
const P99_MS = 500
const LINES_RATE = 50_000
/** Each has one request at a time: with few of them the time of one answer is measured. */
const LINES_CONNECTIONS = 32

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bench-'))
  try {
    return await withBundled('bench/lib/child-http-bare.ts', async ({ program, child }) => [
      ...(await put(folder, program)),
      ...(await serve(folder, program, child)),
    ])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function inboxIn(file: string): Promise<void> {
  const store = openSqliteStore(file)
  await createInbox(store, 'orders', 8, { by: 'bench' })
  await store.close()
}

/** A file of records, each time with bare inserts of the blocks that it became; the median. */
async function put(folder: string, program: string): Promise<Row[]> {
  const lines = join(folder, 'orders.ndjson')
  const stream = createWriteStream(lines)
  const filler = 'x'.repeat(960)
  for (let at = 0; at < RECORDS; at += 1_000) {
    const ids = Array.from({ length: 1_000 }, (_, next) => at + next)
    stream.write(ids.map(id => `{"id":"o${id}","key":"k${id % 1_000}","x":"${filler}"}\n`).join(''))
  }
  await finished(stream.end())
  const rounds: { readonly ratio: number; readonly perSecond: number }[] = []
  for (let at = 0; at < PUT_ROUNDS; at++) {
    const file = join(folder, `put-${at}.db`)
    await inboxIn(file)
    const startMs = performance.now()
    await output(program, ['inbox', 'put', 'orders', lines, '--store', `sqlite:${file}`, '-q'])
    const tookMs = performance.now() - startMs
    const bare = join(folder, `bare-${at}.db`)
    rounds.push({ ratio: bareInserts(file, bare) / tookMs, perSecond: (RECORDS * 1_000) / tookMs })
    for (const path of [file, bare]) await rm(path)
  }
  rounds.sort((a, b) => a.ratio - b.ratio)
  return [
    {
      figure: `inbox put of ${RECORDS} records of 1 KiB / bare inserts of its blocks, SQLite`,
      ratio: rounds[Math.floor(PUT_ROUNDS / 2)]?.ratio ?? 0,
      limit: limits.put,
      bound: 'at least',
      note: `${rounds.map(({ ratio, perSecond }) => `${ratio.toFixed(2)} at ${Math.round(perSecond)}`).join(', ')} records a second`,
    },
  ]
}

/** Inserts all blocks of a store into another file, each in its own transaction; elapsed ms. */
function bareInserts(from: string, to: string): number {
  const source = new DatabaseSync(from, { readOnly: true })
  const target = new DatabaseSync(to)
  target.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  target.exec('CREATE TABLE blocks (id INTEGER PRIMARY KEY, log TEXT NOT NULL, lines BLOB NOT NULL) STRICT')
  const insert = target.prepare('INSERT INTO blocks (log, lines) VALUES (?, ?)')
  const blocks = source.prepare('SELECT log, lines FROM blocks ORDER BY id').all()
  const startMs = performance.now()
  for (const { log, lines } of blocks) insert.run(log as string, lines as Uint8Array)
  const tookMs = performance.now() - startMs
  source.close()
  target.close()
  return tookMs
}

interface Load {
  readonly sent: number
  readonly unsent: number
  readonly failed: number
  readonly unanswered: number
  readonly tookMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  readonly statuses: Readonly<Record<string, number>>
}

/** @param rate requests a second; 0: as fast as they are answered */
async function load(
  port: number,
  given: { readonly rate: number; readonly seconds: number; readonly connections: number; readonly each?: number },
): Promise<Load> {
  const { rate, seconds, connections, each = 1 } = given
  const numbers = [rate, seconds, connections, each].map(String)
  const prefix = `${process.hrtime.bigint()}-`
  return (await runChild('bench/lib/child-http-load.ts', [String(port), '/inboxes/orders', ...numbers, prefix])) as Load
}

async function serve(folder: string, program: string, bareServer: string): Promise<Row[]> {
  const file = join(folder, 'serve.db')
  await inboxIn(file)
  const bare = await started([bareServer], /^(\d+)\n/)
  const argv = ['inbox', 'serve', 'orders', '--store', `sqlite:${file}`, '--listen', ':0']
  const server = await started([program, ...argv], /"address":"127\.0\.0\.1:(\d+)"/)
  const rounds: Round[] = []
  for (let at = 0; at < ROUNDS; at++) {
    const { sent, tookMs } = await load(bare.port, { rate: 0, seconds: 2, connections: 64 })
    const bareRate = (sent * 1_000) / tookMs
    const rate = Math.min(RATE, Math.floor(bareRate * SHARE))
    rounds.push({ bareRate, rate, steady: await load(server.port, { rate, seconds: ROUND_SECONDS, connections: 512 }) })
  }
  const rate = Math.min(...rounds.map(round => round.rate))
  const bareLines = await load(bare.port, { rate: 0, seconds: 3, connections: LINES_CONNECTIONS, each: 100 })
  await ended(bare.child)
  const burst = await load(server.port, { rate: rate * BURST, seconds: BURST_SECONDS, connections: 2_000 })
  const lines = await load(server.port, { rate: 0, seconds: 5, connections: LINES_CONNECTIONS, each: 100 })
  const memoryMb = await peakMemory(server.child)
  await ended(server.child)
  const steady = rounds.map(round => round.steady)
  const p99s = steady.map(({ p99Ms }) => p99Ms).sort((a, b) => a - b)
  const accepted = sum(steady.map(acceptedOf)) + acceptedOf(burst) + 100 * acceptedOf(lines)
  const linesRate = (100 * acceptedOf(lines) * 1_000) / lines.tookMs
  const bareLinesRate = (100 * bareLines.sent * 1_000) / bareLines.tookMs
  const what = `single records, ${ROUNDS} rounds of ${ROUND_SECONDS} s at ${RATE} a second or ${SHARE} of a bare server`
  return [
    {
      figure: `p99 / ${P99_MS} ms: ${what}, SQLite`,
      ratio: (p99s[Math.floor(ROUNDS / 2)] ?? 0) / P99_MS,
      limit: limits.p99,
      note: rounds.map(roundText).join(', '),
    },
    { figure: `refused or not answered: ${what}`, ratio: sum(steady.map(troubleOf)), limit: limits.refused },
    {
      figure: `not answered in a burst of ${rate * BURST} a second for ${BURST_SECONDS} s`,
      ratio: burst.failed + burst.unanswered,
      limit: limits.lost,
      note: `${burst.statuses[429] ?? 0} of ${burst.sent} answered 429, ${burst.unsent} not sent in time, p99 ${burst.p99Ms} ms, done after ${burst.tookMs} ms; memory at most ${memoryMb} MB`,
    },
    {
      figure: `accepted, but not in the inbox, of ${accepted}`,
      ratio: Math.max(0, accepted - linesIn(file)),
      limit: limits.lost,
    },
    {
      figure: `records a second / ${LINES_RATE}: requests of 100 lines over ${LINES_CONNECTIONS} connections`,
      ratio: linesRate / LINES_RATE,
      limit: limits.lines,
      bound: 'at least',
      note: `${Math.round(linesRate)} a second; a bare server takes ${Math.round(bareLinesRate)}`,
    },
  ]
}

interface Round {
  /** Requests a second. */
  readonly bareRate: number
  readonly rate: number
  readonly steady: Load
}

/** p99 of the round, and its rate. */
function roundText({ bareRate, rate, steady: { p99Ms } }: Round): string {
  return `${p99Ms} ms at ${rate}/s (bare ${Math.round(bareRate)})`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function acceptedOf({ statuses }: Load): number {
  return statuses[202] ?? 0
}

function troubleOf(figures: Load): number {
  return figures.sent - acceptedOf(figures) + figures.unsent
}

/** Number of lines in all blocks. */
function linesIn(file: string): number {
  const db = new DatabaseSync(file, { readOnly: true })
  let count = 0
  for (const { lines } of db.prepare('SELECT lines FROM blocks').iterate())
    for (const byte of lines as Uint8Array) count += byte === 0x0a ? 1 : 0
  db.close()
  return count
}

async function started(argv: readonly string[], port: RegExp): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [...argv], { stdio: 'pipe' })
  return new Promise((resolve, reject) => {
    let text = ''
    const onData = (chunk: Buffer) => {
      text = `${text}${chunk}`.slice(-10_000)
      const found = port.exec(text)?.[1]
      if (found !== undefined) resolve({ child, port: Number(found) })
    }
    child.stdout.on('data', onData)
    child.stderr.on('data', onData)
    child.once('close', code => reject(new Error(`the server ended with ${code}: ${text}`)))
  })
}

async function ended(child: ChildProcess): Promise<void> {
  const closed = new Promise(resolve => child.once('close', resolve))
  child.kill('SIGTERM')
  await closed
}

async function peakMemory({ pid }: ChildProcess): Promise<number> {
  const { readFile } = await import('node:fs/promises')
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1_024)
}

async function output(program: string, argv: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [program, ...argv], { stdio: ['ignore', 'ignore', 'inherit'] })
  const code = await new Promise(resolve => child.once('close', resolve))
  if (code !== 0) throw new Error(`leasectl ${argv.join(' ')} ended with ${code}`)
}
