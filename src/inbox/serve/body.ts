import type { IncomingMessage } from 'node:http'

/** Bytes that all requests together may hold. */
export class Buffered {
  readonly #most: number
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  get bytes(): number {
    return this.#bytes
  }

  get isFull(): boolean {
    return this.#bytes >= this.#most
  }

  /** False, and nothing is taken, if it would be too much. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#most) return false
    this.#bytes += bytes
    return true
  }

  give(bytes: number): void {
    this.#bytes -= bytes
  }
}

/** A body that was read. The reader gives its bytes back. */
export type ReadBody =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' | 'full' }
  /** The client is gone. */
  | { readonly kind: 'gone' }
  /** The server stops, and the rest has not come. */
  | { readonly kind: 'given-up' }

/**
 * Reads a body. Only what has arrived is counted as buffered: a client that sends slowly holds nothing for others.
 * @param reading has a function that gives it up, as long as it is being read
 */
export function readBody(
  request: IncomingMessage,
  buffered: Buffered,
  mostBytes: number,
  reading: Set<() => void>,
): Promise<ReadBody> {
  const { promise, resolve } = Promise.withResolvers<ReadBody>()
  const chunks: Buffer[] = []
  let size = 0
  const end = (outcome: ReadBody) => {
    request.off('data', onData).off('end', onEnd).off('close', onClose)
    reading.delete(giveUp)
    if (outcome.kind !== 'read') {
      buffered.give(size)
      chunks.length = 0
    }
    resolve(outcome)
  }
  const onData = (chunk: Buffer) => {
    if (size + chunk.length > mostBytes) return end({ kind: 'too-large' })
    if (!buffered.take(chunk.length)) return end({ kind: 'full' })
    size += chunk.length
    chunks.push(chunk)
  }
  const onEnd = () => {
    const [first] = chunks
    end({ kind: 'read', bytes: chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks) })
  }
  const onClose = () => end({ kind: 'gone' })
  const giveUp = () => end({ kind: 'given-up' })
  reading.add(giveUp)
  request.on('data', onData).on('end', onEnd).on('close', onClose)
  request.on('error', () => {})
  return promise
}
