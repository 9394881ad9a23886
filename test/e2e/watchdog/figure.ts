import { setTimeout as sleep } from 'node:timers/promises'
import type { StreamStore } from '../../../src/store/store.ts'
import { seededRandom } from '../../support/faults.ts'
import type { Ended, User } from '../program.ts'
import { type Heartbeats, startHeartbeats } from './heartbeats.ts'
import { type Fate, fatesOf } from './judge.ts'
import { type Life, type LivesSetting, livesOf, type Signs } from './lives.ts'
import { plant } from './planting.ts'
import { eventually } from './poll.ts'
import { type Pulse, takePulse } from './pulse.ts'
import { startWatchdog, type WatchdogProcess } from './watchdog-process.ts'

/** Three watchdogs over many heartbeats, one of them killed in the middle. Times in ms. */
export interface Figure {
  readonly user: User
  /** The store of the test and the worker, without faults. */
  readonly store: StreamStore
  /** The store of the watchdogs. */
  readonly address: string
  readonly flags: readonly string[]
  readonly lives: LivesSetting
  /** The kill comes at a moment of this time, counted from the first of the play. */
  readonly killWithin: readonly [least: number, most: number]
  /** The watchdogs are ready: the play can begin. */
  readonly areSettled: (watchdogs: readonly WatchdogProcess[]) => boolean
  /** Waits for conditions that must occur while the survivors still run. */
  readonly beforeTheEnd?: (survivors: readonly WatchdogProcess[]) => Promise<void>
}

export interface Played {
  readonly lives: readonly Life[]
  readonly startedMs: number
  readonly signs: ReadonlyMap<string, Signs>
  readonly fates: ReadonlyMap<string, Fate>
  readonly killed: { readonly atMs: number; readonly held: readonly number[]; readonly watchdog: WatchdogProcess }
  readonly survivors: readonly WatchdogProcess[]
  /** The results of the survivors when they were stopped. */
  readonly ended: readonly Ended[]
  /** The longest time of a single read meanwhile, ms. */
  readonly slowestReadMs: number
}

const WATCHDOGS = 3
const PATIENCE_MS = 60_000

export async function play(figure: Figure): Promise<Played> {
  const { user, store, address, flags, lives: setting } = figure
  const watchdogs = Array.from({ length: WATCHDOGS }, () => startWatchdog(user, address, flags))
  let heartbeats: Heartbeats | undefined
  let pulse: Pulse | undefined
  try {
    await eventually('the watchdogs settle', () => (figure.areSettled(watchdogs) ? true : undefined), {
      withinMs: PATIENCE_MS,
    })
    const lives = livesOf(setting)
    const claimed = await plant(store, lives)
    heartbeats = await startHeartbeats(store.address, setting)
    pulse = takePulse(store, lives[0]?.stream ?? '')
    const { startedMs } = heartbeats
    const killed = await killOne(figure, watchdogs, startedMs)
    const survivors = watchdogs.filter(watchdog => watchdog !== killed.watchdog)
    await silencedAreEnded(figure, lives)
    await figure.beforeTheEnd?.(survivors)
    await pulse.stop()
    const ended = await Promise.all(survivors.map(watchdog => watchdog.stop()))
    const signs = withClaims(await heartbeats.stop(), claimed)
    const fates = await fatesOf(store, [...claimed.keys()])
    return { lives, startedMs, signs, fates, killed, survivors, ended, slowestReadMs: pulse.slowestMs }
  } finally {
    await pulse?.stop()
    heartbeats?.kill()
    for (const { running } of watchdogs) running.process.kill('SIGKILL')
  }
}

/** The number of sequential steps from a deadline to the end of its event, each of which may take as long as a slow read. */
const STEPS = 8
/** With a longer single read, timing is not judged: ms. */
export const TOO_SLOW_MS = 1_000

/** The allowance for a slow machine and store on every limit, ms: infinite if timing is not judged. */
export function slownessMs({ slowestReadMs }: Pick<Played, 'slowestReadMs'>): number {
  return slowestReadMs > TOO_SLOW_MS ? Number.POSITIVE_INFINITY : STEPS * slowestReadMs
}

/** The claim was the first heartbeat. */
function withClaims(
  seen: ReadonlyMap<string, Signs>,
  claimed: ReadonlyMap<string, number>,
): ReadonlyMap<string, Signs> {
  const none = { lastMs: 0, count: 0, doubtfulMs: null, refused: null }
  return new Map(
    [...claimed].map(([stream, claimedMs]) => {
      const { lastMs, ...signs } = seen.get(stream) ?? { stream, ...none }
      return [stream, { ...signs, lastMs: Math.max(lastMs, claimedMs) }]
    }),
  )
}

async function killOne(
  { lives: { seed }, killWithin: [least, most] }: Figure,
  watchdogs: readonly WatchdogProcess[],
  startedMs: number,
): Promise<Played['killed']> {
  const random = seededRandom(seed + 2)
  await sleep(startedMs + least + random() * (most - least) - Date.now())
  // one that holds no shard would not be missed
  const worthy = watchdogs.filter(({ held }) => held === undefined || held.length > 0)
  const watchdog = worthy[Math.floor(random() * worthy.length)]
  if (watchdog === undefined) throw new Error('no watchdog holds anything')
  const held = watchdog.held ?? []
  watchdog.running.process.kill('SIGKILL')
  return { atMs: Date.now(), held, watchdog }
}

/** Waits for all events without heartbeats; whether they were ended in time, or at all, is for the judge. */
async function silencedAreEnded({ store }: Figure, lives: readonly Life[]): Promise<void> {
  const wanted = new Set(lives.filter(({ kind }) => kind === 'silenced').map(({ stream }) => stream))
  const look = async () => {
    for await (const page of store.list({ order: 'any' })) {
      for (const { name, summary } of page) if ((summary?.failed ?? 0) > 0) wanted.delete(name)
    }
    return wanted.size === 0 ? true : undefined
  }
  await eventually('all that fell silent are ended', look, { withinMs: PATIENCE_MS, everyMs: 300 }).catch(() => {})
}
