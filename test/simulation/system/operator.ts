import { randomUUID } from 'node:crypto'
import { readStream } from '../../../src/ops/read-stream.ts'
import { rewriteStream } from '../../../src/ops/transact/rewrite.ts'
import { transact } from '../../../src/ops/transact/transact.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { dataOf } from '../../../src/stream/data.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import type { Actor } from '../scheduler.ts'
import type { Register } from './register.ts'
import type { Order, Trouble } from './settings.ts'

type Ordered = Extract<Trouble, { kind: 'order' }>

const MOST_TRIES = 200
const LONGEST_SUSPENSION_MS = 20 * 60_000
const LEASE_S = 60

/** Executes an order: reads the stream, chooses an event, and repeats its command until there is an answer. */
export async function carryOut(
  { stream: at, which, op }: Ordered,
  { actor, store, register, number }: { actor: Actor; store: StreamStore; register: Register; number: number },
): Promise<void> {
  const stream = `s-${at}`
  const commandId = `operator:${number}`
  if (op === 'edit') return editByHand({ stream, which, commandId }, { actor, store, register })
  const event = await until(actor, async () => {
    // A root that is retried by name loses the events below it: no worker here would continue it.
    const events = (await readStream(store, stream))?.stream.events.slice(op === 'retry' ? 1 : 0) ?? []
    return { id: events[which % Math.max(1, events.length)]?.id ?? '01.00' }
  })
  const give = async (operation: Operation, commandId: string, tries?: number) => {
    const kind = await until(
      actor,
      async () => {
        const how = { commandId, by: 'operator', leaseWaitMs: 2_000 }
        const outcome = await transact(store, stream, operation, how)
        return outcome.kind === 'done' || outcome.kind === 'refused' ? outcome.kind : undefined
      },
      tries,
    )
    register.answered({ stream, commandId, kind: kind ?? 'given-up', isNew: operation.op === 'signal' })
  }
  await give(operationOf(op, event?.id ?? '01.00', commandId), commandId)
  if (op !== 'suspend' && op !== 'suspend-stop') return
  await actor.pause(actor.random.between(1_000, LONGEST_SUSPENSION_MS))
  // Nothing else lets the stream end.
  await give({ op: 'resume' }, `${commandId}:resume`, Number.POSITIVE_INFINITY)
}

/** Reads a document under a lease and writes it back with a key that tells it from every other one. */
async function editByHand(
  { stream, which, commandId }: { stream: string; which: number; commandId: string },
  { actor, store, register }: { actor: Actor; store: StreamStore; register: Register },
): Promise<void> {
  const leaseId = randomUUID()
  const holder = { by: 'operator', host: '', pid: 0, purpose: 'by hand', sinceMs: 0 }
  const taken = await until(actor, async () => {
    const { kind } = await store.acquireLease(stream, { leaseId, durationS: LEASE_S, holder })
    return kind === 'acquired' ? kind : undefined
  })
  if (taken === undefined) return
  register.keptOut(stream, actor.scheduler.nowMs + LEASE_S * 1_000)
  const text = await until(actor, async () => Buffer.from((await store.read(stream))?.body ?? []).toString())
  const keyed = withKey(text ?? '', which, commandId)
  if (keyed !== undefined) {
    const body = Buffer.from(keyed)
    // Without an answer it is the same document again: nobody else can have changed the stream, or the lease is lost.
    const kind = await until(actor, async () => {
      const outcome = await rewriteStream(store, stream, body, { commandId, by: 'operator', leaseId })
      return outcome.kind === 'unknown' ? undefined : outcome.kind
    })
    register.answered({ stream, commandId, kind: kind === 'done' ? 'edited' : 'given-up' })
  }
  await store.releaseLease(stream, leaseId)
}

/** The document with another key of one of its events; `undefined` without events. */
function withKey(text: string, which: number, key: string): string | undefined {
  const lines = text.split('\n')
  const events = lines.filter(line => line.startsWith('  <Event '))
  const event = events[which % Math.max(1, events.length)]
  if (event === undefined) return undefined
  const keyed = event.replace(/ key="[^"]*"/, '').replace('<Event ', `<Event key="${key}" `)
  return lines.map(line => (line === event ? keyed : line)).join('\n')
}

function operationOf(op: Exclude<Order, 'edit'>, event: string, commandId: string): Operation {
  switch (op) {
    case 'cancel':
    case 'abort':
      return { op, event, msg: 'by order' }
    case 'retry':
      return { op, event }
    case 'retry-all':
      return { op: 'retry' }
    case 'cancel-all':
      return { op: 'cancel' }
    case 'suspend':
      return { op }
    case 'suspend-stop':
      return { op: 'suspend', stop: true, msg: 'by order' }
    case 'signal':
      // Its data tells it from every other one.
      return { op, name: 'go', data: dataOf(Buffer.from(commandId)) }
    case 'set':
      return { op, event, attributes: { tag: 'ordered' } }
    default:
      return op satisfies never
  }
}

async function until<Value>(
  actor: Actor,
  ask: () => Promise<Value | undefined>,
  mostTries = MOST_TRIES,
): Promise<Value | undefined> {
  for (let tries = 0; tries < mostTries; tries++) {
    try {
      const answer = await ask()
      if (answer !== undefined) return answer
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
    }
    await actor.pause(actor.random.between(500, 5_000))
  }
  return undefined
}
