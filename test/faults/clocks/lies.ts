import { type Clock, machineClock } from '../../../src/util/clock.ts'

const SECOND = 1_000
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The error of a machine's clock. */
export interface Lie {
  readonly name: string
  /** Its offset at the beginning, ms. */
  readonly offsetMs?: number
  /** Its rate: its ms per true ms. */
  readonly rate?: number
  /** It is set back and forth by this amount, each time after this number of reads, ms. */
  readonly setBy?: { readonly ms: number; readonly everyLooks: number }
}

/** All errors. One clock is set after some reads: rarely enough for changes to complete in between. */
export const LIES = liesSetEvery(40)

/** The same for a change with more or fewer reads of its clock. */
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

/** The ones that only matter to claims of seconds. */
export const SMALL_LIES: readonly Lie[] = LIES.filter(
  ({ offsetMs = 0, rate = 1 }) => Math.abs(offsetMs) === SECOND || rate !== 1,
)

/** The clocks of a machine with an error: both run at the same rate, only the wall clock can be set. */
export interface LyingClock extends Clock {
  /** The number of times it was set so far. */
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
