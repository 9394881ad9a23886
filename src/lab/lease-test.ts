import { randomUUID } from 'node:crypto'
import type { Holder, StreamStore } from '../store/store.ts'
import { sleepUntilAborted } from '../util/concurrency.ts'
import type { Turn } from './samples.ts'
import type { WaitStrategy } from './wait-strategy.ts'

/** Seconds; the shortest that Azure gives. */
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
  readonly tell: (turn: Turn) => void
}

/**
 * Takes the lease of a stream in turn with others, until the time is up or the signal aborts. What waits then is told too:
 * who starves shall be seen.
 *
 * @throws the store's faults; the stream is not there
 */
export async function takeTurns(store: StreamStore, stream: string, options: TurnOptions): Promise<void> {
  const { clock, durationMs, pace, signal } = options
  const endMs = clock() + durationMs
  while (clock() < endMs && !signal.aborted) {
    options.tell(await takeTurn(store, stream, endMs, options))
    await sleepUntilAborted(pace.restMs(), signal)
  }
}

async function takeTurn(store: StreamStore, stream: string, endMs: number, options: TurnOptions): Promise<Turn> {
  const { clock, holdMs, signal } = options
  const leaseId = randomUUID()
  const askedMs = clock()
  const { attempts, acquired } = await acquire(store, stream, leaseId, endMs, options)
  const fromMs = clock()
  const waitedMs = fromMs - askedMs
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
  const askedMs = clock()
  for (let attempts = 1; ; attempts++) {
    // An acquire without an answer is repeated under the same id, which is safe.
    const outcome = await store.acquireLease(stream, { leaseId, durationS: LEASE_S, holder })
    if (outcome.kind === 'acquired') return { attempts, acquired: true }
    if (outcome.kind === 'missing') throw new Error(`the stream ${stream} was removed while the lab ran`)
    if (signal.aborted || clock() >= endMs) {
      if (outcome.kind === 'unknown') await store.releaseLease(stream, leaseId)
      return { attempts, acquired: false }
    }
    await sleepUntilAborted(Math.min(pace.retryMs(clock() - askedMs), Math.max(0, endMs - clock())), signal)
  }
}

/** A time in which a process surely held the lease. */
export interface Holding {
  readonly process: string
  readonly fromMs: number
  readonly toMs: number
}

/** Two processes that held the lease at one time. */
export interface Overlap {
  readonly first: string
  readonly second: string
  /** For how long, ms. */
  readonly ms: number
}

/**
 * Times in which two held the lease: there must be none. Each holding begins when the acquire was answered and ends before
 * the release is sent, by one clock, so that two that overlap prove that the store gave the lease twice.
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
