import { randomUUID } from 'node:crypto'
import type { Holder, StreamStore } from '../store/store.ts'
import { sleepUntilAborted } from '../util/concurrency.ts'
import type { Turn } from './samples.ts'
import type { WaitStrategy } from './wait-strategy.ts'

/** Seconds; the shortest lease that Azure offers. */
const LEASE_S = 15

export interface TurnOptions {
  readonly holder: Holder
  readonly durationMs: number
  /** How long the lease is held in each turn, ms; well below 15 s. */
  readonly holdMs: number
  readonly pace: WaitStrategy
  /** The machine's monotonic clock, ms. */
  readonly clock: () => number
  readonly signal: AbortSignal
  readonly report: (turn: Turn) => void
}

/**
 * Takes the lease of a stream in turn with other processes until the time is up or the signal aborts. An unfinished wait
 * is reported too, so that starvation shows.
 *
 * @throws the store's faults; an error if the stream is missing
 */
export async function takeTurns(store: StreamStore, stream: string, options: TurnOptions): Promise<void> {
  const { clock, durationMs, pace, signal } = options
  const endMs = clock() + durationMs
  while (clock() < endMs && !signal.aborted) {
    options.report(await takeTurn(store, stream, endMs, options))
    await sleepUntilAborted(Math.min(pace.restMs(), Math.max(0, endMs - clock())), signal)
  }
}

async function takeTurn(store: StreamStore, stream: string, endMs: number, options: TurnOptions): Promise<Turn> {
  const { clock, holdMs, signal } = options
  const leaseId = randomUUID()
  const startMs = clock()
  const { attempts, acquired } = await acquire(store, stream, leaseId, endMs, options)
  const fromMs = clock()
  const waitedMs = fromMs - startMs
  if (!acquired) return { attempts, waitedMs, held: null, lost: false }
  await sleepUntilAborted(holdMs, signal)
  const toMs = clock()
  const released = await store.releaseLease(stream, leaseId)
  return { attempts, waitedMs, held: { fromMs, toMs }, lost: released.kind === 'lost' }
}

async function acquire(
  store: StreamStore,
  stream: string,
  leaseId: string,
  endMs: number,
  { holder, pace, clock, signal }: TurnOptions,
): Promise<{ readonly attempts: number; readonly acquired: boolean }> {
  const startMs = clock()
  for (let attempts = 1; ; attempts++) {
    // It is safe to repeat an unanswered acquire with the same id.
    const outcome = await store.acquireLease(stream, { leaseId, durationS: LEASE_S, holder })
    if (outcome.kind === 'acquired') return { attempts, acquired: true }
    if (outcome.kind === 'missing') throw new Error(`the stream ${stream} was removed while the lab ran`)
    if (signal.aborted || clock() >= endMs) {
      if (outcome.kind === 'unknown') await store.releaseLease(stream, leaseId)
      return { attempts, acquired: false }
    }
    await sleepUntilAborted(Math.min(pace.retryMs(clock() - startMs), Math.max(0, endMs - clock())), signal)
  }
}

/** A period in which a process certainly held the lease. */
export interface Holding {
  readonly process: string
  readonly fromMs: number
  readonly toMs: number
}

/** Two processes that held the lease at the same time. */
export interface Overlap {
  readonly first: string
  readonly second: string
  /** Duration, ms. */
  readonly ms: number
}

/**
 * Finds periods in which two processes held the lease; a correct store has none. Each holding begins with the answer to
 * the acquire and ends before the release is sent, measured by one clock. So an overlap proves that the store granted
 * the lease twice.
 */
export function overlapsIn(holdings: readonly Holding[]): Overlap[] {
  const found: Overlap[] = []
  let last: Holding | undefined
  for (const next of holdings.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (last !== undefined && next.fromMs < last.toMs) {
      const ms = Math.min(last.toMs, next.toMs) - next.fromMs
      found.push({ first: last.process, second: next.process, ms })
    }
    if (last === undefined || next.toMs > last.toMs) last = next
  }
  return found
}
