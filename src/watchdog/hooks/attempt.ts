import { cleanProgramText } from '../../stream/text.ts'
import { errorCode } from '../../util/errors.ts'
import { visibleText } from '../../util/visible-text.ts'

/** What became of one try of a delivery. */
export interface DeliveryAttempt {
  /** `delivered`; `repeat`: a later try may succeed; `hopeless`: none will; `stopped`: it was cut off, its end is unknown. */
  readonly kind: 'delivered' | 'repeat' | 'hopeless' | 'stopped'
  /** `exit-0`, `exit-3`, `signal-SIGKILL`, `http-503`, `timed-out`, `ECONNREFUSED`, … */
  readonly code: string
  /** What the program printed, or the beginning of the answer; one line, fit to be shown. */
  readonly output: string
  /** The receiver asks to be left alone for so long. */
  readonly retryAfterMs?: number
}

/** The beginning of what somebody else writes: the rest is taken and dropped, so that the writer is never held up. */
export class Excerpt {
  readonly #limitBytes: number
  readonly #chunks: Buffer[] = []
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get isFull(): boolean {
    return this.#bytes >= this.#limitBytes
  }

  add(chunk: Uint8Array): void {
    if (this.isFull) return
    // a copy: the slice would keep the whole chunk
    const part = Buffer.from(chunk.subarray(0, this.#limitBytes - this.#bytes))
    this.#chunks.push(part)
    this.#bytes += part.length
  }

  /** One line, without terminal escapes. */
  text(): string {
    const text = new TextDecoder().decode(Buffer.concat(this.#chunks)).trim()
    return visibleText(cleanProgramText(text, this.#limitBytes * 3))
  }
}

/** The system's code of an error or of what caused it, `ENOENT`. */
export function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  return errorCode(error) ?? (error.cause === undefined ? 'failed' : failureCode(error.cause))
}

export type Cut = Pick<DeliveryAttempt, 'kind' | 'code'>

/** What a try came to that did not come to its end. */
export function whyCut(stop: AbortSignal): Cut {
  const why = stop.aborted ? 'stopped' : 'timed-out'
  return { kind: stop.aborted ? 'stopped' : 'repeat', code: why }
}
