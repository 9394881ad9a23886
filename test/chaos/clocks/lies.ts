import type { MachineClock } from '../../../src/store/azure-clock.ts'

const SECOND = 1_000
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** How the clock of a machine lies. */
export interface Lie {
  readonly name: string
  /** How far it is ahead from the beginning, ms. */
  readonly offsetMs?: number
  /** How many of its ms pass in one that is true. */
  readonly rate?: number
  /** Somebody sets it back and forth by so much, each time it was looked at so often, ms. */
  readonly setBy?: { readonly ms: number; readonly everyLooks: number }
}

export const LIES: readonly Lie[] = [
  { name: 'true' },
  { name: '1 s fast', offsetMs: SECOND },
  { name: '1 s slow', offsetMs: -SECOND },
  { name: '1 h fast', offsetMs: HOUR },
  { name: '1 h slow', offsetMs: -HOUR },
  { name: '1 d fast', offsetMs: DAY },
  { name: '1 d slow', offsetMs: -DAY },
  { name: 'half as fast', rate: 0.5 },
  { name: 'twice as fast', rate: 2 },
  { name: 'set by 1 h again and again', setBy: { ms: HOUR, everyLooks: 150 } },
]

/** The clocks of a machine that lies: both run as fast, only the one on the wall can be set. */
export function lyingClock({ offsetMs = 0, rate = 1, setBy }: Lie): MachineClock {
  const [startedMs, wallMs] = [performance.now(), Date.now()]
  const passedMs = () => (performance.now() - startedMs) * rate
  let looks = 0
  const jumpMs = () => (setBy === undefined || Math.floor(looks++ / setBy.everyLooks) % 2 === 0 ? 0 : setBy.ms)
  return { wallMs: () => wallMs + offsetMs + passedMs() + jumpMs(), monotonicMs: passedMs }
}
