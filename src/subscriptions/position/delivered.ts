import { LONG_MARGIN_MS, MARGIN_MS, streamKey } from './transactions.ts'

export interface DeliveredStream {
  readonly name: string
  readonly version: number
  /** When the stream was written at that version, epoch ms. */
  readonly writtenMs: number
}

/** Beyond this number streams are remembered for the shorter margin only, so that their document stays small. */
const MOST_REMEMBERED = 4_000

/** The delivered streams of a shard that the watermark alone does not tell. */
export class DeliveredStreams {
  readonly #streams = new Map<string, DeliveredStream>()
  #forgottenMs: number

  constructor(versions: Iterable<readonly [string, number]>, forgottenMs: number, nowMs: number) {
    this.#forgottenMs = forgottenMs
    for (const [key, version] of versions) this.#streams.set(key, { name: '', version, writtenMs: nowMs })
  }

  /** Streams that were written up to then are not remembered, whatever their number. */
  get forgottenMs(): number {
    return this.#forgottenMs
  }

  /** A stream that was written up to then is handled, and not remembered. */
  forgottenUntilMs(handledUntilMs: number): number {
    return Math.max(handledUntilMs - LONG_MARGIN_MS, this.#forgottenMs)
  }

  get(name: string, born: string): DeliveredStream | undefined {
    return this.#streams.get(streamKey(name, born))
  }

  set(born: string, stream: DeliveredStream): void {
    this.#streams.set(streamKey(stream.name, born), stream)
  }

  delete(name: string, born: string): boolean {
    return this.#streams.delete(streamKey(name, born))
  }

  /** The watermark has moved: forgets the streams that it tells now. */
  forget(watermarkMs: number, handledUntilMs: (name: string) => number): void {
    this.#forgetTold(handledUntilMs)
    if (this.#streams.size <= MOST_REMEMBERED) return
    this.#forgottenMs = Math.max(this.#forgottenMs, watermarkMs - MARGIN_MS)
    this.#forgetTold(handledUntilMs)
  }

  /** The watermark was set back. */
  setBack(watermarkMs: number): void {
    this.#forgottenMs = Math.min(this.#forgottenMs, Math.max(0, watermarkMs - MARGIN_MS))
  }

  clear(): void {
    this.#streams.clear()
    this.#forgottenMs = 0
  }

  /** Not a copy: there may be thousands, at each write. */
  *versions(): Generator<readonly [string, number]> {
    for (const [key, { version }] of this.#streams) yield [key, version]
  }

  #forgetTold(handledUntilMs: (name: string) => number): void {
    for (const [key, { name, writtenMs }] of this.#streams) {
      if (writtenMs <= this.forgottenUntilMs(handledUntilMs(name))) this.#streams.delete(key)
    }
  }
}
