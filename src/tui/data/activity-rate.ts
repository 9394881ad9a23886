import { PULSE, type StreamEntry } from './types.ts'

/** Recent changes of a stream per time slot, with the number of the last slot. */
export type ActivityRate = Pick<StreamEntry, 'pulse' | 'pulseAt'>

const NOTHING: readonly number[] = new Array<number>(PULSE.stretches).fill(0)

/** No changes yet. */
export function restingPulse(nowMs: number): ActivityRate {
  return { pulse: NOTHING, pulseAt: stretchOf(nowMs) }
}

/** Adds changes to the current slot. After a clock step back they are added to the last slot. */
export function beat({ pulse, pulseAt }: ActivityRate, changes: number, nowMs: number): ActivityRate {
  const at = Math.max(pulseAt, stretchOf(nowMs))
  const shifted = pulseNow({ pulse, pulseAt }, nowMs)
  const next = shifted.slice()
  next[next.length - 1] = (next.at(-1) ?? 0) + changes
  return { pulse: next, pulseAt: at }
}

/** The counts as of now: without changes they shift left with time. */
export function pulseNow({ pulse, pulseAt }: ActivityRate, nowMs: number): readonly number[] {
  const past = stretchOf(nowMs) - pulseAt
  if (past <= 0) return pulse
  return past >= pulse.length ? NOTHING : [...pulse.slice(past), ...NOTHING.slice(0, past)]
}

function stretchOf(ms: number): number {
  return Math.floor(ms / PULSE.stretchMs)
}
