import { readSystemDocument } from '../ops/read-system-document.ts'
import { shardOf } from '../ops/shards/quota.ts'
import { damaged, plainText, systemFields, systemText, wholeNumber } from '../ops/system-fields.ts'
import type { StreamStore } from '../store/store.ts'
import { isObject } from '../stream/values.ts'
import type { ShardPosition } from './position/position.ts'
import { MAX_POSITION_BYTES } from './positions.ts'
import type { HeldShard } from './shard.ts'

/** What an operator wants of a subscription. */
export type SubscriptionRequest =
  /** A halted stream is tried at once. */
  | { readonly kind: 'retry'; readonly stream: string }
  /** All parked streams are tried at once. */
  | { readonly kind: 'retry-all' }
  /** A halted stream goes on after this version. */
  | { readonly kind: 'skip'; readonly stream: string; readonly toVersion: number }
  /** Everything from this time on is handed over again, epoch ms; 0 for all. */
  | { readonly kind: 'reset'; readonly fromMs: number }

/** A request as it is written for the processes that run the subscription. */
export interface NumberedRequest {
  readonly number: number
  readonly by: string
  readonly atMs: number
  readonly request: SubscriptionRequest
}

const KIND = 'SubscriptionRequests'
/** The last requests that are kept, for shards that nobody has held since. */
export const MOST_REQUESTS = 200

export function parseRequests(name: string, text: string | undefined): readonly NumberedRequest[] {
  if (text === undefined) return []
  const { requests } = systemFields(name, text, KIND)
  if (!Array.isArray(requests) || !requests.every(isObject)) throw damaged(name, 'requests')
  return requests.map(fields => ({
    number: wholeNumber(name, 'number', fields.number),
    by: plainText(name, 'by', fields.by),
    atMs: wholeNumber(name, 'atMs', fields.atMs),
    request: requestOf(name, fields),
  }))
}

export function requestsText(requests: readonly NumberedRequest[]): string {
  const kept = requests.slice(-MOST_REQUESTS).map(({ request, ...fields }) => ({ ...fields, ...request }))
  return systemText(KIND, { requests: kept })
}

/** What was applied to one shard. */
export interface AppliedRequests {
  readonly requests: readonly NumberedRequest[]
  /** All streams must be looked at again. */
  readonly isReset: boolean
}

/** Applies the requests that the position has not seen, in order. */
export function applyRequests(
  position: ShardPosition,
  requests: readonly NumberedRequest[],
  shard: number,
  count: number,
): AppliedRequests {
  const fresh = requests.filter(({ number }) => number > position.applied)
  for (const { number, request } of fresh) {
    if (request.kind === 'reset') position.reset(request.fromMs)
    else if (request.kind === 'retry-all') position.releaseParked()
    else if (shardOf(request.stream, count) === shard) {
      position.release(request.stream, request.kind === 'skip' ? request.toVersion : undefined)
    }
    position.requestApplied(number)
  }
  return { requests: fresh, isReset: fresh.some(({ request }) => request.kind === 'reset') }
}

/** Reads the requests and applies what is new for these shards. @throws the store's faults; those of `parseRequests` */
export async function applyNewRequests(
  store: StreamStore,
  name: string,
  shards: Iterable<HeldShard>,
  count: number,
  signal: AbortSignal,
): Promise<AppliedRequests> {
  const all = parseRequests(name, await readSystemDocument(store, name, signal, MAX_POSITION_BYTES))
  const fresh = new Set<NumberedRequest>()
  let isReset = false
  for (const shard of shards) {
    const applied = applyRequests(shard.position, all, shard.number, count)
    isReset ||= applied.isReset
    if (applied.requests.length === 0) continue
    shard.mustWrite()
    void shard.write()
    for (const request of applied.requests) fresh.add(request)
  }
  return { requests: [...fresh], isReset }
}

/** A request in words. */
export function requestText(request: SubscriptionRequest): string {
  switch (request.kind) {
    case 'retry':
      return `retry ${request.stream}`
    case 'retry-all':
      return 'retry all parked streams'
    case 'skip':
      return `skip ${request.stream} up to version ${request.toVersion}`
    case 'reset':
      return `reset from ${request.fromMs === 0 ? 'the start' : new Date(request.fromMs).toISOString()}`
    default:
      return request satisfies never
  }
}

function requestOf(name: string, { kind, stream, toVersion, fromMs }: Record<string, unknown>): SubscriptionRequest {
  switch (kind) {
    case 'retry':
      return { kind, stream: plainText(name, 'stream', stream) }
    case 'retry-all':
      return { kind }
    case 'skip':
      return { kind, stream: plainText(name, 'stream', stream), toVersion: wholeNumber(name, 'toVersion', toVersion) }
    case 'reset':
      return { kind, fromMs: wholeNumber(name, 'fromMs', fromMs) }
    default:
      throw damaged(name, 'kind')
  }
}
