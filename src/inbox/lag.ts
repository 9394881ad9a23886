import { type BlockLog, LOG_START, type LogExtent, type LogPosition } from '../store/block-log.ts'
import type { StreamStore } from '../store/store.ts'
import { runBatch } from '../util/concurrency.ts'
import { type PartitionCheckpoint, readPartitionCheckpoint } from './checkpoint.ts'
import { type Inbox, partitionLog } from './inbox.ts'
import { lossOf } from './last-line.ts'
import { putMsIn, putRate } from './put-rate.ts'

/** What waits to be drained. */
export interface Lag {
  /** Number of records; an estimate from the size of the first of them if `isEstimate`. */
  readonly records: number
  readonly isEstimate: boolean
  readonly bytes: number
  /** When the oldest of them was put, epoch ms. */
  readonly oldestMs: number | undefined
}

/** A partition of an inbox as it is. */
export interface PartitionState {
  readonly partition: number
  readonly checkpoint: PartitionCheckpoint
  /** `undefined`: nothing was put into it yet. */
  readonly extent: LogExtent | undefined
  readonly lag: Lag
  /** Records put into it a second, in the last minute. */
  readonly putRate: number
  /** Why no drain can go on; `lag` then counts all records that are there. */
  readonly fault?: string | undefined
}

const NO_LAG: Lag = { records: 0, isEstimate: false, bytes: 0, oldestMs: undefined }

/** Partitions read at a time. */
const AT_ONCE = 8
const LINE_FEED = 0x0a

export interface LagOptions {
  /** Bytes of a partition that are read to count its records; those behind are estimated. */
  readonly countedBytes: number
  readonly signal?: AbortSignal
}

/** All partitions of an inbox, in order. Takes no lease. @throws the store's faults */
export async function partitionStates(
  store: StreamStore,
  inbox: Inbox,
  options: LagOptions,
): Promise<readonly PartitionState[]> {
  const found: PartitionState[] = []
  const numbers = Array.from({ length: inbox.partitions }, (_, partition) => partition)
  await runBatch(numbers, { concurrency: AT_ONCE }, async partition => {
    found[partition] = await partitionState(store, inbox, partition, options)
  })
  return found
}

/** The sum of the lags. */
export function totalLag(states: readonly PartitionState[]): Lag {
  return states.reduce<Lag>((sum, { lag }) => {
    const oldest = [sum.oldestMs, lag.oldestMs].filter(ms => ms !== undefined)
    return {
      records: sum.records + lag.records,
      isEstimate: sum.isEstimate || lag.isEstimate,
      bytes: sum.bytes + lag.bytes,
      oldestMs: oldest.length === 0 ? undefined : Math.min(...oldest),
    }
  }, NO_LAG)
}

async function partitionState(
  store: StreamStore,
  inbox: Inbox,
  partition: number,
  { countedBytes, signal }: LagOptions,
): Promise<PartitionState> {
  const log = partitionLog(store, inbox, partition)
  const checkpoint = await readPartitionCheckpoint(store, inbox, partition, signal)
  const from = checkpoint.position ?? LOG_START
  const extent = await log.extent(signal, from)
  const fault = checkpoint.fault ?? (await lossOf(log, { ...from, last: checkpoint.last }, extent, signal))
  if (extent === undefined) return { partition, checkpoint, extent, lag: NO_LAG, putRate: 0, fault }
  // How much was drained is not known then.
  const isUnknown = fault !== undefined && from !== LOG_START
  const all = isUnknown ? ((await log.extent(signal)) ?? extent) : extent
  const lag = await lagFrom(log, isUnknown ? LOG_START : from, all, countedBytes, signal)
  return { partition, checkpoint, extent, lag, putRate: await putRate(log, extent, store.nowMs(), signal), fault }
}

async function lagFrom(
  log: BlockLog,
  from: LogPosition,
  extent: LogExtent,
  countedBytes: number,
  signal: AbortSignal | undefined,
): Promise<Lag> {
  let at = from
  let [records, counted] = [0, 0]
  let oldestMs: number | undefined
  while (counted < Math.min(extent.bytes, countedBytes)) {
    const { bytes, next } = await log.read(at, countedBytes - counted, signal)
    if (bytes.length === 0) break
    if (counted === 0) oldestMs = putMsIn(bytes)
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, end + 1)) records += 1
    counted += bytes.length
    at = next
  }
  // More may have been put since the extent was read.
  if (counted >= extent.bytes) return { records, isEstimate: false, bytes: counted, oldestMs }
  const estimate = counted === 0 ? 0 : Math.round((records * extent.bytes) / counted)
  return { records: estimate, isEstimate: true, bytes: extent.bytes, oldestMs }
}
