import { type FaultRates, NO_FAULTS } from '../faults.ts'
import { Random } from '../random.ts'

/** The faults of a system, each at its time, ms from the beginning. Processes: `worker-0` …, `dog-0` …, `operator`. */
export type Trouble = { readonly atMs: number } & (
  | { readonly kind: 'crash'; readonly who: string; readonly forMs: number }
  /** Like SIGSTOP and SIGCONT. */
  | { readonly kind: 'pause'; readonly who: string; readonly forMs: number }
  /** `*`: for all. */
  | { readonly kind: 'outage'; readonly who: string; readonly forMs: number }
  /** The clock of a worker's machine is set. */
  | { readonly kind: 'clock'; readonly who: string; readonly byMs: number }
  /** The clock of the machine of a worker runs at this rate, from the beginning. */
  | { readonly kind: 'rate'; readonly who: string; readonly rate: number }
  /** An explicit lease is taken on a stream. */
  | { readonly kind: 'lease'; readonly stream: number; readonly forMs: number }
  /** An operator; `which` selects one of the events. */
  | { readonly kind: 'order'; readonly op: Order; readonly stream: number; readonly which: number }
)

export type Order =
  | 'cancel'
  | 'abort'
  | 'retry'
  | 'retry-all'
  | 'cancel-all'
  | 'set'
  | 'suspend'
  | 'suspend-stop'
  | 'signal'
  /** A whole document, under a lease. */
  | 'edit'

/** The definition of a system: plain data, so that it can be printed, read again and shrunk. */
export interface TownSettings {
  readonly seed: string
  /** Streams, workers and watchdogs by number: their actions depend on their own number, not on the total. */
  readonly streams: readonly number[]
  readonly workers: readonly number[]
  readonly dogs: readonly number[]
  readonly rates: FaultRates
  /** The maximum difference between the store's clock and each process's estimate, either way, ms. */
  readonly skewMs: number
  /** The maximum duration, ms; a whole life is enough for all streams to end. */
  readonly livesMs: number
  readonly troubles: readonly Trouble[]
  /** `false`: no stream undoes what it did. */
  readonly undoes?: boolean
  /** Sessions, each with two senders. */
  readonly sessions?: readonly number[]
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Faults begin within this time. */
export const TROUBLED_MS = 30 * MINUTE
export const WHOLE_LIFE_MS = TROUBLED_MS + 4 * HOUR

const ORDERS = [
  'cancel',
  'abort',
  'retry',
  'retry',
  'retry-all',
  'cancel-all',
  'set',
  'set',
  'suspend',
  'suspend-stop',
  'signal',
  'signal',
  'edit',
  'edit',
] as const
const KINDS = ['crash', 'crash', 'pause', 'pause', 'outage', 'clock', 'rate', 'lease', 'order', 'order'] as const

/** A different system for each seed, with this number of faults. */
export function planTown(seed: string, troubles: number): TownSettings {
  const random = new Random(`town ${seed}`)
  const size = {
    streams: random.whole(5, 9),
    workers: random.whole(2, 4),
    dogs: random.whole(1, 3),
    sessions: random.whole(1, 2),
  }
  const rates = random.chance(0.8) ? { requestLost: 0.04, answerLost: 0.04, unknown: 0.02 } : NO_FAULTS
  const skewMs = random.pick([0, 250, 1_000])
  const planned = Array.from({ length: troubles }, () => planTrouble(random, size))
  return {
    seed,
    streams: numbers(size.streams),
    workers: numbers(size.workers),
    dogs: numbers(size.dogs),
    rates,
    skewMs,
    livesMs: WHOLE_LIFE_MS,
    sessions: numbers(size.sessions),
    troubles: planned.sort((a, b) => a.atMs - b.atMs),
  }
}

interface Size {
  readonly streams: number
  readonly workers: number
  readonly dogs: number
  readonly sessions: number
}

function planTrouble(random: Random, { streams, workers, dogs, sessions }: Size): Trouble {
  const worker = `worker-${random.whole(0, workers - 1)}`
  const sender = `sender-${random.whole(0, 2 * sessions - 1)}`
  const anybody = random.pick([worker, worker, `dog-${random.whole(0, dogs - 1)}`, sender])
  const at = { atMs: whole(random.between(0, TROUBLED_MS)) }
  const forMs = whole(random.spread(1_000, 10 * MINUTE))
  const stream = random.whole(0, streams - 1)
  const kind = random.pick(KINDS)
  switch (kind) {
    case 'crash':
    case 'pause':
      return { kind, ...at, who: anybody, forMs }
    case 'outage':
      return { kind, ...at, who: random.chance(0.4) ? '*' : anybody, forMs }
    case 'clock':
      return { kind, ...at, who: worker, byMs: random.pick([-1, 1]) * random.pick([1_000, HOUR, DAY]) }
    case 'rate':
      return { kind, atMs: 0, who: worker, rate: random.pick([0.5, 2]) }
    case 'lease':
      return { kind, ...at, stream, forMs: 1_000 * random.whole(15, 60) }
    case 'order': {
      const op = random.pick(ORDERS)
      return { kind, ...at, op, stream, which: random.whole(0, 40) }
    }
    default:
      return kind satisfies never
  }
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at)
}

function whole(ms: number): number {
  return Math.round(ms)
}
