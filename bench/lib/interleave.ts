/** A subject measured once per round; returns the cost of this round in ms (or any other unit). */
export type Subject = () => Promise<number> | number

/** The rounds of one subject, in the subject's unit. */
export interface Samples {
  readonly best: number
  readonly median: number
  readonly worst: number
}

/**
 * Measures subjects in turns, so that other load on the machine slows all of them; every other round runs in reverse
 * order. The first round is a warm-up and does not count.
 */
export async function interleave<Name extends string>(
  subjects: Readonly<Record<Name, Subject>>,
  rounds: number,
): Promise<Record<Name, Samples>> {
  const names = Object.keys(subjects) as Name[]
  const costs = Object.fromEntries(names.map(name => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = 0; round <= rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const cost = await subjects[name]()
      if (round > 0) costs[name].push(cost)
    }
  }
  return Object.fromEntries(names.map(name => [name, samplesOf(costs[name])])) as Record<Name, Samples>
}

function samplesOf(costs: readonly number[]): Samples {
  const sorted = costs.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN
  return { best: at(0), median: at(0.5), worst: at(1) }
}
