import { readStream } from '../../../src/ops/read-stream.ts'
import { appendStep } from '../../../src/ops/transact/append.ts'
import { type TransactOutcome, transact } from '../../../src/ops/transact/transact.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { isFinal } from '../../../src/stream/event.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import { defined } from '../../../src/util/defined.ts'
import { Actor } from '../scheduler.ts'
import { viewOf, type World } from '../world.ts'
import type { Register } from './register.ts'

/** Steps that a sender appends. */
const STEPS = 5
/**
 * Steps that a session keeps that drops its oldest. While a sender does not know whether its step was appended, the other one
 * appends too few to have it dropped: its command id is known.
 */
export const KEEP = STEPS - 1
const PAUSE_MS = [1_000, 240_000] as const
/** Of a session that drops its oldest steps: by the next one, the ones before are mostly done. */
const LONG_PAUSE_MS = [60_000, 1_200_000] as const
const CARE_MS = 5 * 60_000
const LEASE_WAIT_MS = 2_000

/** What the senders of a session know of each other. */
export interface Session {
  readonly name: string
  /** Senders that still have steps to append. */
  left: number
  /** It drops its oldest steps but so many. */
  readonly keep?: number
}

/**
 * A process that appends steps to a session, one after the other. It may crash; started again, it repeats the step of which
 * it does not know whether it was appended. The last sender lets the session end.
 */
export class Sender {
  readonly #world: World
  readonly #register: Register
  readonly #name: string
  readonly #session: Session
  #next = 0
  #lives = 0
  #actor: Actor | undefined

  constructor(world: World, register: Register, name: string, session: Session) {
    this.#world = world
    this.#register = register
    this.#name = name
    this.#session = session
  }

  begin(): void {
    const { scheduler, random, trace } = this.#world
    const actor = new Actor(scheduler, this.#name, random.for(`life ${++this.#lives}`))
    this.#actor = actor
    trace.add({ kind: 'up', atMs: scheduler.nowMs, who: this.#name })
    const store = viewOf(this.#world, actor)
    actor.spawn(() => this.#send(actor, store))
  }

  crash(downMs: number): void {
    const { scheduler, trace } = this.#world
    if (!this.#actor?.isAlive || this.#next > STEPS) return
    this.#actor.die()
    trace.add({ kind: 'down', atMs: scheduler.nowMs, who: this.#name })
    scheduler.at(scheduler.nowMs + downMs, () => this.begin())
  }

  stopUntil(untilMs: number): void {
    this.#actor?.stopUntil(untilMs)
  }

  async #send(actor: Actor, store: StreamStore): Promise<void> {
    const { random } = actor
    const { keep } = this.#session
    const pauseMs: readonly [number, number] = keep === undefined ? PAUSE_MS : LONG_PAUSE_MS
    while (this.#next < STEPS) {
      await actor.pause(random.spread(...pauseMs))
      const id = `${this.#name}:${this.#next}`
      const step = { name: 'B', tag: id, ...(this.#next % 2 === 0 ? { timeout: '00:20:00' } : {}) }
      const options = { commandId: id, by: this.#name, leaseWaitMs: LEASE_WAIT_MS }
      const append = () =>
        appendStep(store, this.#session.name, { step, create: 'Session', ...defined({ keep }) }, options)
      await this.#untilDone(actor, id, append)
      this.#next++
      if (this.#next === STEPS) this.#session.left--
    }
    if (this.#session.left > 0) return
    const id = `${this.#session.name}:end`
    const options = { commandId: id, by: this.#name, leaseWaitMs: LEASE_WAIT_MS }
    const end: Operation = { op: 'signal', name: 'end' }
    await this.#untilDone(actor, id, () => transact(store, this.#session.name, end, options))
  }

  async #untilDone(actor: Actor, commandId: string, send: () => Promise<TransactOutcome>): Promise<void> {
    for (;;) {
      const kind = await outcomeOf(send)
      if (kind === 'done' || kind === 'refused') {
        this.#register.answered({ stream: this.#session.name, commandId, kind, isNew: true })
        return
      }
      await actor.pause(actor.random.between(500, 5_000))
    }
  }
}

/** Someone who looks at a session now and then, and skips what holds it up. */
export async function careFor(world: World, { name }: Session): Promise<void> {
  const actor = new Actor(world.scheduler, `caretaker of ${name}`, world.random)
  const store = viewOf(world, actor)
  for (let look = 0; ; look++) {
    await actor.pause(CARE_MS * actor.random.between(0.5, 1.5))
    const view = await readStream(store, name).catch(ifUnreachable)
    if (view === undefined) continue
    const { events } = view.stream
    if (events[0] !== undefined && isFinal(events[0])) return
    for (const { id } of events.filter((_, at) => view.stream.blocks(at))) {
      const options = { commandId: `skip:${name}:${look}:${id}`, by: 'caretaker', leaseWaitMs: LEASE_WAIT_MS }
      await outcomeOf(() => transact(store, name, { op: 'skip', event: id, msg: 'goes on without' }, options))
    }
  }
}

async function outcomeOf(send: () => Promise<TransactOutcome>): Promise<string> {
  return send().then(
    ({ kind }) => kind,
    error => ifUnreachable(error) ?? 'unreachable',
  )
}

function ifUnreachable(error: unknown): undefined {
  if (!(error instanceof StoreUnreachable)) throw error
  return undefined
}
