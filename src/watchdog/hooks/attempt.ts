import { cleanProgramText } from '../../stream/text.ts'
import { errorCode } from '../../util/errors.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { HookKind } from './target.ts'

/** Outcome of one attempt to deliver. */
export interface DeliveryAttempt {
  /** `delivered`; `repeat`: a retry may succeed; `hopeless`: no retry can; `stopped`: aborted, outcome unknown. */
  readonly kind: 'delivered' | 'repeat' | 'hopeless' | 'stopped'
  /** `exit-0`, `exit-3`, `signal-SIGKILL`, `http-503`, `timed-out`, `ECONNREFUSED`, … */
  readonly code: string
  /** Output of the program, or the beginning of the answer; one printable line. */
  readonly output: string
  /** Delay that the receiver asks for. */
  readonly retryAfterMs?: number
}

/** Outcome of an attempt for logs and metrics: printable and without secrets. */
export interface DeliveryReport {
  readonly kind: HookKind
  readonly stream: string
  readonly deliveryId: string
  /** The program's path, or the webhook's host. */
  readonly target: string
  /**
   * `retrying`: a retry follows. `given-up`: the last attempt failed, or retries are pointless. `left`: the watchdog
   * stops or stops waiting; the next watchdog delivers it.
   */
  readonly outcome: 'delivered' | 'retrying' | 'given-up' | 'left'
  /** Number of attempts so far. */
  readonly tries: number
  /** Duration of the last attempt. */
  readonly tookMs: number
  /** `exit-3`, `http-503`, `timed-out`, `ENOENT`, … */
  readonly code: string
  /** The beginning of the program's output or the receiver's answer, one line. */
  readonly output: string
}

/** The beginning of foreign output; the rest is read and dropped, so that the writer never blocks. */
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
    // Copied, since a slice would keep the whole chunk in memory.
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

/** The system error code of an error or its cause, such as `ENOENT`. */
export function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  return errorCode(error) ?? (error.cause === undefined ? 'failed' : failureCode(error.cause))
}

export type Cut = Pick<DeliveryAttempt, 'kind' | 'code'>

/** The outcome of an aborted attempt. */
export function whyCut(stop: AbortSignal): Cut {
  const why = stop.aborted ? 'stopped' : 'timed-out'
  return { kind: stop.aborted ? 'stopped' : 'repeat', code: why }
}
