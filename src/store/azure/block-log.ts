import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { AppendBlobClient, ContainerClient } from '@azure/storage-blob'
import {
  type AppendOutcome,
  type BlockLog,
  checkBlock,
  checkLogName,
  comparePositions,
  LOG_START,
  type LogExtent,
  type LogLines,
  type LogPosition,
  logCut,
} from '../block-log.ts'
import { isBlobMissing, isHeldByAnother } from './errors.ts'
import type { InFlightOperations } from './in-flight.ts'
import type { Answer, AzureRequests } from './requests.ts'

/** An append blob takes 50 000 blocks; writers that do not know yet that a segment is full need some of the rest. */
const BLOCKS_OF_A_SEGMENT = 40_000
/** The lease id that seals a full segment for good. It is known to all, so that any writer may finish what one began. */
const SEAL = '5ea1ed00-1ea5-4ec7-8000-000000000000'
const FOREVER = -1
/** Rounds of finding the segment to append to: each follows another writer that has sealed one meanwhile. */
const ROUNDS = 10
const DIGITS = 8
const LINE_FEED = 0x0a

interface Segment {
  readonly segment: number
  /** Bytes. */
  readonly size: number
}

export interface AzureLogParts {
  readonly container: ContainerClient
  readonly calls: AzureRequests
  readonly inFlight: InFlightOperations
  /** For tests. */
  readonly blocksOfASegment?: number
}

/**
 * A log as a chain of append blobs, `NAME/00000001` and so on. A full one is sealed by an infinite lease with an id that
 * all know, which refuses appends of every writer, and only then the next one is created: so a segment with a successor
 * never grows again, and a reader that has reached its end may go on. The last segment is never removed, so numbers go on.
 */
export class AzureBlockLog implements BlockLog {
  readonly #name: string
  readonly #parts: AzureLogParts
  readonly #blocksOfASegment: number
  /** The segment that took the last append of this process. */
  #segment: number | undefined

  constructor(parts: AzureLogParts, name: string) {
    checkLogName(name)
    this.#parts = parts
    this.#name = name
    this.#blocksOfASegment = parts.blocksOfASegment ?? BLOCKS_OF_A_SEGMENT
  }

  append(block: Uint8Array, signal?: AbortSignal): Promise<AppendOutcome> {
    checkBlock(block)
    return this.#parts.inFlight.run(() => this.#append(block, signal))
  }

  async read(from: LogPosition, maxBytes: number, signal?: AbortSignal): Promise<LogLines> {
    let at = from.segment === 0 ? firstFrom(1, await this.#segments(signal)) : from
    while (at !== undefined) {
      const bytes = await this.#bytesAt(at, maxBytes, signal)
      if (bytes !== undefined && bytes.length > 0) return { bytes, next: { ...at, offset: at.offset + bytes.length } }
      const segments = await this.#segments(signal)
      const last = segments.at(-1)
      if (last !== undefined && comparePositions(at, { ...last, offset: last.size }) > 0) throw logCut(this.#name)
      const next = firstFrom(at.segment + 1, segments)
      if (next === undefined) return { bytes: new Uint8Array(0), next: at }
      // With a successor the segment is sealed; what was appended after the first look is found by a second one.
      const rest = bytes && (await this.#bytesAt(at, maxBytes, signal))
      if (rest !== undefined && rest.length > 0)
        return { bytes: rest, next: { ...at, offset: at.offset + rest.length } }
      at = next
    }
    return { bytes: new Uint8Array(0), next: from }
  }

  async extent(signal?: AbortSignal, from = LOG_START): Promise<LogExtent | undefined> {
    const segments = await this.#segments(signal)
    const [first, last] = [segments[0], segments.at(-1)]
    if (first === undefined || last === undefined) return undefined
    const bytes = segments.reduce((sum, { segment, size }) => {
      if (segment < from.segment) return sum
      return sum + (segment === from.segment ? size - from.offset : size)
    }, 0)
    return {
      first: { segment: first.segment, offset: 0 },
      end: { segment: last.segment, offset: last.size },
      bytes,
    }
  }

  async trim(before: LogPosition, signal?: AbortSignal): Promise<void> {
    const segments = await this.#segments(signal)
    const dropped = segments.slice(0, -1).filter(({ segment }) => segment < before.segment)
    for (const { segment } of dropped) await this.#delete(segment, signal)
  }

  /** From the last segment on, so that what is left after an interruption is the beginning of a log. */
  async remove(signal?: AbortSignal): Promise<void> {
    for (const { segment } of (await this.#segments(signal)).reverse()) await this.#delete(segment, signal)
    this.#segment = undefined
  }

  async #append(block: Uint8Array, signal: AbortSignal | undefined): Promise<AppendOutcome> {
    const { calls } = this.#parts
    let wasUnanswered = false
    for (let round = 0; round < ROUNDS; round++) {
      const segment = this.#segment ?? (await this.#lastSegment(signal))
      const answer = await this.#send(
        abortSignal => this.#blob(segment).appendBlock(Buffer.from(block), block.length, { abortSignal }),
        signal,
      )
      wasUnanswered ||= answer.unansweredAttempts > 0
      if (answer.kind === 'done') {
        this.#segment = segment
        if ((answer.value.blobCommittedBlockCount ?? 0) >= this.#blocksOfASegment)
          await this.#sealAndFollow(segment, signal)
        return { kind: 'appended' }
      }
      const { error } = answer
      if (isBlobMissing(error)) this.#segment = undefined
      else if (isHeldByAnother(error)) await this.#follow(segment, signal)
      else if (error.code === 'BlockCountExceedsLimit') await this.#sealAndFollow(segment, signal)
      else if (answer.kind === 'unanswered' && wasUnanswered)
        return { kind: 'unknown', cause: calls.fault(error, this.#name) }
      else throw calls.fault(error, this.#name)
    }
    throw new Error(`${this.#name}: the segment to append to changed ${ROUNDS} times`)
  }

  /** The last segment, created if there is none. */
  async #lastSegment(signal: AbortSignal | undefined): Promise<number> {
    const last = (await this.#segments(signal)).at(-1)
    if (last !== undefined) return last.segment
    await this.#create(1, signal)
    return 1
  }

  /** A writer may have been stopped between the two steps; repeating either changes nothing. */
  async #sealAndFollow(segment: number, signal: AbortSignal | undefined): Promise<void> {
    const lease = this.#blob(segment).getBlobLeaseClient(SEAL)
    const answer = await this.#send(abortSignal => lease.acquireLease(FOREVER, { abortSignal }), signal)
    // Not sealed: appends still go to this segment, and the next one tries again.
    if (answer.kind === 'done') await this.#follow(segment, signal)
  }

  async #follow(sealed: number, signal: AbortSignal | undefined): Promise<void> {
    await this.#create(sealed + 1, signal)
    this.#segment = sealed + 1
  }

  async #create(segment: number, signal: AbortSignal | undefined): Promise<void> {
    const blob = this.#blob(segment)
    const blobHTTPHeaders = { blobContentType: 'application/x-ndjson' }
    const answer = await this.#send(
      abortSignal => blob.create({ abortSignal, blobHTTPHeaders, conditions: { ifNoneMatch: '*' } }),
      signal,
    )
    if (answer.kind === 'done' || answer.error.code === 'BlobAlreadyExists') return
    throw this.#parts.calls.fault(answer.error, this.#name)
  }

  /** Whole lines at a position; empty at the end of the segment, `undefined` if the segment does not exist. */
  async #bytesAt(
    { segment, offset }: LogPosition,
    maxBytes: number,
    signal?: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const { calls } = this.#parts
    const blob = this.#blob(segment)
    for (let wanted = maxBytes; ; wanted *= 2) {
      const answer = await this.#send(async abortSignal => {
        const { readableStreamBody, date } = await blob.download(offset, wanted, { abortSignal, maxRetryRequests: 0 })
        return { bytes: await buffer(readableStreamBody ?? Readable.from([])), date }
      }, signal)
      if (answer.kind !== 'done') {
        if (answer.error.code === 'InvalidRange') return new Uint8Array(0)
        if (isBlobMissing(answer.error)) return undefined
        throw calls.fault(answer.error, this.#name)
      }
      const { bytes } = answer.value
      const lines = wholeLines(bytes)
      if (lines.length > 0 || bytes.length < wanted) return lines
    }
  }

  async #segments(signal?: AbortSignal): Promise<Segment[]> {
    const { container, calls } = this.#parts
    const prefix = `${this.#name}/`
    const found: Segment[] = []
    let continuationToken: string | undefined
    do {
      const answer = await this.#send(async abortSignal => {
        const pages = container
          .listBlobsFlat({ prefix, abortSignal })
          .byPage(continuationToken ? { continuationToken } : {})
        return (await pages.next()).value
      }, signal)
      if (answer.kind !== 'done') throw calls.fault(answer.error)
      for (const { name, properties } of answer.value?.segment.blobItems ?? []) {
        const segment = Number(name.slice(prefix.length))
        if (Number.isInteger(segment)) found.push({ segment, size: properties.contentLength ?? 0 })
      }
      continuationToken = answer.value?.continuationToken || undefined
    } while (continuationToken !== undefined)
    return found
  }

  async #delete(segment: number, signal?: AbortSignal): Promise<void> {
    const blob = this.#blob(segment)
    for (const conditions of [{ leaseId: SEAL }, {}]) {
      const answer = await this.#send(abortSignal => blob.delete({ abortSignal, conditions }), signal)
      if (answer.kind === 'done' || isBlobMissing(answer.error)) return
      // The last segment has no seal.
      if (answer.error.code !== 'LeaseNotPresentWithBlobOperation')
        throw this.#parts.calls.fault(answer.error, this.#name)
    }
  }

  #send<T>(send: (signal: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<Answer<T>> {
    const { calls } = this.#parts
    return calls.sendWithRetry(send, { limitMs: calls.limits.bodyMs, signal })
  }

  #blob(segment: number): AppendBlobClient {
    return this.#parts.container.getAppendBlobClient(`${this.#name}/${String(segment).padStart(DIGITS, '0')}`)
  }
}

/** The beginning of the first segment from a number on. */
function firstFrom(number: number, segments: readonly Segment[]): LogPosition | undefined {
  const found = segments.find(({ segment }) => segment >= number)
  return found && { segment: found.segment, offset: 0 }
}

/** The whole lines at the beginning of the bytes. */
function wholeLines(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.lastIndexOf(LINE_FEED) + 1)
}
