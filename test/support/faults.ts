import type { Operation, Seen } from './seen-request.ts'

export type FaultKind =
  /** Never forwarded, no answer. */
  | 'lose-request'
  /** Forwarded; the answer is lost. */
  | 'lose-answer'
  /** No answer; forwarded later, see `after` and `deliverLate`: a request that timed out and lands after all. */
  | 'late'
  /** Answered with an error (503), not forwarded. */
  | 'error-before'
  /** Forwarded; answered with an error (500) anyway. */
  | 'error-after'
  /** Answered by an intermediary (a proxy, a captive portal), not forwarded; see `status` and `location`. */
  | 'forged-before'
  /** Forwarded; answered by an intermediary anyway. */
  | 'forged-after'
  /** Forwarded twice; the answer is the second one. */
  | 'duplicate'
  /** Forwarded and answered; forwarded again later, see `after` and `deliverLate`: a copy that the network kept. */
  | 'duplicate-late'
  /** Forwarded; the answer is truncated and the connection is closed in order, or with `silent` stays open. */
  | 'truncate'
  /** Like `truncate`, but the connection is reset. */
  | 'reset'
  /** Forwarded; the length in the answer's header is not that of its body, see `claims`. */
  | 'wrong-length'
  /** Forwarded; the answer comes when the caller has closed the connection. Only a caller with a timeout continues. */
  | 'answer-late'
  /**
   * Never forwarded: only for requests on a connection that was used before, and that failed unnoticed while idle. With
   * `silent` there is no error (a firewall dropped it), otherwise it is reset.
   */
  | 'dead-socket'
  /** Forwarded and answered, after `delayMs` and `before`. */
  | 'delay'

/** A rule: a fault and its requests. Of several matching rules the first counts. */
export interface Fault {
  readonly kind: FaultKind
  /** Only requests of this operation. */
  readonly on?: Operation
  /** Only requests that match this predicate. */
  readonly when?: (request: Seen) => boolean
  /** Only the n-th of them, from 1. */
  readonly nth?: number
  /** Each of them with this probability, by the proxy's seed. */
  readonly probability?: number
  /** The maximum number of times. */
  readonly times?: number
  /** A missing or truncated answer means a connection that stays open without data; otherwise it is closed. */
  readonly silent?: boolean
  /** For `wrong-length`: whether the header promises more than follows (default) or less. */
  readonly claims?: 'more' | 'less'
  /** Of the error answer, or of the forged one (200). */
  readonly status?: number
  /** The service's code in the error answer. */
  readonly code?: string
  /** Where a forged answer redirects to; `/login` without. */
  readonly location?: string
  readonly retryAfterS?: number
  /** Further delay before the request is forwarded. */
  readonly delayMs?: number
  /** Awaited before the request is forwarded: for actions of others at that moment. */
  readonly before?: (request: Seen) => Promise<unknown>
  /** For `late` and `duplicate-late`: forwarded as soon as such a request was answered. */
  readonly after?: (request: Seen) => boolean
}

export interface Injected {
  readonly kind: FaultKind
  /** No answer came, or only a part of it, over a connection that stayed open. */
  readonly silent: boolean
  readonly request: Seen
}

/** The fault for a request. Updates the counters of the rules, and draws for each rule with a probability. */
export function chooseFault(
  rules: { readonly fault: Fault; matches: number; used: number }[],
  request: Seen,
  random: () => number,
): Fault | undefined {
  let chosen: Fault | undefined
  for (const rule of rules) {
    const { nth, probability, times } = rule.fault
    if (!appliesTo(rule.fault, request)) continue
    rule.matches += 1
    const drawn = probability === undefined || random() < probability
    if (chosen !== undefined || !drawn) continue
    if ((nth !== undefined && rule.matches !== nth) || rule.used >= (times ?? Number.POSITIVE_INFINITY)) continue
    rule.used += 1
    chosen = rule.fault
  }
  return chosen
}

function appliesTo({ kind, on, when }: Fault, request: Seen): boolean {
  if (on !== undefined && on !== request.operation) return false
  return (kind !== 'dead-socket' || request.reused) && when?.(request) !== false
}

/** Mulberry32: numbers in [0, 1) that depend on the seed alone. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
