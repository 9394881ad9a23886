import { checkpointText } from '../../src/inbox/checkpoint.ts'
import { deadLetter, writeDeadLetter } from '../../src/inbox/drain/dead-letters.ts'
import { createInbox } from '../../src/inbox/inbox.ts'
import { recordLine } from '../../src/inbox/record.ts'
import { createSystemDocument } from '../../src/ops/system-documents.ts'
import type { StreamStore } from '../../src/store/store.ts'
import type { EventSpec, Operation } from '../../src/stream/operations/operation.ts'
import { documentText } from '../support/stream-builder.ts'
import { newWorld, type World } from '../unit/commands/support.ts'
import { init, run, writeForeign } from '../unit/ops/support.ts'
import { aWatchdog, failingWatchdog, writeState } from '../unit/watchdog/state/world.ts'

export const LEASE_ID = '11111111-1111-4111-8111-111111111111'

const FORK: Operation = {
  op: 'init',
  root: { name: 'Order', key: 'k', topic: 'orders', tag: 't', ref: 'r', trackingId: 'T-1' },
  forks: [
    { name: 'Search', topic: 'search', timeout: '00:05:00', onDue: 'abort-event' },
    { name: 'Search', topic: 'search' },
  ],
  join: { name: 'Done' },
  hold: false,
  born: '33333333-3333-4333-8333-333333333333',
}

/**
 * Streams in every state that is visible in JSON: `open` with a claim and a waiting join, `failed` with a retry,
 * `done`, `held` under a lease, `foreign` with an unrecorded write, `odd` of a foreign writer, `empty` and `bad`.
 */
export async function everything(): Promise<World> {
  const world = newWorld()
  const { store } = world
  await run(store, 'open', FORK, { by: 'web@host-1', why: 'a new order' })
  world.nowMs += 60_000
  await run(store, 'open', { op: 'start', event: '01.00', owner: 'w7', claimMs: 60_000 })
  await run(store, 'open', { op: 'set', event: '02.00', attributes: { tag: 'x', topic: 'search' } })
  await run(store, 'failed', init(['A', 'B']))
  await run(store, 'failed', { op: 'fail', event: '01.00', msg: 'no answer after 30 s' })
  await run(store, 'failed', { op: 'retry', event: '01.00' }, { why: 'shop is back' })
  await run(store, 'failed', { op: 'fail', event: '01.00', msg: 'no answer after 31 s' })
  await run(store, 'done', init())
  await run(store, 'done', { op: 'complete', event: '00', msg: '12 results' })
  await run(store, 'held', init(['A']))
  await lease(store, 'held', LEASE_ID)
  await run(store, 'foreign', init(['A', 'B']))
  await writeForeign(store, 'foreign', 'status="init" id="01.00"', 'status="aborted" id="01.00" tag="mine"')
  await stranger(store, 'odd', STRANGE)
  await stranger(store, 'empty', '')
  await stranger(store, 'bad', '<EventStream><Event')
  world.nowMs += 10_000
  return world
}

async function lease(store: StreamStore, name: string, leaseId: string): Promise<void> {
  const holder = { by: 'w7', host: 'testhost', pid: 41, purpose: 'repair', sinceMs: store.nowMs() }
  await store.acquireLease(name, { leaseId, durationS: -1, holder })
}

/** As other programs write: no history, no status, unreadable times, a deadline in the far future. */
const STRANGE = documentText(
  { id: '00', name: 'Order', status: 'inprocess', created: '05/01/2024 10:00:00', next: '01.00|02.00|gone' },
  { id: '01.00', prev: '00', created: 'yesterday', 'lc:owner': 'w1', 'lc:until': 'soon', 'lc:fence': 'one' },
  { id: '02.00', name: 'B', status: 'parked', prev: '00', created: '05/01/2024 10:00:01', timeout: '9999999.00:00:00' },
)

async function stranger(store: StreamStore, name: string, body: string): Promise<void> {
  await run(store, 'for-its-summary', init())
  const summary = (await store.read('for-its-summary'))?.summary
  await store.remove('for-its-summary', {})
  if (summary === undefined) throw new Error('the memory store keeps summaries')
  await store.create(name, Buffer.from(body), summary)
}

/** Two streams for changes, `a` with two threads. */
export async function two(): Promise<World> {
  const world = newWorld()
  await run(world.store, 'a', init(['A', 'B']))
  await run(world.store, 'b', init())
  return world
}

/** The same, `b` leased by another. */
export async function oneHeld(): Promise<World> {
  const world = await two()
  await lease(world.store, 'b', LEASE_ID)
  return world
}

/** The same, each in another state, so that a batch has every possible outcome. */
export async function mixed(): Promise<World> {
  const world = await oneHeld()
  for (const name of ['c', 'd']) await run(world.store, name, init(['A']))
  await run(world.store, 'c', { op: 'cancel' })
  await run(world.store, 'd', { op: 'fail', event: '01.00' })
  await stranger(world.store, 'e', '<EventStream><Event')
  return world
}

/** A stream with a claim that another holds. */
export async function claimed(): Promise<World> {
  const world = await two()
  await run(world.store, 'a', { op: 'start', event: '01.00', owner: 'w1', claimMs: 60_000 })
  return world
}

/** Two failed threads: one can be retried, the result of the other was used by a join. */
export async function joined(): Promise<World> {
  const world = newWorld()
  const { store } = world
  const join = { name: 'Done' }
  await run(store, 'j', init(['A', 'B']))
  await run(store, 'j', { op: 'advance', event: '01.00', forks: [{ name: 'A1' }, { name: 'A2' }], join })
  await run(store, 'j', { op: 'fail', event: '01.01.00' })
  await run(store, 'j', { op: 'complete', event: '01.02.00' })
  await run(store, 'j', { op: 'complete', event: '01.01' })
  await run(store, 'j', { op: 'fail', event: '02.00' })
  return world
}

/** A stream with a step that was worked on for a while. */
export async function worked(): Promise<World> {
  const world = newWorld()
  const { store } = world
  await run(store, 's', init(['A', 'B']))
  world.nowMs += 5_000
  await run(store, 's', { op: 'start', event: '01.00', owner: 'w1', claimMs: 60_000 })
  world.nowMs += 40_000
  await run(store, 's', { op: 'complete', event: '01.00', owner: 'w1' })
  return world
}

/**
 * Streams with passed deadlines: `late`, `quiet` with notification only, `held` under a lease; one that another writer
 * left to `settle`; an unreadable one, `bad`; one with a coming deadline.
 */
export async function overdue(): Promise<World> {
  const world = newWorld()
  const { store } = world
  const limited = { name: 'A', timeout: '00:01:00' }
  const start = (forks: readonly EventSpec[]): Operation => ({ ...init(), forks }) as Operation
  await run(store, 'late', start([limited]))
  await run(store, 'quiet', start([{ ...limited, onDue: 'notify' }]))
  await run(store, 'held', start([limited]))
  await run(store, 'settle', start([{ name: 'A' }]))
  await writeForeign(store, 'settle', 'status="init"', 'status="completed"')
  await stranger(store, 'bad', '<EventStream><Event')
  world.nowMs += 120_000
  await run(store, 'soon', start([limited]))
  await lease(store, 'held', LEASE_ID)
  return world
}

/** A store with watchdogs: one that has just started, one that works, one whose passes fail. */
export async function watched(): Promise<World> {
  const world = newWorld()
  const { nowMs } = world
  const none = { lastSweepMs: undefined, lastPass: undefined, breaker: undefined, shards: undefined, tookMs: 0 }
  const fresh = aWatchdog(nowMs, { id: 'w0', ...none, passes: [], decisions: [], next: [] })
  const ended = failingWatchdog(nowMs, { id: 'w3', stoppedMs: nowMs })
  await writeState(world.store, [fresh, aWatchdog(nowMs), failingWatchdog(nowMs), ended])
  return world
}

/** An inbox with a record in a partition that was drained in part, a later one with all fields, and a line that is none. */
export async function inbox(): Promise<World> {
  const world = newWorld()
  const { store } = world
  await createInbox(store, 'orders', 2, { by: 'ops@host-1' })
  const [first, second] = ['.leasectl/inbox/orders/partitions/0000', '.leasectl/inbox/orders/partitions/0001']
  const lines = [recordLine({ id: 'o-1', json: '{"n":1}' }, world.nowMs), 'not a record\n']
  for (const line of lines) await store.log(first).append(Buffer.from(line))
  const { next } = await store.log(first).read({ segment: 0, offset: 0 }, 1)
  await store
    .log(second)
    .append(Buffer.from(recordLine({ id: 'o-2', key: 'k', seq: 1, json: '2' }, world.nowMs, 1_000)))
  const name = '.leasectl/inbox/orders/checkpoints/2/0'
  const checkpoint = checkpointText({
    ...next,
    records: 1,
    dead: 1,
    rate: 1.5,
    by: 'w7@h',
    host: 'h',
    atMs: world.nowMs,
  })
  await createSystemDocument(store, name, checkpoint, { by: 'w7' })
  await lease(store, name, LEASE_ID)
  const newer = '{"apiVersion":"leasectl/v9"}'
  await createSystemDocument(store, '.leasectl/inbox/newer/inbox.json', newer, { by: 'w7' })
  return world
}

/** An inbox with a record and a line that is none, which nobody has drained. */
export async function undrainedInbox(): Promise<World> {
  const world = newWorld()
  const { store } = world
  await createInbox(store, 'orders', 1, { by: 'ops@host-1' })
  const lines = [recordLine({ id: 'o-1', json: '{"id":"o-1"}' }, world.nowMs), 'not a record\n']
  for (const line of lines) await store.log('.leasectl/inbox/orders/partitions/0000').append(Buffer.from(line))
  return world
}

/** The same with a checkpoint that no drain can go on from. */
export async function inboxWithDamagedCheckpoint(): Promise<World> {
  const world = await undrainedInbox()
  await createSystemDocument(world.store, '.leasectl/inbox/orders/checkpoints/1/0', 'torn', { by: 'w7' })
  return world
}

/** The same once a drain has given up: a record that was too much for its stream, and the line that is none. */
export async function inboxWithDeadLetters(): Promise<World> {
  const world = await undrainedInbox()
  const inbox = { name: 'orders', partitions: 1, createdMs: world.nowMs, by: 'ops@host-1' }
  const given = { partition: 0, code: 'exists', why: 'the stream exists', by: 'w7', blocks: false, atMs: world.nowMs }
  const record = recordLine({ id: 'o-1', json: '{"id":"o-1"}' }, world.nowMs).trimEnd()
  await writeDeadLetter(
    world.store,
    inbox,
    deadLetter(record, { ...given, id: 'o-1', key: 'o-1', stream: 'x/o-1', blocks: true }),
  )
  await writeDeadLetter(world.store, inbox, deadLetter('not a record', { ...given, id: '', key: '', stream: '' }))
  return world
}
