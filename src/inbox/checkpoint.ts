import { readSystemDocument } from '../ops/system-documents.ts'
import { LOG_START, type LogPosition } from '../store/block-log.ts'
import { StoreIncompatible } from '../store/errors.ts'
import { RESERVED_PREFIX } from '../store/names.ts'
import type { StreamSnapshot, StreamStore } from '../store/store.ts'
import { BadDocument, StreamFault } from '../stream/errors.ts'
import { isHeld } from '../stream/lease.ts'
import { isObject } from '../stream/values.ts'
import type { Inbox } from './inbox.ts'

const API_VERSION = 'leasectl/v1'
const KIND = 'inbox-checkpoint'

/** How far a partition of an inbox is drained: every record below the position has had its effect. */
export interface Checkpoint extends LogPosition {
  /** Records below the position, those of the trimmed beginning included. */
  readonly records: number
  /** How many of them became dead letters. */
  readonly dead: number
  /** Who wrote it, `user@host`. */
  readonly by: string
  readonly host: string
  /** When it was written, epoch ms by the store's clock; 0 if nothing was drained yet. */
  readonly atMs: number
}

export const NO_CHECKPOINT: Checkpoint = { ...LOG_START, records: 0, dead: 0, by: '', host: '', atMs: 0 }

/** The folder of the checkpoints, each under the lease of its partition. */
export function checkpointFolder({ name }: Inbox): string {
  return `${RESERVED_PREFIX}inbox/${name}/checkpoints`
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
  return `${JSON.stringify({ apiVersion: API_VERSION, kind: KIND, ...checkpoint })}\n`
}

/** @throws BadDocument if it is damaged: a new beginning could repeat what was removed meanwhile; StoreIncompatible */
export function parseCheckpoint(name: string, text: string): Checkpoint {
  const fields = jsonOf(text)
  if (!isObject(fields) || fields.kind !== KIND) throw damaged(name)
  if (fields.apiVersion !== API_VERSION) {
    throw new StoreIncompatible(`${name} was written by a newer leasectl (${String(fields.apiVersion)})`, {
      hint: 'Use that leasectl, or a newer one.',
    })
  }
  const { segment, offset, records, dead, by, host, atMs } = fields
  const numbers = [segment, offset, records, dead, atMs].map(value => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw damaged(name)
    return value
  })
  const [segmentNumber = 0, offsetBytes = 0, count = 0, deadCount = 0, writtenMs = 0] = numbers
  return {
    segment: segmentNumber,
    offset: offsetBytes,
    records: count,
    dead: deadCount,
    by: typeof by === 'string' ? by : '',
    host: typeof host === 'string' ? host : '',
    atMs: writtenMs,
  }
}

function damaged(name: string): BadDocument {
  return new BadDocument(`${name} is not a checkpoint: restore it, since without it the partition begins anew`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** How far a partition is drained, for people, and who drains it now. */
export interface PartitionCheckpoint {
  /** Below it all is done. `undefined`: no drain has written a checkpoint, or it cannot be read. */
  readonly position: LogPosition | undefined
  /** Number of records drained so far. */
  readonly records: number
  /** Number of them that are dead letters. */
  readonly dead: number
  /** When it was written, epoch ms. */
  readonly atMs: number | undefined
  /** The drain that has the partition's lease: `user@host`. */
  readonly owner: string | undefined
}

/** What cannot be read, such as that of a newer leasectl, counts as none. @throws the store's faults */
export async function readPartitionCheckpoint(
  store: StreamStore,
  inbox: Inbox,
  partition: number,
  signal?: AbortSignal,
): Promise<PartitionCheckpoint> {
  const stored = await store.read(checkpointName(inbox, partition), signal)
  const found = stored && readable(stored)
  const owner = stored && isHeld(stored.lease) ? (stored.lease.holder?.by ?? (found?.by || '?')) : undefined
  if (found === undefined) return { position: undefined, records: 0, dead: 0, atMs: undefined, owner }
  const { segment, offset, records, dead, atMs } = found
  return { position: { segment, offset }, records, dead, atMs, owner }
}

function readable({ name, body }: StreamSnapshot): Checkpoint | undefined {
  try {
    return parseCheckpoint(name, new TextDecoder().decode(body))
  } catch (error) {
    if (error instanceof StreamFault || error instanceof StoreIncompatible) return undefined
    throw error
  }
}
