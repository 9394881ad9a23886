import { type JournalEntry, readStream, type StreamView } from '../ops/read-stream.ts'
import { readSystemDocument, SUBSCRIPTIONS } from '../ops/read-system-document.ts'
import { shardOf } from '../ops/shards/quota.ts'
import { changeSystemDocument } from '../ops/system-documents.ts'
import { checkFolderName } from '../store/names.ts'
import type { StreamStore } from '../store/store.ts'
import { StreamFault } from '../stream/errors.ts'
import { isHeld } from '../stream/lease.ts'
import { sleepUntilAborted } from '../util/concurrency.ts'
import { parsePosition, positionText, startPositionDocument } from './position/document.ts'
import { ShardPosition } from './position/position.ts'
import { MAX_POSITION_BYTES } from './positions.ts'
import { readShard, type ShardView } from './read.ts'
import {
  applyRequests,
  MOST_REQUESTS,
  type NumberedRequest,
  parseRequests,
  requestsText,
  type SubscriptionRequest,
} from './requests.ts'
import {
  readSubscription,
  requestsDocument,
  type Subscription,
  shardDocument,
  subscriptionDocument,
} from './subscription.ts'
import type { HaltedStream } from './types.ts'

/** What an operator asks for; without `toVersion` only the transaction that failed is skipped. */
export type OperatorRequest =
  | Exclude<SubscriptionRequest, { readonly kind: 'skip' }>
  | { readonly kind: 'skip'; readonly stream: string; readonly toVersion?: number | undefined }

export interface OperateOptions {
  /** Actor, `user@host`. */
  readonly by: string
  /** How long to wait for the processes that run the subscription, ms. Default 10 000. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

export type RequestOutcome =
  | { readonly kind: 'applied'; readonly request: SubscriptionRequest }
  /** It is written; the processes that run these shards have not applied it yet, and will. */
  | { readonly kind: 'pending'; readonly request: SubscriptionRequest; readonly shards: readonly number[] }
  /** There is no such subscription. */
  | { readonly kind: 'missing' }
  /** The stream neither waits nor is parked, or its next transaction was not tried: there is nothing to retry or skip. */
  | { readonly kind: 'not-halted' }
  /** The version to skip to is one that was handled already. */
  | { readonly kind: 'handled'; readonly version: number }
  /** The stream has not come to the version to skip to; `version` is its latest. */
  | { readonly kind: 'no-version'; readonly version: number }
  /** The store does not say whether the request was written: ask for the same again. */
  | { readonly kind: 'unknown'; readonly request: SubscriptionRequest }

const DEFAULT_WAIT_MS = 10_000
const POLL_MS = 250

/**
 * Asks the processes that run a subscription for something, and waits until they have done it. Shards that nobody runs are
 * changed at once.
 *
 * @throws as `openSubscription`; the store's faults
 */
export async function requestOf(
  store: StreamStore,
  name: string,
  wanted: OperatorRequest,
  options: OperateOptions,
): Promise<RequestOutcome> {
  const { signal } = options
  const subscription = await readSubscription(store, name, signal)
  if (subscription === undefined) return { kind: 'missing' }
  const halted = 'stream' in wanted ? await haltedStream(store, subscription, wanted.stream, signal) : undefined
  if ('stream' in wanted && halted === undefined) return { kind: 'not-halted' }
  const request = await completed(store, wanted, halted, signal)
  if (!isRequest(request)) return request
  await untilRoom(store, subscription, options)
  const numbered = await write(store, name, request, options)
  if (numbered === undefined) return { kind: 'unknown', request }
  const shards = await unapplied(store, subscription, numbered, options)
  return shards.length === 0 ? { kind: 'applied', request } : { kind: 'pending', request, shards }
}

async function haltedStream(
  store: StreamStore,
  subscription: Subscription,
  stream: string,
  signal: AbortSignal | undefined,
): Promise<HaltedStream | undefined> {
  const { position } = await readShard(store, subscription, shardOf(stream, subscription.spec.shards), signal)
  for (const { state, ...open } of position.streams) {
    if (open.stream === stream && state !== 'running') return { ...open, state }
  }
  return undefined
}

/** The request to write: a skip goes up to a transaction that is there. Or why there is none to leave out. */
async function completed(
  store: StreamStore,
  wanted: OperatorRequest,
  halted: HaltedStream | undefined,
  signal: AbortSignal | undefined,
): Promise<SubscriptionRequest | RequestOutcome> {
  if (wanted.kind !== 'skip') return wanted
  if (halted === undefined) return { kind: 'not-halted' }
  const { stream, toVersion } = wanted
  if (toVersion !== undefined && toVersion <= halted.version) return { kind: 'handled', version: halted.version }
  const view = await readStream(store, stream, signal)
  const latest = view?.document.version ?? 0
  if (toVersion !== undefined) {
    return toVersion > latest ? { kind: 'no-version', version: latest } : { kind: 'skip', stream, toVersion }
  }
  // A skip that is repeated must not leave out what the handler has never had.
  const isTried = halted.state === 'parked' || halted.tries > 0 || halted.attempts > 0
  const next = nextOf(view, halted)
  return isTried && next !== undefined ? { kind: 'skip', stream, toVersion: next.version } : { kind: 'not-halted' }
}

/** The transaction at which the stream is halted. */
function nextOf(view: StreamView | undefined, { version }: HaltedStream): JournalEntry | undefined {
  return view?.transactions().find(tx => tx.version > version)
}

function isRequest(found: SubscriptionRequest | RequestOutcome): found is SubscriptionRequest {
  return ['retry', 'retry-all', 'skip', 'reset'].includes(found.kind)
}

/** What a reset to a time would leave out although no handler has done with it. */
export interface LeftOut {
  /** Halted streams whose next transaction is older. */
  readonly streams: number
  /** Everything up to then was handed over or halted, epoch ms; `undefined` if that is later than the time of the reset. */
  readonly sinceMs: number | undefined
}

/** @throws the store's faults */
export async function leftOutBy(
  store: StreamStore,
  shards: readonly ShardView[],
  fromMs: number,
  signal?: AbortSignal,
): Promise<LeftOut> {
  if (fromMs === 0) return { streams: 0, sinceMs: undefined }
  let streams = 0
  for (const halted of shards.flatMap(shard => shard.halted)) {
    if (await isLeftOut(store, halted, fromMs, signal)) streams += 1
  }
  const sinceMs = Math.min(...shards.map(shard => shard.watermarkMs))
  return { streams, sinceMs: sinceMs < fromMs ? sinceMs : undefined }
}

/** Whether the next transaction of a halted stream is older; of a document that cannot be read nobody knows. */
async function isLeftOut(
  store: StreamStore,
  halted: HaltedStream,
  fromMs: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    const next = nextOf(await readStream(store, halted.stream, signal), halted)
    return next !== undefined && Date.parse(next.at) < fromMs
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error
    return true
  }
}

async function write(
  store: StreamStore,
  name: string,
  request: SubscriptionRequest,
  { by, signal }: OperateOptions,
): Promise<NumberedRequest | undefined> {
  const document = requestsDocument(name)
  const atMs = store.nowMs()
  let numbered: NumberedRequest | undefined
  const outcome = await changeSystemDocument(
    store,
    document,
    text => {
      const requests = parseRequests(document, text)
      const isWritten =
        numbered !== undefined && requests.some(({ number, atMs: at }) => number === numbered?.number && at === atMs)
      if (isWritten) return undefined
      numbered = { number: (requests.at(-1)?.number ?? 0) + 1, by, atMs, request }
      return requestsText([...requests, numbered])
    },
    { by, purpose: 'request to a subscription', maxBytes: MAX_POSITION_BYTES, ...(signal && { signal }) },
  )
  return outcome === 'written' || outcome === 'left' ? numbered : undefined
}

/** The last requests are kept: waits until the one that would be dropped is applied. */
async function untilRoom(store: StreamStore, subscription: Subscription, options: OperateOptions): Promise<void> {
  const requests = await readRequests(store, subscription.spec.name, options.signal)
  const dropped = requests.at(-MOST_REQUESTS)
  if (dropped !== undefined)
    await unapplied(store, subscription, dropped, { ...options, waitMs: Number.POSITIVE_INFINITY })
}

async function readRequests(
  store: StreamStore,
  name: string,
  signal: AbortSignal | undefined,
): Promise<readonly NumberedRequest[]> {
  const document = requestsDocument(name)
  return parseRequests(document, await readSystemDocument(store, document, signal, MAX_POSITION_BYTES))
}

/** The shards that have not applied the request when the time is over. */
async function unapplied(
  store: StreamStore,
  subscription: Subscription,
  { number, request }: NumberedRequest,
  { by, waitMs = DEFAULT_WAIT_MS, signal }: OperateOptions,
): Promise<readonly number[]> {
  const { shards: count } = subscription.spec
  const all = Array.from({ length: count }, (_, shard) => shard)
  let left = 'stream' in request ? [shardOf(request.stream, count)] : all
  const endMs = performance.now() + waitMs
  for (;;) {
    const open: number[] = []
    for (const shard of left) if (!(await isApplied(store, subscription, shard, number, by, signal))) open.push(shard)
    left = open
    if (left.length === 0 || performance.now() >= endMs || signal?.aborted) return left
    await sleepUntilAborted(POLL_MS, signal)
  }
}

/** Whether a shard has applied the request; one that nobody holds is changed here. */
async function isApplied(
  store: StreamStore,
  subscription: Subscription,
  shard: number,
  number: number,
  by: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { position, isLeased } = await readShard(store, subscription, shard, signal)
  if (position.applied >= number) return true
  if (isLeased) return false
  const { spec, fromMs } = subscription
  const name = shardDocument(spec, shard)
  const requests = await readRequests(store, spec.name, signal)
  const outcome = await changeSystemDocument(
    store,
    name,
    text => {
      const nowMs = store.nowMs()
      const found = text === undefined ? startPositionDocument(fromMs, nowMs, by) : parsePosition(name, text)
      const changed = new ShardPosition(found, nowMs)
      const { requests: applied } = applyRequests(changed, requests, shard, spec.shards)
      return applied.length === 0 ? undefined : positionText(changed.document(found.status))
    },
    { by, purpose: 'request to a subscription', waitMs: 0, maxBytes: MAX_POSITION_BYTES, ...(signal && { signal }) },
  )
  return outcome === 'written' || outcome === 'left'
}

export type RemoveSubscriptionOutcome =
  | { readonly kind: 'removed' }
  | { readonly kind: 'missing' }
  /** Processes run it: they must end before. */
  | { readonly kind: 'running'; readonly shards: readonly number[] }
  /** The store does not say whether everything was removed: repeat it. */
  | { readonly kind: 'unknown' }

/** Removes a subscription with its positions, unless a process runs it. @throws `InvalidValue`; the store's faults */
export async function removeSubscription(
  store: StreamStore,
  name: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<RemoveSubscriptionOutcome> {
  checkFolderName(name, 'a subscription')
  const last = subscriptionDocument(name)
  const prefix = `${SUBSCRIPTIONS}${name}/`
  const rows: string[] = []
  const running: number[] = []
  for await (const page of store.list({ prefix, reserved: true, ...(signal && { signal }) })) {
    for (const row of page) {
      rows.push(row.name)
      const [, shard] = /\/shards\/\d+\/(\d+)$/.exec(row.name) ?? []
      if (shard !== undefined && isHeld(row.lease)) running.push(Number(shard))
    }
  }
  if (rows.length === 0) return { kind: 'missing' }
  if (running.length > 0) return { kind: 'running', shards: running }
  // The subscription itself goes last: a repetition then finds what is left.
  for (const row of [...rows.filter(found => found !== last), ...rows.filter(found => found === last)]) {
    const outcome = await store.remove(row, signal === undefined ? {} : { signal })
    if (outcome.kind === 'held') return { kind: 'running', shards: [] }
    if (outcome.kind === 'unknown') return { kind: 'unknown' }
  }
  return { kind: 'removed' }
}
