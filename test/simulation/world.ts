import { openMemoryStore } from '../../src/store/memory.ts'
import type { StreamStore } from '../../src/store/store.ts'
import type { WatchdogOptions } from '../../src/watchdog/options.ts'
import { holdLeases, retryFailures } from './bystanders.ts'
import { type CheckRules, check, type Violation } from './checker.ts'
import { Clock, type ClockFault } from './clock.ts'
import { Dog, type DogPlan } from './dog.ts'
import { type FaultRates, type Outage, Weather } from './faults.ts'
import { FaultyStore } from './faulty-store.ts'
import { Random } from './random.ts'
import { type Habits, planStream } from './scenario.ts'
import { Actor, Scheduler } from './scheduler.ts'
import { Sights } from './sights.ts'
import { Trace } from './trace.ts'
import { liveStream, type Machine } from './worker.ts'

const DAY = 86_400_000
/** The true time at which every simulation begins. */
export const START_MS = Date.parse('2026-03-01T00:00:00.000Z')
const MACHINES = 10

export interface WorldSettings extends Habits {
  readonly seed: string
  readonly streams: number
  readonly intervalMs: number
  readonly dogs: readonly DogPlan[]
  readonly rates: FaultRates
  /** Ms from the beginning. */
  readonly outages: readonly Outage[]
  /** The store's clock. */
  readonly clock: Pick<ClockFault, 'jumps'>
  /** The maximum difference between the store's clock and each process's estimate, either way, ms. */
  readonly skewMs: number
  /** See `CheckRules`. */
  readonly graceMs: number
  /** Removes a protection, for the tests of the tests. */
  readonly sabotage?: {
    store?(view: StreamStore): StreamStore
    /** In place of the loop. */
    run?(store: StreamStore, options: WatchdogOptions, signal: AbortSignal): Promise<void>
    readonly options?: Partial<WatchdogOptions>
  }
}

export interface WorldOutcome {
  readonly trace: Trace
  readonly rules: CheckRules
  readonly violations: readonly Violation[]
  /** The number of each kind of occurrences, of faults, outcomes and operations. */
  readonly counts: ReadonlyMap<string, number>
  readonly steps: number
  readonly cpuMs: number
}

/** Runs a simulation for its days, and judges it. */
export async function live(settings: WorldSettings): Promise<WorldOutcome> {
  const cpu = process.cpuUsage()
  const scheduler = new Scheduler(START_MS)
  const random = new Random(settings.seed)
  const trace = new Trace(START_MS)
  const storeClock = new Clock(scheduler, settings.clock)
  const base = openMemoryStore({ clock: storeClock.nowMs })
  const outages = settings.outages.map(({ fromMs, toMs, who }) => ({
    fromMs: START_MS + fromMs,
    toMs: START_MS + toMs,
    who,
  }))
  for (const { fromMs, toMs, who } of outages) {
    scheduler.at(fromMs, () => trace.add({ kind: 'outage', atMs: fromMs, who, untilMs: toMs }))
  }
  const world = { scheduler, random, trace, base, sights: new Sights(), weather: new Weather(outages), settings }
  const dogs = settings.dogs.map(plan => new Dog(world, plan))
  people(world, settings)
  for (const dog of dogs) dog.begin()
  const endMs = START_MS + settings.days * DAY
  await scheduler.run(endMs)
  const rules: CheckRules = {
    dogs: dogs.map(({ settings }) => settings),
    skewMs: 2 * settings.skewMs,
    graceMs: settings.graceMs,
    onDue: 'abort-event',
    endMs,
    storeMs: trueMs => storeClock.atTrue(trueMs),
  }
  const violations = check(trace.happenings, rules)
  const used = process.cpuUsage(cpu)
  const cpuMs = Math.round((used.user + used.system) / 1_000)
  return { trace, rules, violations, counts: countsOf(trace), steps: scheduler.steps, cpuMs }
}

/** The shared parts of a simulation. */
export interface World {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly trace: Trace
  readonly base: StreamStore
  readonly sights: Sights
  readonly weather: Weather
  readonly settings: Pick<WorldSettings, 'intervalMs' | 'rates' | 'clock' | 'skewMs' | 'sabotage'>
}

/** The store as an actor sees it. */
export function viewOf(world: World, actor: Actor): FaultyStore {
  const { base, trace, sights, weather, settings, scheduler } = world
  const offsetMs = Math.round(actor.random.between(-settings.skewMs, settings.skewMs))
  const clock = new Clock(scheduler, { ...settings.clock, offsetMs })
  return new FaultyStore({ base, actor, clock, rates: settings.rates, weather, trace, sights })
}

/** Workers, an operator, and a holder of explicit leases. */
function people(world: World, settings: WorldSettings): void {
  const { scheduler, random, trace, base } = world
  const machineOf = (name: string): Machine => {
    const actor = new Actor(scheduler, name, random)
    return { actor, store: viewOf(world, actor), trace }
  }
  const machines = Array.from({ length: MACHINES }, (_, at) => machineOf(`worker-${at}`))
  for (let at = 0; at < settings.streams; at++) {
    const name = `s-${String(at).padStart(3, '0')}`
    const machine = machines[at % MACHINES]
    const plan = planStream(name, random.for(name), settings)
    machine?.actor.spawn(() => liveStream(machine, plan))
  }
  const [holder, operator] = [machineOf('holder'), machineOf('operator')]
  holder.actor.spawn(() => holdLeases(holder, base, 8 * 3_600_000))
  operator.actor.spawn(() => retryFailures(operator, base, 12 * 3_600_000))
}

function countsOf({ happenings }: Trace): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const add = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)
  for (const happening of happenings) {
    add(happening.kind)
    if (happening.kind === 'fault') add(`${happening.who.split('-')[0]} ${happening.call} ${happening.fault}`)
    if (happening.kind === 'carried') add(`carried ${happening.outcome}`)
    if (happening.kind !== 'wrote') continue
    if (happening.entries.length === 0) add('heartbeat')
    for (const { op, commandId } of happening.entries) add(commandId.startsWith('watchdog:') ? `expired ${op}` : op)
  }
  return counts
}
