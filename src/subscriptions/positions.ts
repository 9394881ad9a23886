import { openShards, type ShardOptions } from '../ops/shards/shards.ts'
import { systemSummary } from '../ops/system-documents.ts'
import { thisHost } from '../ops/transact/transact.ts'
import type { Decision, StreamStore } from '../store/store.ts'
import { type PositionDocument, parsePosition, positionText, startPositionDocument } from './position/document.ts'

/** Which shards this process holds, and where each of them stands. */
export interface ShardPositions {
  /** Total number of shards. */
  readonly count: number
  /** Resolves when it is known which shards are held. */
  readonly ready: Promise<void>
  /** The shards held now. */
  held(): readonly number[]
  /** Identifies the time for which a shard is held without a break; `undefined` if it is not held. */
  tenureOf(shard: number): string | undefined
  /** @throws the store's faults; those of `parsePosition` */
  read(shard: number, tenure: string, signal: AbortSignal): Promise<PositionDocument>
  /**
   * `lost`: another process holds the shard, nothing was written. `busy`: try again later.
   *
   * @throws the store's faults: it may have been written
   */
  write(shard: number, tenure: string, position: PositionDocument): Promise<'written' | 'lost' | 'busy'>
  /** Takes and renews shards until the signal aborts, then releases them. */
  run(signal: AbortSignal): Promise<void>
}

/** A position document is read and written up to this size, bytes. */
export const MAX_POSITION_BYTES = 16 * 1024 * 1024
/** A write that takes longer is given up, ms. */
const WRITE_MS = 5_000

/** The processes of a name share its shards by leases on the positions themselves: who lost a lease cannot write. */
export function leasedPositions(
  store: StreamStore,
  {
    name,
    fromMs,
    ...options
  }: Omit<ShardOptions, 'role' | 'content'> & { readonly name: string; readonly fromMs: number },
): ShardPositions {
  const { by } = options
  const start = () => startPositionDocument(fromMs, store.nowMs(), by)
  const shards = openShards(store, { ...options, role: `subscription ${name}`, content: positionText(start()) })
  return {
    count: shards.count,
    ready: shards.ready,
    held: () => shards.held(),
    tenureOf: shard => shards.leaseIdOf(shard),
    run: signal => shards.run(signal),
    async read(shard, _, signal) {
      const document = shards.nameOf(shard)
      const stored = await store.read(document, signal)
      return stored === undefined ? start() : parsePosition(document, new TextDecoder().decode(stored.body))
    },
    async write(shard, leaseId, position) {
      const body = Buffer.from(positionText(position))
      const purpose = `subscription ${name}, shard ${shard}`
      const holder = { by, host: thisHost(), pid: process.pid, purpose, sinceMs: store.nowMs() }
      // Called again after a write without an answer: it writes the same once more, under the same lease.
      const decide = (): Decision => ({ kind: 'put', body, summary: systemSummary(store, by) })
      const options = { leaseId, waitMs: 0, holder, deadlineMs: WRITE_MS }
      const outcome = await store.update(shards.nameOf(shard), decide, options)
      switch (outcome.kind) {
        case 'committed':
        case 'left':
          return 'written'
        case 'unknown':
          throw outcome.cause
        case 'missing':
        case 'lost':
        case 'held':
          return 'lost'
        default:
          return outcome satisfies never
      }
    },
  }
}
