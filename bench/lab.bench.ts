import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { startAzurite } from '../test/support/azurite.ts'
import { startFaultProxy } from '../test/support/fault-proxy.ts'
import { type BareCalls, bareCalls } from './lib/bare-calls.ts'
import type { Row } from './lib/bench.ts'
import { withBundled } from './lib/bundled.ts'

export const name = 'lab'

/**
 * Lower bounds of the time of the 2013 library (it polls every 750 to 2 500 ms while the lease is held, and makes a change
 * in four calls) relative to ours; for our worker loops the lowest fairness, and the longest wait as a share of the total.
 */
export const limits = {
  plain: { lease10: 35, optimistic10: 70, lease2: 200, loopLease: 5, loopOptimistic: 5 },
  delayed: { lease10: 15, optimistic10: 30, lease2: 70, loopLease: 2.5, loopOptimistic: 4 },
  fairness: 0.9,
  longestWait: { loopLease: 0.5, loopOptimistic: 0.35 },
}

const EVENTS = 99
const ROUNDS = 5
/** Delay before a request is forwarded and before it is answered: 8 ms per call. */
const DELAY_MS = 4

const OURS = {
  lease10: ['--at-once', '--procs', '10'],
  optimistic10: ['--at-once', '--procs', '10', '--write', 'optimistic'],
  lease2: ['--at-once', '--procs', '2'],
  loopLease: ['--procs', '5'],
  loopOptimistic: ['--procs', '5', '--write', 'optimistic'],
} as const

const REFERENCE = {
  reference10: ['--at-once', '--procs', '10', '--pace', 'reference'],
  reference2: ['--at-once', '--procs', '2', '--pace', 'reference'],
  referenceLoop: ['--procs', '5', '--pace', 'reference'],
} as const

type Ours = keyof typeof OURS
type Subject = Ours | keyof typeof REFERENCE

const COMPARED: Readonly<Record<Ours, { readonly to: keyof typeof REFERENCE; readonly what: string }>> = {
  lease10: { to: 'reference10', what: 'handed out at once, 10 processes, lease' },
  optimistic10: { to: 'reference10', what: 'handed out at once, 10 processes, optimistic' },
  lease2: { to: 'reference2', what: 'handed out at once, 2 processes, lease' },
  loopLease: { to: 'referenceLoop', what: 'worker loops, 5 processes, lease' },
  loopOptimistic: { to: 'referenceLoop', what: 'worker loops, 5 processes, optimistic' },
}

/** The fields of `lab stream -o json` used here. */
interface Told {
  readonly wallMs: number
  readonly fairness: number
  readonly worstWaitShare: number
  readonly exactlyOnce: boolean
}

/** Minimum cost of the calls of a test, in the same round. */
const LEAST = {
  lease10: bare => bare.leased(10),
  optimistic10: bare => bare.optimistic(10),
  lease2: bare => bare.leased(2),
  loopLease: bare => bare.puts(EVENTS),
  loopOptimistic: bare => bare.puts(EVENTS),
} satisfies Record<Ours, (bare: BareCalls) => Promise<number>>

/** Results of one round. */
interface Round {
  readonly told: Readonly<Record<Subject, Told>>
  readonly leastMs: Readonly<Record<Ours, number>>
}

export async function run(): Promise<Row[]> {
  return withBundled('bench/lib/child-lab.ts', async ({ child }) => [
    ...rowsOf(await rounds(child, 0), '+0 ms', limits.plain),
    ...rowsOf(await rounds(child, DELAY_MS), `+${2 * DELAY_MS} ms a call`, limits.delayed),
  ])
}

async function rounds(child: string, delayMs: number): Promise<Round[]> {
  const counted: Round[] = []
  for (let at = 0; at < ROUNDS; at += 1) {
    counted.push(await onEmulator(delayMs, port => oneRound(child, port, at % 2 === 1)))
    console.error(`lab: round ${at + 1} of ${ROUNDS}, +${2 * delayMs} ms a call`)
  }
  return counted
}

/** Every round starts a new one: in memory it cleans up every ten minutes, and then hangs for minutes. */
async function onEmulator<T>(delayMs: number, measure: (port: number) => Promise<T>): Promise<T> {
  const azurite = await startAzurite()
  const proxy = await startFaultProxy({ target: { port: azurite.port }, delayMs })
  try {
    return await measure(delayMs === 0 ? azurite.port : proxy.port)
  } finally {
    await proxy.stop()
    await azurite.stop()
  }
}

/**
 * One subject at a time, ours in reverse order every other round, each with new processes and a new stream; the time starts
 * when all are ready. The references run alone too, although they mostly sleep: in parallel they take half as long again.
 */
async function oneRound(child: string, port: number, backwards: boolean): Promise<Round> {
  // The first run on a new emulator compiles its code.
  await labStream(child, port, OURS.lease2)
  const bare = await bareCalls(port)
  const ours = Object.keys(OURS) as Ours[]
  const told: Partial<Record<Subject, Told>> = {}
  const leastMs: Partial<Record<Ours, number>> = {}
  for (const key of backwards ? ours.toReversed() : ours) {
    leastMs[key] = await LEAST[key](bare)
    told[key] = await labStream(child, port, OURS[key])
  }
  for (const [key, flags] of Object.entries(REFERENCE)) {
    told[key as keyof typeof REFERENCE] = await labStream(child, port, flags)
  }
  return { told, leastMs } as Round
}

function rowsOf(all: readonly Round[], where: string, least: Readonly<Record<Ours, number>>): Row[] {
  const ours = Object.keys(OURS) as Ours[]
  const loops = ['loopLease', 'loopOptimistic'] as const
  return [
    ...ours.map(key => ratioRow(key, all, where, least[key])),
    ...loops.flatMap(key => evennessRows(key, all, where)),
  ]
}

async function labStream(child: string, port: number, flags: readonly string[]): Promise<Told> {
  const store = `azurite://127.0.0.1:${port}/lab`
  const argv = [child, 'lab', 'stream', '--events', String(EVENTS), '--store', store, '-o', 'json', ...flags]
  const { stdout } = await promisify(execFile)(process.execPath, argv)
  const told = JSON.parse(stdout) as Told
  if (!told.exactlyOnce) throw new Error(`not exactly once: ${flags.join(' ')}`)
  return told
}

function ratioRow(key: Ours, all: readonly Round[], where: string, limit: number): Row {
  const { to, what } = COMPARED[key]
  const own = all.map(({ told }) => told[key].wallMs)
  const reference = all.map(({ told }) => told[to].wallMs)
  const bare = all.map(({ leastMs }) => leastMs[key])
  return {
    figure: `${EVENTS} events ${what}: polling of 2013 / leasectl, Azurite ${where}`,
    ratio: median(reference) / median(own),
    limit,
    bound: 'at least',
    note: `${rangeText(reference)} / ${rangeText(own)}; its calls alone, one after the other: ${rangeText(bare)}`,
  }
}

function evennessRows(key: 'loopLease' | 'loopOptimistic', all: readonly Round[], where: string): Row[] {
  const { what } = COMPARED[key]
  return [
    {
      figure: `fairness (Jain) of ${what}, Azurite ${where}`,
      ratio: median(all.map(({ told }) => told[key].fairness)),
      limit: limits.fairness,
      bound: 'at least',
    },
    {
      figure: `longest wait / whole time of ${what}, Azurite ${where}`,
      ratio: median(all.map(({ told }) => told[key].worstWaitShare)),
      limit: limits.longestWait[key],
    },
  ]
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function rangeText(ms: readonly number[]): string {
  const seconds = (value: number) => (value / 1000).toFixed(2)
  return `${seconds(median(ms))} s (${seconds(Math.min(...ms))}-${seconds(Math.max(...ms))})`
}
