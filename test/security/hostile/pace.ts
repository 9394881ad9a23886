/** A subject that is measured at several sizes. */
export interface Runner {
  readonly what: string
  /** @returns processor time, s */
  readonly take: (size: number) => Promise<number> | number
}

export interface Race {
  /**
   * The measured sizes: the full size itself, or two smaller ones that show the growth. Subjects near the limit get
   * another round, because processor time has noise, which small sizes magnify; the last round decides.
   */
  readonly rounds: readonly (readonly number[])[]
  readonly fullSize: number
  /** The limit at the full size, including a margin for a busy machine and a cold program. */
  readonly mayTakeS: number
}

export interface Pace {
  readonly what: string
  /** At the full size. */
  readonly s: number
}

interface Taken {
  readonly size: number
  readonly s: number
}

/** The share of the limit that counts as near it. */
const NEAR = 0.5

/** The estimated time of each at the full size, as far as it was measured. */
export async function pacesOf(runners: readonly Runner[], race: Race): Promise<readonly Pace[]> {
  const paces: Pace[] = []
  for (const runner of runners) paces.push({ what: runner.what, s: await paceOf(runner, race) })
  return paces
}

async function paceOf({ take }: Runner, { rounds, fullSize, mayTakeS }: Race): Promise<number> {
  let s = Number.POSITIVE_INFINITY
  for (const sizes of rounds) {
    if (s <= mayTakeS * NEAR) break
    const taken: Taken[] = []
    for (const size of sizes) taken.push({ size, s: await take(size) })
    s = atFullSize(taken, fullSize)
  }
  return s
}

/** The subjects that exceed the limit. */
export const tooSlow = (paces: readonly Pace[], { mayTakeS }: Race) => paces.filter(({ s }) => s > mayTakeS)

export const slowestOf = (paces: readonly Pace[]) => paces.reduce((a, b) => (b.s > a.s ? b : a))

/** Extrapolates the growth between the two sizes: quadratic time stays quadratic. */
function atFullSize(taken: readonly Taken[], fullSize: number): number {
  const [small, large = small] = taken
  if (small === undefined || large === undefined) throw new Error('nothing was measured')
  const forOne = large.s / large.size
  const growth = small === large ? 0 : Math.max(0, forOne - small.s / small.size) / (large.size - small.size)
  return (forOne + growth * (fullSize - large.size)) * fullSize
}

/** Processor time since then, s; independent of other load on the machine. */
export function processorS(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}
