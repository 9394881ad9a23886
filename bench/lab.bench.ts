import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { startAzurite } from '../test/support/azurite.ts'
import { startFaultProxy } from '../test/support/fault-proxy.ts'
import type { Row } from './lib/bench.ts'
import { withBundled } from './lib/bundled.ts'
import { interleave, type Samples } from './lib/interleave.ts'

export const name = 'lab'

/**
 * Least ratios of the time of the library of 2013 (it polls every 750 to 2 500 ms where the lease is held, and makes a change
 * in four calls) to ours; and of our worker loops the least fairness and the longest wait as a share of the whole.
 */
export const limits = {
  plain: { lease10: 35, optimistic10: 70, lease2: 200, loopLease: 5, loopOptimistic: 5 },
  delayed: { lease10: 15, optimistic10: 30, lease2: 70, loopLease: 2.5, loopOptimistic: 4 },
  fairness: 0.9,
  longestWait: { loopLease: 0.5, loopOptimistic: 0.35 },
}

const EVENTS = 99
const ROUNDS = 5
/** Before a request is forwarded, and before it is answered: 8 ms a call. */
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

/** What `lab stream -o json` tells that is used here. */
interface Told {
  readonly wallMs: number
  readonly fairness: number
  readonly worstWaitShare: number
  readonly exactlyOnce: boolean
}

export async function run(): Promise<Row[]> {
  return withBundled('bench/lib/child-lab.ts', async ({ child }) => [
    ...(await onEmulator(0, port => measured(child, port, '+0 ms', limits.plain))),
    ...(await onEmulator(DELAY_MS, port => measured(child, port, `+${2 * DELAY_MS} ms a call`, limits.delayed))),
  ])
}

/** Each half has a fresh one: in memory it cleans up every ten minutes, and stands still for minutes then. */
async function onEmulator(delayMs: number, measure: (port: number) => Promise<Row[]>): Promise<Row[]> {
  const azurite = await startAzurite()
  const proxy = await startFaultProxy({ target: { port: azurite.port }, delayMs })
  try {
    return await measure(delayMs === 0 ? azurite.port : proxy.port)
  } finally {
    await proxy.stop()
    await azurite.stop()
  }
}

/** All of them in turns, one at a time, each with fresh processes and a fresh stream; the time begins when all are ready. */
async function measured(
  child: string,
  port: number,
  where: string,
  least: Readonly<Record<Ours, number>>,
): Promise<Row[]> {
  const told: Record<string, Told[]> = {}
  const subject = (key: Subject, flags: readonly string[]) => async () => {
    const one = await labStream(child, port, flags)
    told[key] = [...(told[key] ?? []), one]
    return one.wallMs
  }
  const subjects = Object.entries({ ...OURS, ...REFERENCE }).map(([key, flags]) => [
    key,
    subject(key as Subject, flags),
  ])
  const samples = await interleave<Subject>(Object.fromEntries(subjects), ROUNDS)
  const ours = Object.keys(OURS) as Ours[]
  const loops = ['loopLease', 'loopOptimistic'] as const
  return [
    ...ours.map(key => ratioRow(key, samples, where, least[key])),
    ...loops.flatMap(key => evennessRows(key, told[key]?.slice(1) ?? [], where)),
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

function ratioRow(key: Ours, samples: Readonly<Record<Subject, Samples>>, where: string, limit: number): Row {
  const { to, what } = COMPARED[key]
  const [reference, own] = [samples[to], samples[key]]
  return {
    figure: `${EVENTS} events ${what}: polling of 2013 / leasectl, Azurite ${where}`,
    ratio: reference.median / own.median,
    limit,
    bound: 'at least',
    note: `${rangeText(reference)} / ${rangeText(own)}`,
  }
}

/** Of the rounds that count. */
function evennessRows(key: 'loopLease' | 'loopOptimistic', told: readonly Told[], where: string): Row[] {
  const { what } = COMPARED[key]
  return [
    {
      figure: `fairness (Jain) of ${what}, Azurite ${where}`,
      ratio: median(told.map(({ fairness }) => fairness)),
      limit: limits.fairness,
      bound: 'at least',
    },
    {
      figure: `longest wait / whole time of ${what}, Azurite ${where}`,
      ratio: median(told.map(({ worstWaitShare }) => worstWaitShare)),
      limit: limits.longestWait[key],
    },
  ]
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function rangeText({ best, median: middle, worst }: Samples): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(2)
  return `${seconds(middle)} s (${seconds(best)}-${seconds(worst)})`
}
