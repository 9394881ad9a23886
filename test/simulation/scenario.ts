import type { EventSpec, OnDue } from '../../src/stream/operations/operation.ts'
import { formatTimeSpan } from '../../src/stream/time/durations.ts'
import type { Random } from './random.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The action of the worker once the time of an event has come. */
export type Fate = 'completes' | 'fails' | 'silent' | 'advances' | 'never-started' | 'started-late'

export interface EventPlan {
  readonly spec: EventSpec
  readonly timeoutMs: number
  readonly fate: Fate
  /** Heartbeats before that. */
  readonly beats: number
  /** The probability that a heartbeat is sent only at the deadline, a moment before or after it. */
  readonly tardiness: number
}

export interface StreamPlanned {
  readonly name: string
  readonly root: EventSpec
  /** When its first step is done and the events below are created, ms from the beginning. */
  readonly beginsMs: number
  readonly events: readonly EventPlan[]
}

/** Common parameters of all streams. */
export interface Habits {
  readonly days: number
  /** Average number of heartbeats of a worker. */
  readonly beats: number
  /** The share of workers that are late now and then. */
  readonly tardy: number
}

/** A stream with its plan. */
export function planStream(name: string, random: Random, habits: Habits): StreamPlanned {
  const { days } = habits
  const limited = random.chance(0.15)
  const root = {
    name: 'Start',
    ...(limited ? { timeout: formatTimeSpan(whole(random.spread(1, days) * DAY)) } : {}),
    ...(limited && random.chance(0.2) ? { onDue: 'notify' as const } : {}),
  }
  const events = Array.from({ length: random.whole(1, 3) }, () => planEvent(random, habits))
  return { name, root, beginsMs: whole(random.between(0, 0.45 * days * DAY)), events }
}

const UNSTARTED: readonly [Fate, ...Fate[]] = ['never-started', 'never-started', 'started-late']
const STARTED: readonly [Fate, ...Fate[]] = [
  'completes',
  'completes',
  'silent',
  'silent',
  'silent',
  'advances',
  'fails',
]

function planEvent(random: Random, { beats, tardy }: Habits): EventPlan {
  const timeoutMs = whole(random.spread(HOUR, 48 * HOUR))
  const fate = random.pick(random.chance(0.25) ? UNSTARTED : STARTED)
  const onDue = onDueOf(random)
  const spec = { name: 'Step', timeout: formatTimeSpan(timeoutMs), ...(onDue === undefined ? {} : { onDue }) }
  const tardiness = random.chance(tardy) ? 0.3 : 0
  return { spec, timeoutMs, fate, beats: random.whole(0, 2 * beats), tardiness }
}

function onDueOf(random: Random): OnDue | undefined {
  const draw = random.fraction()
  if (draw < 0.1) return 'notify'
  if (draw < 0.25) return 'abort-stream'
  return draw < 0.35 ? 'abort-event' : undefined
}

/** Durations are written in whole seconds. */
function whole(ms: number): number {
  return Math.round(ms / 1_000) * 1_000
}
