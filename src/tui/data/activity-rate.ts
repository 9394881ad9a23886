import { PULSE, type StreamEntry } from './types.ts'

/** The numbers of a sparkline with the stretch that the last of them belongs to. */
export type ActivityRate = Pick<StreamEntry, 'pulse' | 'pulseAt'>

const NOTHING: readonly number[] = new Array<number>(PULSE.stretches).fill(0)

/** Nothing was seen to change so far. */
export function restingPulse(nowMs: number): ActivityRate {
  return { pulse: NOTHING, pulseAt: stretchOf(nowMs) }
}

/** So many changes more were seen now. A clock that was put back adds to the last stretch. */
export function beat({ pulse, pulseAt }: ActivityRate, changes: number, nowMs: number): ActivityRate {
  const at = Math.max(pulseAt, stretchOf(nowMs))
  const shifted = pulseNow({ pulse, pulseAt }, nowMs)
  const next = shifted.slice()
  next[next.length - 1] = (next.at(-1) ?? 0) + changes
  return { pulse: next, pulseAt: at }
}

/** The numbers as they are by now, though nothing happened since: they move to the left with time. */
export function pulseNow({ pulse, pulseAt }: ActivityRate, nowMs: number): readonly number[] {
  const past = stretchOf(nowMs) - pulseAt
  if (past <= 0) return pulse
  return past >= pulse.length ? NOTHING : [...pulse.slice(past), ...NOTHING.slice(0, past)]
}

function stretchOf(ms: number): number {
  return Math.floor(ms / PULSE.stretchMs)
}
