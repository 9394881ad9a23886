import { NO_FAULTS } from '../faults.ts'
import { type Shrunk, shrink, without } from '../shrink.ts'
import type { TownSettings } from './settings.ts'
import type { TownOutcome } from './system.ts'

const FILE = 'test/simulation/system/system.test.ts'
/** Violations reported per system at most. */
const MOST_TOLD = 5

/** Systems with fewer faults, streams, workers and watchdogs, without random faults or skew, and shorter ones. */
function* smaller(town: TownSettings): Iterable<TownSettings> {
  // First the candidates that speed up the rest.
  for (const share of [0.5, 0.8]) {
    const livesMs = Math.round(town.livesMs * share)
    if (livesMs >= 60_000) yield { ...town, livesMs }
  }
  for (const streams of without(town.streams, 1)) yield { ...town, streams }
  for (const troubles of without(town.troubles)) yield { ...town, troubles }
  for (const workers of without(town.workers, 1)) yield { ...town, workers }
  for (const sessions of without(town.sessions ?? [])) yield { ...town, sessions }
  for (const dogs of without(town.dogs)) yield { ...town, dogs }
  for (const name of ['requestLost', 'answerLost', 'unknown'] as const) {
    if (town.rates[name] > 0) yield { ...town, rates: { ...town.rates, [name]: NO_FAULTS[name] } }
  }
  if (town.skewMs > 0) yield { ...town, skewMs: 0 }
}

/** The smallest system found with a violation of the same kind. */
export async function smallestTown(
  town: TownSettings,
  live: (town: TownSettings) => Promise<TownOutcome>,
  mostTries?: number,
): Promise<Shrunk<TownSettings>> {
  const kinds = new Set((await live(town)).wrong.map(({ kind }) => kind))
  return shrink(
    town,
    smaller,
    async candidate => (await live(candidate)).wrong.some(({ kind }) => kinds.has(kind)),
    mostTries,
  )
}

/** The violations of a run, and the line that repeats them in the smallest system; `''` if there are none. */
export async function whatIsWrong(
  town: TownSettings,
  { wrong }: TownOutcome,
  live: (town: TownSettings) => Promise<TownOutcome>,
): Promise<string> {
  if (wrong.length === 0) return ''
  const { world } = await smallestTown(town, live)
  const told = wrong.slice(0, MOST_TOLD).map(({ kind, stream, why }) => `${kind}: ${stream}: ${why}`)
  return [...told, lineOf(world)].join('\n')
}

/** Repeats one system. */
export function lineOf(town: TownSettings): string {
  return `LEASECTL_TOWN='${JSON.stringify(town)}' npx vitest run ${FILE} -t 'the system with a given seed'`
}
