import { type BlockLog, LOG_START, type LogPosition } from '../store/block-log.ts'
import type { StreamStore } from '../store/store.ts'
import { runBatch } from '../util/concurrency.ts'
import { type Inbox, partitionLog } from './inbox.ts'
import { placesBefore } from './put-rate.ts'
import { type ReadRecord, readRecord } from './record.ts'

/** A record with its partition; without one a line that is not a record. */
export interface TailedRecord {
  readonly partition: number
  readonly found: ReadRecord | undefined
}

/** Bytes of a partition read at a time. */
const PAGE_BYTES = 256 * 1024
const AT_ONCE = 8

/**
 * Reads the records of an inbox as they come. Records of a partition keep their order; those of several are sorted by
 * the time of their put as far as they are read together.
 */
export class InboxTail {
  readonly #logs: readonly BlockLog[]
  #at: LogPosition[]
  readonly #signal: AbortSignal

  constructor(store: StreamStore, inbox: Inbox, signal: AbortSignal) {
    this.#logs = Array.from({ length: inbox.partitions }, (_, partition) => partitionLog(store, inbox, partition))
    this.#at = this.#logs.map(() => LOG_START)
    this.#signal = signal
  }

  /** The records after those that were returned before; none at the end of the inbox. @throws the store's faults */
  async next(): Promise<TailedRecord[]> {
    const pages: TailedRecord[][] = []
    const at = [...this.#at]
    await this.#each(async (log, partition) => {
      const { bytes, next } = await log.read(this.#at[partition] ?? LOG_START, PAGE_BYTES, this.#signal)
      at[partition] = next
      pages[partition] = recordsIn(bytes, partition)
    })
    // Only now: if one of the reads failed, nothing was returned.
    this.#at = at
    return merged(pages)
  }

  /** The last records, at most `count`; `next` goes on behind them. @throws the store's faults */
  async last(count: number): Promise<TailedRecord[]> {
    const pages: TailedRecord[][] = []
    await this.#each(async (log, partition) => {
      pages[partition] = await this.#lastOf(log, partition, count)
    })
    return count === 0 ? [] : merged(pages).slice(-count)
  }

  /** Reads backwards: from further and further before the end. */
  async #lastOf(log: BlockLog, partition: number, count: number): Promise<TailedRecord[]> {
    const extent = await log.extent(this.#signal)
    if (extent === undefined) return []
    this.#at[partition] = extent.end
    if (count === 0) return []
    let found: TailedRecord[] = []
    for (const place of placesBefore(extent, PAGE_BYTES)) {
      found = await this.#upToEnd(log, partition, place, count)
      if (found.length >= count) break
    }
    return found
  }

  async #upToEnd(log: BlockLog, partition: number, from: LogPosition, count: number): Promise<TailedRecord[]> {
    let found: TailedRecord[] = []
    let isWithin = from.offset > 0
    for (let at = from; ; ) {
      const { bytes, next } = await log.read(at, PAGE_BYTES, this.#signal)
      if (bytes.length === 0) break
      const lines = isWithin ? bytes.subarray(bytes.indexOf(0x0a) + 1) : bytes
      isWithin = false
      found = [...found, ...recordsIn(lines, partition)].slice(-count)
      at = next
      this.#at[partition] = next
    }
    return found
  }

  async #each(work: (log: BlockLog, partition: number) => Promise<void>): Promise<void> {
    const logs = [...this.#logs.entries()]
    await runBatch(logs, { concurrency: AT_ONCE, stop: this.#signal }, ([partition, log]) => work(log, partition))
    this.#signal.throwIfAborted()
  }
}

function recordsIn(bytes: Uint8Array, partition: number): TailedRecord[] {
  const lines = new TextDecoder().decode(bytes).split('\n').slice(0, -1)
  return lines.map(line => ({ partition, found: recordOf(line) }))
}

function recordOf(line: string): ReadRecord | undefined {
  try {
    return readRecord(line)
  } catch {
    return undefined
  }
}

/** Stable: of each partition in its order, whatever the clocks of the writers said. */
function merged(pages: readonly (readonly TailedRecord[])[]): TailedRecord[] {
  const timed = pages.flatMap((page = []) => {
    let latest = ''
    return page.map(tailed => {
      const at = tailed.found?.record.at ?? latest
      latest = at > latest ? at : latest
      return { tailed, at: latest }
    })
  })
  return timed.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).map(({ tailed }) => tailed)
}
