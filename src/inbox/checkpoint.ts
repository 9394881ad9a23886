import type { LogPosition } from '../store/block-log.ts'
import { RESERVED_PREFIX } from '../store/names.ts'
import type { StreamSnapshot, StreamStore } from '../store/store.ts'
import { isObject } from '../stream/values.ts'
import type { Inbox } from './inbox.ts'

/** How far a partition is drained, as its drain has written it, and who drains it now. */
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

const NONE: PartitionCheckpoint = { position: undefined, records: 0, dead: 0, atMs: undefined, owner: undefined }

/** The checkpoint of a partition. @throws the store's faults */
export async function readPartitionCheckpoint(
  store: StreamStore,
  inbox: Inbox,
  partition: number,
  signal?: AbortSignal,
): Promise<PartitionCheckpoint> {
  const folder = `${RESERVED_PREFIX}inbox/${inbox.name}/checkpoints/${inbox.partitions}`
  const stored = await store.read(`${folder}/${partition}`, signal)
  return stored === undefined ? NONE : checkpointIn(stored)
}

/** What cannot be read, such as that of a newer leasectl, counts as none. */
function checkpointIn({ body, lease }: StreamSnapshot): PartitionCheckpoint {
  const fields = fieldsOf(body)
  const { segment, offset, records, dead, by, host, atMs } = fields
  const isHeld = lease.state === 'leased' || lease.state === 'breaking'
  const writer =
    typeof by === 'string' ? (by.includes('@') || typeof host !== 'string' ? by : `${by}@${host}`) : undefined
  return {
    position: isCount(segment) && isCount(offset) ? { segment, offset } : undefined,
    records: isCount(records) ? records : 0,
    dead: isCount(dead) ? dead : 0,
    atMs: isCount(atMs) ? atMs : undefined,
    owner: isHeld ? (lease.holder?.by ?? writer ?? '?') : undefined,
  }
}

function fieldsOf(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const fields: unknown = JSON.parse(new TextDecoder().decode(body))
    return isObject(fields) && fields.kind === 'inbox-checkpoint' ? fields : {}
  } catch {
    return {}
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
