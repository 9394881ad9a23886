import { API_VERSION, damaged, plainText, systemFields, wholeNumber } from '../../ops/system-fields.ts'
import { cutBytes } from '../../stream/text.ts'
import { isObject } from '../../stream/values.ts'
import type { HaltedStream } from '../types.ts'

/** A stream of which the watermark does not say everything: `running` ones are being delivered. */
export type UnfinishedStream = Omit<HaltedStream, 'state'> & { readonly state: 'running' | HaltedStream['state'] }

/** Part of a sweep in order of name: streams up to the name `after` count with `startedMs` instead of the watermark. */
export interface SweptPart {
  readonly after: string
  readonly startedMs: number
}

/** What people see of a shard. Nothing depends on it. */
export interface ShardStatus {
  readonly by: string
  readonly host: string
  /** Number of deliveries since the subscription was created or reset. */
  readonly delivered: number
  /** Age of the oldest transaction that is known and neither handled nor parked, ms. */
  readonly lagMs: number
  /** Deliveries a second in the last minute. */
  readonly rate: number
  /** When this was written, epoch ms. */
  readonly atMs: number
}

/** Where a subscription stands in the streams of one shard. Times are epoch ms by the store's clock. */
export interface PositionDocument {
  /** Only transactions from this time on; 0 for all. */
  readonly fromMs: number
  /** Everything that was visible then was handled, or its stream is in `streams`. */
  readonly watermarkMs: number
  /** Delivered streams that were written up to then are not in `recent`. */
  readonly forgottenMs: number
  /** In order of name. */
  readonly swept: readonly SweptPart[]
  /** Delivered streams that were written later than the watermark - `LONG_MARGIN_MS` and `forgottenMs`, by `streamKey`: their versions. */
  readonly recent: Iterable<readonly [string, number]>
  readonly streams: readonly UnfinishedStream[]
  /** Number of the last request of an operator that was applied. */
  readonly applied: number
  readonly status: ShardStatus
}

/** The position before the first transaction from `fromMs` on. */
export function startPositionDocument(fromMs: number, nowMs: number, by: string): PositionDocument {
  const status = { by, host: '', delivered: 0, lagMs: 0, rate: 0, atMs: nowMs }
  return { fromMs, watermarkMs: fromMs, forgottenMs: 0, swept: [], recent: new Map(), streams: [], applied: 0, status }
}

const KIND = 'SubscriptionShard'
/** Maximum bytes of the reason of an open stream. */
const MAX_WHY_BYTES = 200

/** The text of a position document, one line for each open stream. */
export function positionText(position: PositionDocument): string {
  const { recent, streams, ...fields } = position
  const head = JSON.stringify({ apiVersion: API_VERSION, kind: KIND, ...fields })
  const delivered: string[] = []
  for (const [key, version] of recent) delivered.push(`${key}:${version}`)
  const open = streams.map(stream => JSON.stringify({ ...stream, why: cutBytes(stream.why, MAX_WHY_BYTES) }))
  const list = open.length === 0 ? '[]' : `[\n${open.join(',\n')}\n]`
  return `${head.slice(0, -1)},"recent":"${delivered.join(' ')}",\n"streams":${list}}\n`
}

/**
 * Reads a position document.
 *
 * @throws `StoreIncompatible` if a newer leasectl wrote it, `BadDocument` if it is damaged: a guess would lose
 * transactions
 */
export function parsePosition(name: string, text: string): PositionDocument {
  const fields = systemFields(name, text, KIND)
  const numberOf = (field: string) => wholeNumber(name, field, fields[field])
  return {
    fromMs: numberOf('fromMs'),
    watermarkMs: numberOf('watermarkMs'),
    forgottenMs: fields.forgottenMs === undefined ? 0 : numberOf('forgottenMs'),
    applied: numberOf('applied'),
    swept: list(name, 'swept', fields.swept).map(part => ({
      after: plainText(name, 'after', part.after),
      startedMs: wholeNumber(name, 'startedMs', part.startedMs),
    })),
    recent: recentOf(name, fields.recent),
    streams: list(name, 'streams', fields.streams).map(stream => openStreamOf(name, stream)),
    status: statusOf(fields.status),
  }
}

function recentOf(name: string, value: unknown): ReadonlyMap<string, number> {
  const parts = plainText(name, 'recent', value).split(' ')
  const recent = new Map<string, number>()
  for (const part of parts) {
    if (part === '') continue
    const at = part.indexOf(':')
    const version = Number(part.slice(at + 1))
    if (at < 1 || !Number.isSafeInteger(version)) throw damaged(name, 'recent')
    recent.set(part.slice(0, at), version)
  }
  return recent
}

function openStreamOf(name: string, fields: Record<string, unknown>): UnfinishedStream {
  const { state } = fields
  if (state !== 'running' && state !== 'waiting' && state !== 'parked') throw damaged(name, 'state')
  const numberOf = (field: string) => wholeNumber(name, field, fields[field])
  return {
    stream: plainText(name, 'stream', fields.stream),
    born: plainText(name, 'born', fields.born),
    version: numberOf('version'),
    state,
    tries: numberOf('tries'),
    attempts: numberOf('attempts'),
    nextMs: numberOf('nextMs'),
    why: plainText(name, 'why', fields.why),
    sinceMs: numberOf('sinceMs'),
    ...(fields.unreadSinceMs === undefined ? {} : { unreadSinceMs: numberOf('unreadSinceMs') }),
  }
}

/** Never fails: nothing depends on it. */
function statusOf(value: unknown): ShardStatus {
  const fields = isObject(value) ? value : {}
  const number = (field: unknown) => (typeof field === 'number' && Number.isFinite(field) ? Math.max(0, field) : 0)
  const text = (field: unknown) => (typeof field === 'string' ? field : '')
  const { by, host, delivered, lagMs, rate, atMs } = fields
  return {
    by: text(by),
    host: text(host),
    delivered: number(delivered),
    lagMs: number(lagMs),
    rate: number(rate),
    atMs: number(atMs),
  }
}

function list(name: string, field: string, value: unknown): Record<string, unknown>[] {
  if (!Array.isArray(value) || !value.every(isObject)) throw damaged(name, field)
  return value
}
