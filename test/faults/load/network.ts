import type { Seen } from '../../support/fault-proxy.ts'
import { type Fault, type FaultKind, type Injected, seededRandom } from '../../support/faults.ts'

/** All faults of a network, equally likely. `silent`: the answer is lost without an error. */
const KINDS: readonly (FaultKind | 'silent')[] = [
  'lose-request',
  'lose-answer',
  'late',
  'error-before',
  'error-after',
  'forged-before',
  'forged-after',
  'duplicate',
  'duplicate-late',
  'truncate',
  'reset',
  'wrong-length',
  'answer-late',
  'dead-socket',
  'delay',
  'silent',
]

/** Requests between two of the guaranteed faults. */
const APART = 8

/**
 * Each kind is guaranteed once, among the first hundred or so requests, and is random after that.
 *
 * @param share of all requests that get a fault, 0 to 1
 */
export function badNetwork(share: number, seed: number): Fault[] {
  const random = seededRandom(seed)
  const after = () => random() < 0.3
  const faults = KINDS.map((kind): Fault => {
    if (kind === 'silent') return { kind: 'lose-answer', silent: true }
    const held = kind === 'late' || kind === 'duplicate-late' ? { when: isNoCreation } : {}
    const page = kind.startsWith('forged') ? { status: 403 } : {}
    return { kind, after, delayMs: kind === 'delay' ? 100 : 0, ...held, ...page }
  })
  const sure = faults.map((fault, at) => {
    const isDue = fromRequest(APART * (at + 1))
    return { ...fault, times: 1, when: (request: Seen) => isDue() && fault.when?.(request) !== false }
  })
  const byChance = faults.map((fault, at) => {
    // Of several faults for one request the first counts: each passes the remaining requests to the next.
    return { ...fault, probability: share / KINDS.length / (1 - (at * share) / KINDS.length) }
  })
  return [...sure, ...byChance]
}

/** A create that arrives after the removal of its stream restores it: no condition of the service prevents that. */
function isNoCreation({ headers }: Seen): boolean {
  return headers['if-none-match'] !== '*'
}

/** Whether this number of requests has arrived. */
function fromRequest(number: number): () => boolean {
  let requests = 0
  return () => ++requests >= number
}

/** The number of faults of each kind, including kinds that never occurred. */
export function kindsOf(injected: readonly Injected[]): Map<string, number> {
  const kinds = new Map<string, number>(KINDS.map(kind => [kind, 0]))
  for (const { kind, silent } of injected) {
    const name = silent ? 'silent' : kind
    kinds.set(name, (kinds.get(name) ?? 0) + 1)
  }
  return kinds
}
