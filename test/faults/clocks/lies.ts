import { type Clock, machineClock } from '../../../src/util/clock.ts'

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

/** All there are. One is set after so many looks at it: seldom enough for changes to come through in between. */
export const LIES = liesSetEvery(40)

/** The same where a change looks more or less often at its clock. */
export function liesSetEvery(everyLooks: number): readonly Lie[] {
  return [
    { name: 'true' },
    { name: '1 s fast', offsetMs: SECOND },
    { name: '1 s slow', offsetMs: -SECOND },
    { name: '1 h fast', offsetMs: HOUR },
    { name: '1 h slow', offsetMs: -HOUR },
    { name: '1 d fast', offsetMs: DAY },
    { name: '1 d slow', offsetMs: -DAY },
    { name: 'half as fast', rate: 0.5 },
    { name: 'twice as fast', rate: 2 },
    { name: 'set by 1 h again and again', setBy: { ms: HOUR, everyLooks } },
  ]
}

/** Those that only matter to claims of seconds. */
export const SMALL_LIES: readonly Lie[] = LIES.filter(
  ({ offsetMs = 0, rate = 1 }) => Math.abs(offsetMs) === SECOND || rate !== 1,
)

/** The clocks of a machine that lies: both run as fast, only the one on the wall can be set. */
export interface LyingClock extends Clock {
  /** How often somebody set it so far. */
  timesSet(): number
}

export function lyingClock({ offsetMs = 0, rate = 1, setBy }: Lie, truth: Clock = machineClock): LyingClock {
  const [startedMs, wallMs] = [truth.monotonicMs(), truth.wallMs()]
  const passedMs = () => (truth.monotonicMs() - startedMs) * rate
  let looks = 0
  const timesSet = () => (setBy === undefined ? 0 : Math.floor(looks / setBy.everyLooks))
  const jumpMs = () => (setBy !== undefined && timesSet() % 2 === 1 ? setBy.ms : 0)
  const nowMs = () => {
    const ms = wallMs + offsetMs + passedMs() + jumpMs()
    looks += 1
    return ms
  }
  return { wallMs: nowMs, monotonicMs: passedMs, timesSet }
}
