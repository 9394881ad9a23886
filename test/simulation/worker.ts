import { transact } from '../../src/ops/transact/transact.ts'
import { StoreUnreachable } from '../../src/store/errors.ts'
import type { StreamStore } from '../../src/store/store.ts'
import type { ChangeResult, Operation } from '../../src/stream/operations/operation.ts'
import { isoTime } from '../../src/stream/time/dates.ts'
import type { EventPlan, StreamPlanned } from './scenario.ts'
import type { Actor } from './scheduler.ts'
import type { Trace } from './trace.ts'

/** A machine that works on events, with its own access to the store. */
export interface Machine {
  readonly actor: Actor
  readonly store: StreamStore
  readonly trace: Trace
}

const CLAIM_MS = 60_000
/** A heartbeat is due each third of a timeout, at the latest. */
const BEAT = [0.6 / 3, 0.95 / 3] as const
/** For a late worker, or nearly late: the time after the deadline, ms. */
const TARDY_MS = [-80, 160] as const

/** All work of workers on one stream. */
export async function liveStream(machine: Machine, { name, root, beginsMs, events }: StreamPlanned): Promise<void> {
  await change(machine, name, { op: 'init', root, forks: [{ name: 'Gate' }], hold: false, born: name })
  await machine.actor.pause(beginsMs)
  const forks = events.map(({ spec }) => spec)
  const added = await change(machine, name, { op: 'advance', event: '01.00', forks })
  for (const [at, event] of (added?.added ?? []).entries()) {
    const plan = events[at]
    if (plan !== undefined) machine.actor.spawn(() => work(machine, name, event, plan))
  }
}

/** One event, from its start to its end, or until its worker disappears. */
async function work(machine: Machine, stream: string, event: string, plan: EventPlan): Promise<void> {
  const { actor } = machine
  const { random } = actor
  if (plan.fate === 'never-started') return silence(machine, stream, event)
  const isLate = plan.fate === 'started-late' && plan.tardiness > 0
  await actor.pause(isLate ? plan.timeoutMs + random.between(...TARDY_MS) : plan.timeoutMs * random.between(0, 0.9))
  const started = await change(machine, stream, { op: 'start', event, owner: actor.name, claimMs: CLAIM_MS })
  const fence = started?.claim?.fence
  if (fence === undefined) return
  if (!(await showLife(machine, stream, event, plan, fence))) return
  await leave(machine, stream, event, plan, fence)
}

/** Sends heartbeats until there were enough of them. False: it must stop. */
async function showLife({ actor, ...machine }: Machine, stream: string, event: string, plan: EventPlan, fence: number) {
  const { random } = actor
  for (let beat = 0; beat < plan.beats; beat++) {
    const isTardy = random.chance(plan.tardiness)
    const ms = isTardy ? plan.timeoutMs + random.between(...TARDY_MS) : plan.timeoutMs * random.between(...BEAT)
    await actor.pause(ms)
    const touch = { op: 'touch', event, claimMs: CLAIM_MS, fence } as const
    if ((await change({ actor, ...machine }, stream, touch)) === undefined) return false
  }
  return true
}

async function leave(machine: Machine, stream: string, event: string, plan: EventPlan, fence: number): Promise<void> {
  const { random } = machine.actor
  if (plan.fate === 'completes') await change(machine, stream, { op: 'complete', event, fence })
  else if (plan.fate === 'fails') await change(machine, stream, { op: 'fail', event, fence, msg: 'boom' })
  else if (plan.fate === 'advances') {
    // The next step has an absolute deadline.
    const next = { name: 'Next', timeout: isoTime(machine.store.nowMs() + plan.timeoutMs) }
    const added = await change(machine, stream, { op: 'advance', event, fence, forks: [], next })
    const [id] = added?.added ?? []
    const fate = random.chance(0.5) ? 'completes' : 'silent'
    if (id !== undefined)
      await work(machine, stream, id, { ...plan, fate, beats: 2 * random.whole(0, 2), tardiness: 0 })
  } else silence(machine, stream, event)
}

function silence({ actor, trace }: Machine, stream: string, event: string): void {
  trace.add({ kind: 'silent', atMs: actor.scheduler.nowMs, who: actor.name, stream, event })
}

/** Retries until there is an answer. `undefined`: it was refused. */
export async function change(
  machine: Machine,
  stream: string,
  operation: Operation,
): Promise<ChangeResult | undefined> {
  const { actor, store } = machine
  const commandId = `${actor.name}:${stream}:${actor.scheduler.nowMs}:${operation.op}:${'event' in operation ? operation.event : ''}`
  for (let longestMs = 2_000; ; longestMs = Math.min(2 * longestMs, 60_000)) {
    try {
      const outcome = await transact(store, stream, operation, { commandId, by: actor.name, leaseWaitMs: 2_000 })
      if (outcome.kind === 'done') return outcome.result
      if (outcome.kind === 'refused') return undefined
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
    }
    await actor.pause(actor.random.between(longestMs / 2, longestMs))
  }
}
