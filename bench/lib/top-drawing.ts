import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { TopRun } from './child-top.ts'
import type { FrameCosts } from './child-top-frames.ts'

export const SCREENS = ['streams', 'tree'] as const
export type Screen = (typeof SCREENS)[number]

/** Measured seconds, after the warm-up. */
const MEASURED_S = 2
const ROUNDS = 2

/** Cost of drawing under load, with Ink and without: the best of several runs in turns, and the keys of all of them. */
export interface Drawing {
  readonly ink: TopRun
  readonly raw: TopRun
  readonly latenciesMs: readonly number[]
}

/** @param child `child-top.ts`, bundled */
export async function drawing(child: string, screen: Screen): Promise<Drawing> {
  const runs: { ink: TopRun[]; raw: TopRun[] } = { ink: [], raw: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const painter of round % 2 === 0 ? (['raw', 'ink'] as const) : (['ink', 'raw'] as const)) {
      runs[painter].push(await answerOf<TopRun>(child, painter, screen, String(MEASURED_S)))
    }
  }
  const pressed = await answerOf<TopRun>(child, 'ink', screen, String(2 * MEASURED_S), 'keys')
  return { ink: leastBusy(runs.ink), raw: leastBusy(runs.raw), latenciesMs: pressed.latenciesMs }
}

/** @param child `child-top-frames.ts`, bundled */
export function frameCosts(child: string, screen: Screen): Promise<FrameCosts> {
  return answerOf<FrameCosts>(child, screen)
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN
}

function leastBusy(runs: readonly TopRun[]): TopRun {
  const [best] = runs.toSorted((a, b) => a.busyMs - b.busyMs)
  if (best === undefined) throw new Error('there was no run')
  return best
}

/** Each run has its own process, so that none starts with the memory and compiled code of another. */
async function answerOf<T>(child: string, ...args: readonly string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [child, ...args])
  return JSON.parse(stdout) as T
}
