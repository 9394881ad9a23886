import { randomUUID } from 'node:crypto'
import { readStream } from '../ops/read-stream.ts'
import { documentCache } from '../ops/transact/commit.ts'
import { type TransactOptions, type TransactOutcome, transact } from '../ops/transact/transact.ts'
import type { Holder, StreamStore, WriteMode } from '../store/store.ts'
import { isFinal, type StreamEvent } from '../stream/event.ts'
import { ROOT_ID } from '../stream/event-id.ts'
import type { Operation } from '../stream/operations/operation.ts'
import { claimRuns } from '../stream/time/deadlines.ts'
import { sleepUntilAborted } from '../util/concurrency.ts'
import type { LabChange } from './samples.ts'
import type { PaceName } from './strategies.ts'
import type { WaitStrategy } from './wait-strategy.ts'

/** Longer than any lease that a killed process leaves behind. */
const LEASE_WAIT_MS = 120_000

export interface LabWorkOptions {
  /** The worker's name, which is also the owner of its claims. */
  readonly name: string
  readonly paceName: PaceName
  readonly pace: WaitStrategy
  readonly write: WriteMode
  readonly claimMs: number
  /** How long the work on an event takes, ms. */
  readonly holdMs: number
  readonly random: () => number
  /** Ms since the work began. */
  readonly clock: () => number
  readonly signal: AbortSignal
  readonly report: (change: LabChange) => void
}

/** Events of the lab's stream that may be claimed now: not started, or with an expired claim. */
export function claimable(events: readonly StreamEvent[], nowMs: number): string[] {
  const isAbandoned = (event: StreamEvent) => event.lc.owner !== undefined && !claimRuns(event, nowMs)
  return events
    .filter(event => event.id !== ROOT_ID && !isFinal(event))
    .filter(event => event.status === 'init' || isAbandoned(event))
    .map(({ id }) => id)
}

/** A claimed event with its fencing token. */
interface Claimed {
  readonly event: string
  readonly fence: number
}

/**
 * Repeatedly claims and completes an event of the stream until the stream is done or the signal aborts. It picks events
 * at random, so that workers seldom pick the same one. Like `work`, it submits the completion of one event together with
 * the claim of the next, so that they share a write. The reference makes one change after the other.
 */
export async function workInLoop(store: StreamStore, stream: string, options: LabWorkOptions): Promise<void> {
  let idleSinceMs: number | undefined
  let claimed: Claimed | undefined
  while (!options.signal.aborted) {
    if (claimed !== undefined && options.holdMs > 0) await sleepUntilAborted(options.holdMs, options.signal)
    if (options.signal.aborted) return
    if (claimed !== undefined) {
      claimed = await completed(store, stream, claimed, options)
      if (claimed !== undefined) continue
    }
    const events = await readClaimable(store, stream)
    if (events === 'done') return
    const event = oneOf(events, options)
    if (event === undefined) {
      idleSinceMs ??= options.clock()
      await sleepUntilAborted(options.pace.retryMs(options.clock() - idleSinceMs), options.signal)
    } else {
      idleSinceMs = undefined
      claimed = await claim(store, stream, event, options)
    }
  }
}

/** Completes an event and claims another if one is known. Returns the claim, if it succeeded. */
async function completed(store: StreamStore, stream: string, own: Claimed, options: LabWorkOptions) {
  const completing = complete(store, stream, own, options)
  const claiming = claimKnown(store, stream, options)
  await completing
  // If another worker was faster, the document just written shows which events are still free.
  return (await claiming) ?? claimKnown(store, stream, options)
}

/** Claims an event that is free in the document that this process wrote last. */
async function claimKnown(store: StreamStore, stream: string, options: LabWorkOptions): Promise<Claimed | undefined> {
  const known = options.paceName === 'usual' ? documentCache(store).latest(stream) : undefined
  const next = oneOf(claimable(known?.events ?? [], store.nowMs()), options)
  return next === undefined ? undefined : claim(store, stream, next, options)
}

function oneOf(events: readonly string[], { random }: LabWorkOptions): string | undefined {
  return events[Math.floor(random() * events.length)]
}

/** Works on all events at the same time: concurrent changes share a write. */
export async function workAtOnce(
  store: StreamStore,
  stream: string,
  share: readonly string[],
  options: LabWorkOptions,
): Promise<void> {
  await Promise.all(share.map(event => workOn(store, stream, event, options)))
}

async function readClaimable(store: StreamStore, stream: string): Promise<readonly string[] | 'done'> {
  const view = await readStream(store, stream)
  if (view === undefined) throw new Error(`the stream ${stream} was removed while the lab ran`)
  return view.stream.done ? 'done' : claimable(view.stream.events, view.nowMs)
}

/** Claims an event and completes it, unless another worker has claimed it. */
async function workOn(store: StreamStore, stream: string, event: string, options: LabWorkOptions): Promise<void> {
  const { holdMs, signal } = options
  const claimed = await claim(store, stream, event, options)
  if (claimed === undefined) return
  if (holdMs > 0) await sleepUntilAborted(holdMs, signal)
  if (!signal.aborted) await complete(store, stream, claimed, options)
}

async function claim(
  store: StreamStore,
  stream: string,
  event: string,
  options: LabWorkOptions,
): Promise<Claimed | undefined> {
  const { name: owner, claimMs } = options
  const started = await timed(store, stream, { op: 'start', event, owner, claimMs }, options)
  return started?.claim === undefined ? undefined : { event, fence: started.claim.fence }
}

function complete(store: StreamStore, stream: string, { event, fence }: Claimed, options: LabWorkOptions) {
  return timed(store, stream, { op: 'complete', event, fence }, options)
}

/** Makes a change and reports how long it took. Returns its result, or `undefined` if it was refused. */
async function timed(
  store: StreamStore,
  stream: string,
  operation: Extract<Operation, { op: 'start' | 'complete' }>,
  options: LabWorkOptions,
) {
  const startMs = options.clock()
  const outcome = await changed(store, stream, operation, options)
  if (options.signal.aborted && outcome.kind === 'held') return undefined
  const atMs = options.clock()
  const { op, event } = operation
  const answer = outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind
  options.report({ op, event, outcome: answer, tookMs: atMs - startMs, atMs })
  if (outcome.kind !== 'done' && outcome.kind !== 'refused') throw notMade(stream, operation.op, outcome)
  return outcome.kind === 'done' ? outcome.result : undefined
}

async function changed(store: StreamStore, stream: string, operation: Operation, options: LabWorkOptions) {
  const { name: by, paceName, pace, write, signal } = options
  const author = { commandId: randomUUID(), by }
  if (paceName === 'reference') return referenceChange(store, stream, operation, { ...author, pace, signal })
  const how = { ...author, write, leaseWaitMs: LEASE_WAIT_MS, stopWaiting: signal }
  const outcome = await transact(store, stream, operation, how)
  return outcome.kind === 'unknown' ? transact(store, stream, operation, how) : outcome
}

function notMade(stream: string, op: string, outcome: TransactOutcome): Error {
  const cause = 'cause' in outcome ? { cause: outcome.cause } : {}
  return new Error(`${op} in ${stream} was not made: ${outcome.kind}`, cause)
}

/** Lease duration of that library, seconds. */
const LEASE_S = 60

/**
 * One change as the library of 2013 made it: four sequential requests (acquire, GET, PUT under the lease, release). If
 * the lease is held, it sleeps between 750 and 2 500 ms and tries again, without a limit.
 *
 * @throws the store's faults; the signal's reason
 */
export async function referenceChange(
  store: StreamStore,
  stream: string,
  operation: Operation,
  how: Pick<TransactOptions, 'by' | 'commandId'> & { readonly signal: AbortSignal; readonly pace: WaitStrategy },
): Promise<TransactOutcome> {
  const { by, commandId, signal, pace } = how
  const leaseId = randomUUID()
  const holder: Holder = { by, host: '', pid: process.pid, purpose: operation.op, sinceMs: store.nowMs() }
  for (;;) {
    signal.throwIfAborted()
    const outcome = await store.acquireLease(stream, { leaseId, durationS: LEASE_S, holder })
    if (outcome.kind === 'missing') return outcome
    if (outcome.kind === 'acquired') break
    await sleepUntilAborted(pace.retryMs(0), signal)
  }
  try {
    return await transact(store, stream, operation, { by, commandId, leaseId, leaseWaitMs: 0 })
  } finally {
    await store.releaseLease(stream, leaseId)
  }
}
