import { RATE_SLOTS, type StreamEntry } from './types.ts'

/** Recent changes of a stream per time slot, with the number of the last slot. */
export type ActivityRate = Pick<StreamEntry, 'rate' | 'rateSlot'>

const NOTHING: readonly number[] = new Array<number>(RATE_SLOTS.count).fill(0)

/** No changes yet. */
export function emptyRate(nowMs: number): ActivityRate {
  return { rate: NOTHING, rateSlot: slotOf(nowMs) }
}

/** Adds changes to the current slot. After a clock step back they are added to the last slot. */
export function withChanges({ rate, rateSlot }: ActivityRate, changes: number, nowMs: number): ActivityRate {
  const at = Math.max(rateSlot, slotOf(nowMs))
  const shifted = rateNow({ rate, rateSlot }, nowMs)
  const next = shifted.slice()
  next[next.length - 1] = (next.at(-1) ?? 0) + changes
  return { rate: next, rateSlot: at }
}

/** The counts as of now: without changes they shift left with time. */
export function rateNow({ rate, rateSlot }: ActivityRate, nowMs: number): readonly number[] {
  const past = slotOf(nowMs) - rateSlot
  if (past <= 0) return rate
  return past >= rate.length ? NOTHING : [...rate.slice(past), ...NOTHING.slice(0, past)]
}

/** Adds the counts of a stream as of now to those of others. */
export function addChanges(sums: number[], { rate, rateSlot }: ActivityRate, nowMs: number): void {
  if (rate === NOTHING) return
  const past = Math.max(0, slotOf(nowMs) - rateSlot)
  for (let at = past; at < rate.length; at++) sums[at - past] = (sums[at - past] ?? 0) + (rate[at] ?? 0)
}

function slotOf(ms: number): number {
  return Math.floor(ms / RATE_SLOTS.slotMs)
}
