import { SIZE } from '../guarantees/size.ts'
import type { DogPlan } from './dog.ts'
import { NO_FAULTS, type Outage } from './faults.ts'
import { timeOf } from './trace.ts'
import { START_MS, type WorldOutcome, type WorldSettings } from './world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `LEASECTL_SIM_SEED=…` runs another simulation. */
export const SEED = process.env.LEASECTL_SIM_SEED ?? '1'

/**
 * Clocks of three machines: hours off, and faster or slower than true time. Their estimate of the store's clock is a
 * separate matter. On Azure it comes from the `Date` header, in whole seconds, so it may be a second off either way. The
 * embedded store is on one machine with a shared clock: there processes cannot differ, but all see it when it is set.
 */
const DOGS: readonly DogPlan[] = [
  { name: 'dog-1', machine: { offsetMs: 3 * HOUR }, livesMs: [100 * HOUR, 300 * HOUR], downMs: [1_000, HOUR] },
  {
    name: 'dog-2',
    machine: { offsetMs: -DAY, rate: 1.001 },
    livesMs: [10 * HOUR, 60 * HOUR],
    downMs: [1_000, 2 * HOUR],
  },
  { name: 'dog-3', machine: { rate: 0.5 }, livesMs: [40 * HOUR, 160 * HOUR], downMs: [1_000, 8 * HOUR] },
]

/** The store is unreachable for all for some minutes now and then, and once for hours for one watchdog. */
function outages(days: number): Outage[] {
  const short = [5, 12, 19, 8, 3, 15].map((minutes, at) => {
    const fromMs = ((at + 0.6) / 6) * days * DAY
    return { fromMs, toMs: fromMs + minutes * MINUTE, who: '*' }
  })
  return [...short, { fromMs: 2.5 * DAY, toMs: 2.7 * DAY, who: 'dog-1' }]
}

/** The reference run: a month on Azure. */
export const MONTH: WorldSettings = {
  seed: SEED,
  days: 30,
  streams: 500,
  beats: 32,
  tardy: 0.15,
  intervalMs: 10 * MINUTE,
  dogs: DOGS,
  rates: { requestLost: 0.02, answerLost: 0.02, unknown: 0.01 },
  outages: outages(30),
  clock: {},
  skewMs: 1_000,
  graceMs: 0,
}

/** The same, smaller. */
export const WEEK: WorldSettings = { ...MONTH, days: 7, streams: 40, beats: 15, outages: outages(7) }

/** One exact clock for all, no process dies and no message is lost: all watchdogs act at once, workers just in time. */
export const RACE: WorldSettings = {
  ...WEEK,
  tardy: 1,
  dogs: DOGS.map(({ name }) => ({ name, machine: {} })),
  rates: { ...NO_FAULTS, answerLost: 0.02 },
  outages: [],
  skewMs: 0,
}

/** Two of the watchdogs are restarted repeatedly: they never have earlier observations. */
export const RESTLESS: WorldSettings = {
  ...RACE,
  tardy: 0.5,
  dogs: DOGS.map(({ name }, at) => {
    const restless = { livesMs: [15 * MINUTE, 60 * MINUTE], downMs: [1_000, 5_000] } as const
    return { name, machine: {}, ...(at === 0 ? {} : restless) }
  }),
}

/** One watchdog, with no faults but leases of others: all due events are ended within the promised time. */
export const ALONE: WorldSettings = { ...RACE, tardy: 0, dogs: [{ name: 'dog-1', machine: {} }], rates: NO_FAULTS }

/**
 * The clock of an embedded store is set: forward and back by an hour and by a day. A watchdog that is started after that
 * cannot know of it, so these keep running; and none of the workers is late through its own fault.
 */
export const SET_CLOCK: WorldSettings = {
  ...WEEK,
  tardy: 0,
  dogs: DOGS.map(({ name, machine }) => ({ name, machine })),
  clock: {
    jumps: [
      { atMs: START_MS + 20 * HOUR, byMs: HOUR },
      { atMs: START_MS + 40 * HOUR, byMs: -HOUR },
      { atMs: START_MS + 55 * HOUR, byMs: DAY },
      { atMs: START_MS + 100 * HOUR, byMs: -DAY },
    ],
  },
  skewMs: 0,
  graceMs: DAY,
}

/** The store is unreachable for so long that all workers seem to be dead. */
export const LONG_OUTAGE: WorldSettings = {
  ...WEEK,
  tardy: 0,
  outages: [
    { fromMs: 40 * HOUR, toMs: 46 * HOUR, who: '*' },
    { fromMs: 90 * HOUR, toMs: 91.5 * HOUR, who: '*' },
  ],
}

/** The violations, with their context and the way to repeat them; `''` if there are none. */
export function brokenIn({ violations, trace }: WorldOutcome, { seed }: WorldSettings, file: string): string {
  if (violations.length === 0) return ''
  const told = violations.slice(0, 3).map(({ kind, atMs, stream, event, why }) => {
    const lines = trace.linesOf(stream, atMs + HOUR)
    return `${timeOf(atMs, START_MS)} ${kind}: ${stream} ${event}: ${why}\n${lines}`
  })
  // The seeds of all simulations derive from the one that the environment may name.
  const again = `LEASECTL_SIM_SEED=${SEED} LEASECTL_TRUST_SIZE=${SIZE} npx vitest run test/simulation/${file}`
  return [`${violations.length} broken promises in the world ${seed}`, ...told, again].join('\n\n')
}
