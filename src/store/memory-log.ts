import {
  type AppendOutcome,
  type BlockLog,
  checkBlock,
  comparePositions,
  LOG_START,
  type LogExtent,
  type LogLines,
  type LogPosition,
  logCut,
} from './block-log.ts'

/** The blocks of a log; the number of those that were trimmed before them. */
export interface MemoryLog {
  readonly blocks: Uint8Array[]
  trimmed: number
}

/** A log in the memory of this process: each block is a segment of its own. */
export class MemoryBlockLog implements BlockLog {
  readonly #logs: Map<string, MemoryLog>
  readonly #name: string
  readonly #checkOpen: (signal: AbortSignal | undefined) => void

  /** @param checkOpen throws if the store was closed, or the reason of the signal */
  constructor(logs: Map<string, MemoryLog>, name: string, checkOpen: (signal: AbortSignal | undefined) => void) {
    this.#logs = logs
    this.#name = name
    this.#checkOpen = checkOpen
  }

  async append(block: Uint8Array, signal?: AbortSignal): Promise<AppendOutcome> {
    this.#checkOpen(signal)
    checkBlock(block)
    const log = this.#logs.get(this.#name) ?? { blocks: [], trimmed: 0 }
    log.blocks.push(Uint8Array.from(block))
    this.#logs.set(this.#name, log)
    return { kind: 'appended' }
  }

  async read(from: LogPosition, maxBytes: number, signal?: AbortSignal): Promise<LogLines> {
    this.#checkOpen(signal)
    const { blocks, trimmed } = this.#logs.get(this.#name) ?? { blocks: [], trimmed: 0 }
    const last = { segment: trimmed + blocks.length, offset: blocks.at(-1)?.length ?? 0 }
    if (blocks.length > 0 && comparePositions(from, last) > 0) throw logCut(this.#name)
    const parts: Uint8Array[] = []
    let next = from
    let bytes = 0
    for (const [at, block] of blocks.entries()) {
      const segment = trimmed + at + 1
      if (segment < from.segment) continue
      const part = segment === from.segment ? block.subarray(from.offset) : block
      if (bytes > 0 && bytes + part.length > maxBytes) break
      parts.push(part)
      bytes += part.length
      next = { segment, offset: block.length }
    }
    return { bytes: Buffer.concat(parts), next }
  }

  async extent(signal?: AbortSignal, from = LOG_START): Promise<LogExtent | undefined> {
    this.#checkOpen(signal)
    const log = this.#logs.get(this.#name)
    const last = log?.blocks.at(-1)
    if (log === undefined || last === undefined) return undefined
    const bytes = log.blocks.reduce((sum, { length }, at) => {
      const segment = log.trimmed + at + 1
      return sum + (segment < from.segment ? 0 : segment === from.segment ? length - from.offset : length)
    }, 0)
    const end = { segment: log.trimmed + log.blocks.length, offset: last.length }
    return { first: { segment: log.trimmed + 1, offset: 0 }, end, bytes }
  }

  async trim({ segment }: LogPosition, signal?: AbortSignal): Promise<void> {
    this.#checkOpen(signal)
    const log = this.#logs.get(this.#name)
    if (log === undefined) return
    const count = Math.min(segment - 1 - log.trimmed, log.blocks.length - 1)
    if (count <= 0) return
    log.blocks.splice(0, count)
    log.trimmed += count
  }

  async remove(signal?: AbortSignal): Promise<void> {
    this.#checkOpen(signal)
    this.#logs.delete(this.#name)
  }
}
