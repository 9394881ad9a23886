import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { transact } from '../../../src/ops/transact/transact.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import { trustRow } from '../../guarantees/record.ts'
import { repeatWith, sized, trustSeed } from '../../guarantees/size.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import { COMPILED } from '../../support/compiled.ts'
import { judgeDeliveries, type SeenDelivery } from '../../support/deliveries.ts'
import { seededRandom } from '../../support/faults.ts'
import { testFolder } from '../../unit/store/sqlite/support.ts'
import type { SubscriberOrders } from './orders.ts'

const row = trustRow('subscriptions')
const FILE = 'test/faults/subscriptions/kills.test.ts'
const CHILD = fileURLToPath(new URL('child-subscriber.ts', import.meta.url))
const seed = trustSeed(4_711)
const GROUPS = sized(['sums', 'copy'], ['sums', 'copy', 'audit'])
const PROCESSES = sized(2, 4)
const STREAMS = sized(40, 1_000)
/** `LEASECTL_TRUST_KILLS` sets another number, for a shorter large run. */
const KILLS = Number(process.env.LEASECTL_TRUST_KILLS ?? sized(4, 300))
const SHARDS = 4
const INTERVAL_MS = 100
/**
 * Azurite answers one request at a time, and a listing takes it 0.33 ms for each blob: all processes together list for less than
 * half of the time. Every 100 ms, 12 processes with 1 000 streams ask for forty times what it can do, and no change gets through.
 */
const AZURITE_INTERVAL_MS = Math.max(INTERVAL_MS, Math.round(STREAMS * PROCESSES * GROUPS.length * 0.33 * 2.5))
/** A process repeats at most what it had handled and not written, in each shard that it held. */
const MOST_REPEATED = 100 * SHARDS
const LIMIT = { timeout: sized(240_000, 4 * 3_600_000) }

test('on SQLite, groups whose processes are killed see every transaction in order', LIMIT, async () => {
  const file = join(testFolder(), 'streams.db')
  const store = openSqliteStore(file)
  await play(store, { kind: 'sqlite', file })
})

test('on Azurite, groups whose processes are killed see every transaction in order', LIMIT, async () => {
  const { port } = await sharedAzurite()
  const store = await openAzuriteStore(port)
  const { container } = store
  await play(store, { kind: 'azurite', port, container, limits: { leaseMs: 10_000, bodyMs: 10_000, pageMs: 10_000 } })
})

/** Streams change while processes are killed and replaced; in the end each group has seen all. */
async function play(store: StreamStore, place: SubscriberOrders['place']): Promise<void> {
  const random = seededRandom(seed)
  const folder = testFolder()
  const names = Array.from({ length: STREAMS }, (_, at) => `orders/${at}`)
  const groups = GROUPS.map(group => {
    const log = join(folder, group)
    writeFileSync(log, '')
    const intervalMs = place.kind === 'sqlite' ? INTERVAL_MS : AZURITE_INTERVAL_MS
    const orders = { group, shards: SHARDS, intervalMs, log, place }
    return { group, log, orders, children: Array.from({ length: PROCESSES }, () => start(orders)) }
  })
  const writing = writeAll(store, names)
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(500 + random() * 1_000)
    const group = groups[kill % groups.length]
    const at = Math.floor(random() * PROCESSES)
    const child = group?.children[at]
    if (group === undefined || child === undefined) throw new Error('no child')
    child.kill('SIGKILL')
    group.children[at] = start(group.orders)
  }
  await writing
  const newest = new Map(names.map(name => [name, VERSIONS]))
  let [missed, beyond] = [0, 0]
  for (const { log, children, group } of groups) {
    await expect.poll(() => unseen(log, names), { timeout: LIMIT.timeout, interval: 250, message: group }).toEqual([])
    for (const child of children) child.kill('SIGKILL')
    const seen = deliveries(log)
    const { violations, repeated } = judgeDeliveries(seen, newest)
    missed += violations.length
    beyond += Math.max(0, repeated.length - KILLS * MOST_REPEATED)
    const message = `${group}: ${repeatWith(FILE, seed)}`
    expect(violations, message).toEqual([])
    // +1, × 2, - 1 on nothing.
    expect(new Set(sumsOf(seen).values()), message).toEqual(new Set([1]))
    expect(repeated.length, message).toBeLessThanOrEqual(KILLS * MOST_REPEATED)
  }
  row.injected(`kills on ${place.kind}`, KILLS)
  row.figure('kills', `${KILLS} on ${place.kind}`)
  row.figure('missed or out of order', missed, '0')
  row.figure('repeated beyond the bound', beyond, '0')
  await store.close()
}

test('a log without one of its deliveries, or with two that changed places, is not accepted', () => {
  const seen = [1, 2, 3, 4].map(version => ({ stream: 'a', version }))
  const [first, second, third, fourth] = seen
  if (!first || !second || !third || !fourth) throw new Error('four deliveries')
  const newest = new Map([['a', 4]])
  const isCaught = (log: typeof seen) => judgeDeliveries(log, newest).violations.length > 0
  expect(isCaught(seen)).toBe(false)
  expect(isCaught([first, second, second, third, fourth])).toBe(false)
  for (const [what, log] of [
    ['a delivery is missing', [first, second, fourth]],
    ['the last delivery is missing', [first, second, third]],
    ['two deliveries changed places', [first, third, second, fourth]],
    ['a stream that does not match was delivered', [...seen, { stream: 'b', version: 1 }]],
  ] as const) {
    expect(isCaught([...log]), what).toBe(true)
    row.control(what, isCaught([...log]))
  }
})

function start(orders: SubscriberOrders): ChildProcess {
  return spawn(process.execPath, [CHILD, JSON.stringify(orders)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, ...COMPILED },
  })
}

const VERSIONS = 4

/** Version 1 begins a stream; 2 adds one, 3 doubles, 4 subtracts one. */
async function writeAll(store: StreamStore, names: readonly string[]): Promise<void> {
  const born = () => randomUUID()
  for (let version = 1; version <= VERSIONS; version++) {
    for (const name of names) {
      const init: Operation = { op: 'init', root: { name: 'Sum' }, forks: [], hold: false, born: born() }
      const step: Operation = { op: 'set', event: '00', attributes: { tag: `${version}` } }
      const author = { commandId: randomUUID(), by: 'test', leaseWaitMs: 30_000 }
      const outcome = await transact(store, name, version === 1 ? init : step, author)
      expect(outcome.kind).toBe('done')
      if (STREAMS <= 100) await sleep(10)
    }
  }
}

function deliveries(log: string): SeenDelivery[] {
  const lines = readFileSync(log, 'utf8').split('\n')
  return lines.slice(0, -1).map(line => {
    const [stream = '', version] = line.split(' ')
    return { stream, version: Number(version) }
  })
}

/** Streams whose last transaction was not delivered yet. */
function unseen(log: string, names: readonly string[]): readonly string[] {
  const seen = new Set(deliveries(log).flatMap(({ stream, version }) => (version === VERSIONS ? [stream] : [])))
  return names.filter(name => !seen.has(name))
}

/** As a handler computes them: `where version = version - 1`. */
function sumsOf(seen: readonly SeenDelivery[]): ReadonlyMap<string, number> {
  const handled = new Map<string, number>()
  const sums = new Map<string, number>()
  for (const { stream, version } of seen) {
    if (version !== (handled.get(stream) ?? 0) + 1) continue
    handled.set(stream, version)
    const sum = sums.get(stream) ?? 0
    sums.set(stream, version === 2 ? sum + 1 : version === 3 ? sum * 2 : version === 4 ? sum - 1 : sum)
  }
  return sums
}
