import { INBOXES, readSystemDocument } from '../ops/read-system-document.ts'
import { plainText, systemFields, systemText, wholeNumber } from '../ops/system-fields.ts'
import { LOG_START, type LogPosition } from '../store/block-log.ts'
import { StoreIncompatible } from '../store/errors.ts'
import type { StreamSnapshot, StreamStore } from '../store/store.ts'
import { StreamFault } from '../stream/errors.ts'
import { isHeld } from '../stream/lease.ts'
import { isObject } from '../stream/values.ts'
import { RATE_WINDOW_MS } from '../util/rate-meter.ts'
import type { Inbox } from './inbox.ts'
import type { LastLine } from './last-line.ts'

const KIND = 'inbox-checkpoint'

/** How far a partition of an inbox is drained: every record below the position has had its effect. */
export interface Checkpoint extends LogPosition {
  /** Records below the position, those of the trimmed beginning included. */
  readonly records: number
  /** How many of them became dead letters. */
  readonly dead: number
  /** Records drained a second in the minute before it was written. */
  readonly rate: number
  /** Who wrote it, `user@host`. */
  readonly by: string
  readonly host: string
  /** When it was written, epoch ms by the store's clock; 0 if nothing was drained yet. */
  readonly atMs: number
  /** The line before the position. Older checkpoints have none. */
  readonly last?: LastLine | undefined
}

export const NO_CHECKPOINT: Checkpoint = { ...LOG_START, records: 0, dead: 0, rate: 0, by: '', host: '', atMs: 0 }

/** The folder of the checkpoints, each under the lease of its partition. */
export function checkpointFolder({ name }: Inbox): string {
  return `${INBOXES}${name}/checkpoints`
}

function checkpointName(inbox: Inbox, partition: number): string {
  return `${checkpointFolder(inbox)}/${inbox.partitions}/${partition}`
}

/** The checkpoint of a partition; `undefined` if nobody has drained it. @throws as `parseCheckpoint`; the store's faults */
export async function readCheckpoint(
  store: StreamStore,
  inbox: Inbox,
  partition: number,
  signal?: AbortSignal,
): Promise<Checkpoint | undefined> {
  const name = checkpointName(inbox, partition)
  const text = await readSystemDocument(store, name, signal)
  return text === undefined ? undefined : parseCheckpoint(name, text)
}

export function checkpointText(checkpoint: Checkpoint): string {
  return systemText(KIND, checkpoint)
}

/**
 * Reads the document of a checkpoint.
 *
 * @throws `BadDocument` if it is damaged: a new beginning could repeat what was removed meanwhile; `StoreIncompatible`
 */
export function parseCheckpoint(name: string, text: string): Checkpoint {
  const fields = systemFields(name, text, KIND)
  const numberOf = (field: string) => wholeNumber(name, field, fields[field])
  return {
    segment: numberOf('segment'),
    offset: numberOf('offset'),
    records: numberOf('records'),
    dead: numberOf('dead'),
    rate: rateOf(fields.rate),
    by: plainText(name, 'by', fields.by),
    host: plainText(name, 'host', fields.host),
    atMs: numberOf('atMs'),
    last: lastLineIn(name, fields.last),
  }
}

function lastLineIn(name: string, value: unknown): LastLine | undefined {
  if (value === undefined) return undefined
  const { bytes, crc } = isObject(value) ? value : {}
  return { bytes: wholeNumber(name, 'last.bytes', bytes), crc: wholeNumber(name, 'last.crc', crc) }
}

/** Older checkpoints have none. */
function rateOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0
}

/** How far a partition is drained, for people, and who drains it now. */
export interface PartitionCheckpoint {
  /** Below it all is done. `undefined`: no drain has written a checkpoint, or it cannot be read. */
  readonly position: LogPosition | undefined
  readonly last?: LastLine | undefined
  /** Why no drain can go on from it. */
  readonly fault?: string | undefined
  /** Number of records drained so far. */
  readonly records: number
  /** Number of them that are dead letters. */
  readonly dead: number
  /** Records drained a second in the last minute. */
  readonly rate: number
  /** When it was written, epoch ms. */
  readonly atMs: number | undefined
  /** The drain that has the partition's lease: `user@host`. */
  readonly owner: string | undefined
}

/** One that cannot be read, such as that of a newer leasectl, is a fault. @throws the store's faults */
export async function readPartitionCheckpoint(
  store: StreamStore,
  inbox: Inbox,
  partition: number,
  signal?: AbortSignal,
): Promise<PartitionCheckpoint> {
  const stored = await store.read(checkpointName(inbox, partition), signal)
  const found = stored && readable(stored)
  const by = found !== undefined && 'by' in found ? found.by : ''
  const owner = stored && isHeld(stored.lease) ? (stored.lease.holder?.by ?? (by || '?')) : undefined
  if (found !== undefined && 'fault' in found) return { ...NOTHING_DRAINED, owner, fault: found.fault }
  // The first lease of a partition writes one of 0.
  if (found === undefined || found.atMs === 0) return { ...NOTHING_DRAINED, owner }
  const { segment, offset, records, dead, atMs, last } = found
  return { position: { segment, offset }, last, records, dead, rate: rateNow(found, store.nowMs()), atMs, owner }
}

const NOTHING_DRAINED = { position: undefined, records: 0, dead: 0, rate: 0, atMs: undefined } as const

/** A checkpoint is written while records are drained: the longer ago that is, the less of its minute is in the last one. */
function rateNow({ rate, atMs }: Checkpoint, nowMs: number): number {
  return rate * Math.min(1, Math.max(0, 1 - (nowMs - atMs) / RATE_WINDOW_MS))
}

function readable({ name, body }: StreamSnapshot): Checkpoint | { readonly fault: string } {
  try {
    return parseCheckpoint(name, new TextDecoder().decode(body))
  } catch (error) {
    if (error instanceof StreamFault || error instanceof StoreIncompatible) return { fault: error.message }
    throw error
  }
}
