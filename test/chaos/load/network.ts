import { type Fault, type FaultKind, seededRandom } from '../../support/faults.ts'

/** All that a network does to a request, each as often as the others. */
const KINDS: readonly (FaultKind | 'silent')[] = [
  'lose-request',
  'lose-answer',
  'late',
  'error-before',
  'error-after',
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

/** @param share of all requests that suffer a fault, 0 to 1 */
export function badNetwork(share: number, seed: number): Fault[] {
  const random = seededRandom(seed)
  const after = () => random() < 0.3
  return KINDS.map((kind, at) => {
    // Of several that apply the first counts: what the ones before leave is shared by those that follow.
    const probability = share / KINDS.length / (1 - (at * share) / KINDS.length)
    if (kind === 'silent') return { kind: 'lose-answer', silent: true, probability }
    return { kind, probability, after, delayMs: kind === 'delay' ? 100 : 0 }
  })
}
