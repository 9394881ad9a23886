import { randomUUID } from 'node:crypto'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import { resultOf, run } from '../../unit/ops/support.ts'
import { check } from '../checker.ts'
import type { ClockFault } from '../clock.ts'
import { Dog } from '../dog.ts'
import { NO_FAULTS, Weather } from '../faults.ts'
import { Random } from '../random.ts'
import { Actor, Scheduler } from '../scheduler.ts'
import { Trace } from '../trace.ts'
import { START_MS, viewOf, type World, type WorldSettings } from '../world.ts'
import { audit, type Wrong } from './audit.ts'
import { Employee } from './employee.ts'
import { carryOut } from './operator.ts'
import { DOUBT_MS, Register } from './register.ts'
import { withSeededIds } from './seeded-ids.ts'
import { careFor, KEEP, Sender, type Session } from './sender.ts'
import { SessionHistories } from './session-histories.ts'
import { type TownSettings, TROUBLED_MS, type Trouble, WHOLE_LIFE_MS } from './settings.ts'

const INTERVAL_MS = 60_000
const SLICE_MS = 300_000
/** Senders of each session. */
const SENDERS = 2

/** The result of a system run. */
export interface TownOutcome {
  readonly trace: Trace
  readonly wrong: readonly Wrong[]
  readonly register: Register
  readonly steps: number
}

/** Runs a system until all its streams are done, and judges the run. The same settings give the same bytes. */
export async function liveTown(
  settings: TownSettings,
  sabotage: WorldSettings['sabotage'] = undefined,
): Promise<TownOutcome> {
  return withSeededIds(settings.seed, () => new Town(settings, sabotage).live())
}

class Town {
  readonly #settings: TownSettings
  readonly #world: World
  readonly #register = new Register()
  readonly #histories = new SessionHistories()
  readonly #workers: ReadonlyMap<string, Employee>
  readonly #dogs: ReadonlyMap<string, Dog>
  readonly #sessions: readonly Session[]
  readonly #senders: ReadonlyMap<string, Sender>

  constructor(settings: TownSettings, sabotage: WorldSettings['sabotage']) {
    this.#settings = settings
    const scheduler = new Scheduler(START_MS)
    const random = new Random(settings.seed)
    const base = openMemoryStore({ clock: () => Math.round(scheduler.nowMs), random: random.for('store').fraction })
    const { rates, skewMs } = settings
    this.#world = {
      scheduler,
      random,
      trace: new Trace(START_MS),
      base,
      sights: this.#histories,
      weather: new Weather(outagesIn(settings.troubles)),
      settings: { intervalMs: INTERVAL_MS, rates, clock: {}, skewMs, ...(sabotage === undefined ? {} : { sabotage }) },
    }
    this.#workers = named('worker', settings.workers, name => {
      return new Employee(this.#world, this.#register, name, machineOf(name, settings.troubles))
    })
    this.#sessions = (settings.sessions ?? []).map(number => ({
      ...{ name: `q-${number}`, left: SENDERS },
      ...(number % 2 === 1 ? { keep: KEEP } : {}),
    }))
    this.#senders = new Map(
      this.#sessions.flatMap((session, at) =>
        Array.from({ length: SENDERS }, (_, one): [string, Sender] => {
          const name = `sender-${SENDERS * at + one}`
          return [name, new Sender(this.#world, this.#register, name, session)]
        }),
      ),
    )
    this.#dogs = named('dog', settings.dogs, name => new Dog(this.#world, { name, machine: {} }))
  }

  async live(): Promise<TownOutcome> {
    const { trace, scheduler, base, random } = this.#world
    for (const number of this.#settings.streams) {
      const actor = new Actor(scheduler, `s-${number}`, random)
      const beginsMs = actor.random.between(0, TROUBLED_MS)
      scheduler.at(START_MS + beginsMs, () => actor.spawn(() => this.#found(actor.name, actor.random)))
    }
    for (const process of [...this.#workers.values(), ...this.#dogs.values(), ...this.#senders.values()])
      process.begin()
    for (const session of this.#sessions) void careFor(this.#world, session).catch(error => scheduler.fail(error))
    for (const [number, trouble] of this.#settings.troubles.entries()) {
      scheduler.at(START_MS + trouble.atMs, () => this.#befall(trouble, number))
    }
    const { livesMs } = this.#settings
    await scheduler.run(START_MS + Math.min(livesMs, TROUBLED_MS + SLICE_MS))
    let open = await namesOfOpen(base)
    for (let ms = TROUBLED_MS + 2 * SLICE_MS; ms <= livesMs && open.length > 0; ms += SLICE_MS) {
      await scheduler.run(START_MS + ms)
      open = await namesOfOpen(base)
    }
    if (livesMs < WHOLE_LIFE_MS) open = []
    return { trace, wrong: await this.#judge(open), register: this.#register, steps: scheduler.steps }
  }

  /** A stream is created, by an actor without faults. */
  async #found(name: string, random: Random): Promise<void> {
    const { scheduler, settings } = this.#world
    const calm = { ...this.#world, weather: new Weather([]), settings: { ...settings, rates: NO_FAULTS, skewMs: 0 } }
    const store = viewOf(calm, new Actor(scheduler, 'founder', random))
    resultOf(await run(store, name, streamOf(name, random, this.#settings.undoes), { commandId: `born:${name}` }))
  }

  #befall(trouble: Trouble, number: number): void {
    const { scheduler, trace, base, random } = this.#world
    const untilMs = scheduler.nowMs + ('forMs' in trouble ? trouble.forMs : 0)
    const process = 'who' in trouble ? this.#processOf(trouble.who) : undefined
    switch (trouble.kind) {
      case 'crash':
        process?.crash(trouble.forMs)
        break
      case 'pause':
        process?.stopUntil(untilMs)
        break
      case 'outage':
        trace.add({ kind: 'outage', atMs: scheduler.nowMs, who: trouble.who, untilMs })
        break
      case 'lease':
        void takeLease(base, `s-${trouble.stream}`, trouble.forMs)
        this.#register.keptOut(`s-${trouble.stream}`, untilMs)
        scheduler.at(untilMs + DOUBT_MS, () => this.#register.clashes())
        trace.add({ kind: 'leased', atMs: scheduler.nowMs, who: 'holder', stream: `s-${trouble.stream}`, untilMs })
        break
      case 'order': {
        const actor = new Actor(scheduler, 'operator', random.for(`order ${number}`))
        const store = viewOf(this.#world, actor)
        actor.spawn(() => carryOut(trouble, { actor, store, register: this.#register, number }))
        break
      }
      case 'clock':
      case 'rate':
        break
      default:
        trouble satisfies never
    }
  }

  #processOf(who: string): Employee | Dog | Sender | undefined {
    return this.#workers.get(who) ?? this.#dogs.get(who) ?? this.#senders.get(who)
  }

  async #judge(open: readonly string[]): Promise<Wrong[]> {
    const { trace, base, scheduler } = this.#world
    const ofDogs = check(trace.happenings, {
      dogs: [...this.#dogs.values()].map(dog => dog.settings),
      skewMs: 2 * this.#settings.skewMs,
      graceMs: 0,
      onDue: 'abort-event',
      endMs: scheduler.nowMs,
      storeMs: trueMs => trueMs,
    })
    return [
      ...ofDogs.map(({ kind, stream, event, why }) => ({ kind, stream, why: `${event}: ${why}` })),
      ...(await audit(base, trace.happenings, this.#register, this.#histories)),
      ...open.map(stream => ({ kind: 'stuck' as const, stream, why: 'it did not come to its end' })),
    ]
  }
}

function named<Value>(
  kind: string,
  numbers: readonly number[],
  make: (name: string) => Value,
): ReadonlyMap<string, Value> {
  return new Map(numbers.map(number => [`${kind}-${number}`, make(`${kind}-${number}`)]))
}

function outagesIn(troubles: readonly Trouble[]) {
  return troubles
    .filter(trouble => trouble.kind === 'outage')
    .map(({ atMs, forMs, who }) => ({ fromMs: START_MS + atMs, toMs: START_MS + atMs + forMs, who }))
}

function machineOf(name: string, troubles: readonly Trouble[]): ClockFault {
  const own = troubles.filter(trouble => 'who' in trouble && trouble.who === name)
  const rate = own.find(trouble => trouble.kind === 'rate')?.rate ?? 1
  const jumps = own
    .filter(trouble => trouble.kind === 'clock')
    .map(({ atMs, byMs }) => ({ atMs: START_MS + atMs, byMs }))
  return { rate, jumps }
}

function streamOf(name: string, random: Random, undoes = true): Operation {
  const forks = Array.from({ length: random.whole(1, 3) }, () => {
    // The last one has no worker here: watchdogs have to end it.
    const name = random.pick(['A', 'A', 'B', 'Nobody'])
    const isLimited = name === 'Nobody' || random.chance(0.7)
    const waits = name !== 'Nobody' && random.chance(0.25)
    if (waits) return { name, signal: 'go', timeout: random.pick(['00:10:00', '00:30:00']), onDue: 'open' as const }
    return { name, ...(isLimited ? { timeout: random.pick(['00:04:00', '00:10:00', '00:30:00']) } : {}) }
  })
  const join = random.chance(0.5) ? { join: { name: 'J' } } : {}
  const root = { name: 'Start', ...(random.chance(0.2) ? { timeout: '02:00:00' } : {}) }
  // Without a limit for the whole: the model of the limits knows no undoing.
  if (!undoes || 'timeout' in root || !random.chance(0.4))
    return { op: 'init', root, forks, ...join, hold: false, born: name }
  const undone = forks.map(fork => ({ ...fork, undo: 'U' }))
  return { op: 'init', root, forks: undone, ...join, hold: false, born: name, onFailure: 'compensate' }
}

async function takeLease(base: StreamStore, stream: string, forMs: number): Promise<void> {
  const holder = { by: 'holder', host: '', pid: 0, purpose: 'by hand', sinceMs: 0 }
  await base.acquireLease(stream, { leaseId: randomUUID(), durationS: Math.round(forMs / 1_000), holder })
}

async function namesOfOpen(base: StreamStore): Promise<string[]> {
  const open: string[] = []
  for await (const page of base.list({})) {
    const stand = page.filter(({ summary }) => summary === undefined || summary.open > 0)
    open.push(...stand.map(({ name }) => name))
  }
  return open
}
