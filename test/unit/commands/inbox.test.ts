import { describe, expect, test } from 'vitest'
import { readInbox } from '../../../src/inbox/inbox.ts'
import { InboxWriter } from '../../../src/inbox/writer.ts'
import { createSystemDocument } from '../../../src/ops/system-documents.ts'
import type { BlockLog } from '../../../src/store/block-log.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { cli, json, newWorld, type Setting, type World } from './support.ts'

const run = (world: World, line: string, setting?: Setting) => cli(world, line.split(' '), setting)
const LEASE = '11111111-1111-4111-8111-111111111111'

async function withRecords(ids: readonly string[], partitions = 2): Promise<World> {
  const world = newWorld()
  await run(world, `inbox create orders --partitions ${partitions}`)
  await put(world, ids)
  return world
}

async function put(world: World, ids: readonly string[]): Promise<void> {
  const inbox = await readInbox(world.store, 'orders')
  if (inbox === undefined) throw new Error('no inbox')
  const writer = new InboxWriter(world.store, inbox, { lingerMs: 0 })
  for (const id of ids) {
    await writer.put({ id, json: JSON.stringify({ id, n: 1 }) })
    world.nowMs += 1_000
  }
}

/** The checkpoint of a partition behind its first block. */
async function checkpoint(world: World, partition: number, fields: object): Promise<string> {
  const name = `.leasectl/inbox/orders/checkpoints/2/${partition}`
  const text = JSON.stringify({ apiVersion: 'leasectl/v1', kind: 'inbox-checkpoint', ...fields })
  await createSystemDocument(world.store, name, text, { by: 'drain@pod' })
  return name
}

/** The store with other logs. */
function withLog(store: StreamStore, log: (real: BlockLog) => BlockLog): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      if (key === 'log') return (name: string) => log(target.log(name))
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

describe('inbox create', () => {
  test('creates an inbox once; the same again changes nothing', async () => {
    const world = newWorld()
    expect((await run(world, 'inbox create orders --partitions 4')).stdout).toBe('✓ orders  created  4 partitions\n')
    expect(await readInbox(world.store, 'orders')).toMatchObject({ partitions: 4, by: 'tester@testhost' })
    const again = await run(world, 'inbox create orders -o json')
    expect(json(again.stdout)).toMatchObject({ inbox: 'orders', outcome: 'already', partitions: 4 })
  })

  test('refuses another number of partitions, and names that cannot be', async () => {
    const world = newWorld()
    await run(world, 'inbox create orders')
    const other = await run(world, 'inbox create orders --partitions 9')
    expect(other).toMatchObject({ exit: 5 })
    expect(other.stderr).toContain('has 8 partitions, not 9')
    for (const name of ['a/b', '-x', 'a b', '']) {
      expect((await cli(world, ['inbox', 'create', '--', name])).exit).toBe(2)
    }
    for (const value of ['0', '1025', '1.5', 'x'])
      expect((await run(world, `inbox create others --partitions ${value}`)).exit).toBe(2)
    expect(await readInbox(world.store, 'others')).toBeUndefined()
  })
})

describe('inbox ls and show', () => {
  test('tell what waits, in records, bytes and age', async () => {
    const world = await withRecords(['a', 'b', 'c', 'd'])
    await run(world, 'inbox create empty')
    const { items, total } = json((await run(world, 'inbox ls -o json')).stdout) as { items: object[]; total: number }
    expect(total).toBe(2)
    expect(items).toMatchObject([
      { inbox: 'empty', partitions: 8, lag: { records: 0, bytes: 0, oldest: null } },
      { inbox: 'orders', partitions: 2, lag: { records: 4, isEstimate: false, oldest: '2026-03-01T12:00:00.000Z' } },
    ])
    const text = (await run(world, 'inbox ls')).stdout.trimEnd().split('\n')
    expect(text[2]?.split(/ {2,}/).slice(0, 6)).toEqual(['orders', '2', '0', '0', '0', '4'])
    expect(text[2]).toMatch(/ 4s +0\.1\/s +0\.0\/s$/)
    expect((await run(world, 'inbox ls -o name')).stdout).toBe('empty\norders\n')
  })

  test('count from the checkpoint of the drain, and name it while it has the lease', async () => {
    const world = await withRecords(['a', 'b', 'c', 'd'], 2)
    const before = json((await run(world, 'inbox show orders -o json')).stdout) as { items: { lag: object }[] }
    expect(before.items).toHaveLength(2)
    const log = world.store.log('.leasectl/inbox/orders/partitions/0000')
    const { next } = await log.read({ segment: 0, offset: 0 }, 1)
    const name = await checkpoint(world, 0, {
      ...next,
      records: 1,
      dead: 1,
      by: 'ada',
      host: 'pod-1',
      atMs: world.nowMs,
    })
    const lag = (await log.extent(undefined, next))?.bytes
    const free = json((await run(world, 'inbox show orders -o json')).stdout) as { items: unknown[] }
    expect(free.items[0]).toMatchObject({
      partition: 0,
      owner: null,
      checkpoint: next,
      drained: 1,
      dead: 1,
      lag: { bytes: lag },
    })
    const holder = { by: 'ada@pod-1', host: 'pod-1', pid: 1, purpose: 'inbox shard 0 of 2', sinceMs: 0 }
    await world.store.acquireLease(name, { leaseId: LEASE, durationS: -1, holder })
    expect((await run(world, 'inbox show orders')).stdout).toContain('ada@pod-1')
  })

  test('show what can be known with a checkpoint that is torn or of a newer leasectl', async () => {
    const world = await withRecords(['a', 'b'], 2)
    await checkpoint(world, 0, { segment: -1, offset: 'x', records: null })
    await checkpoint(world, 1, { kind: 'something else' })
    const { lag } = json((await run(world, 'inbox show orders -o json')).stdout) as { lag: object }
    expect(lag).toMatchObject({ records: 2 })
  })

  test('tell the rates of the last minute, and the dead letters that are open', async () => {
    const world = await withRecords(['a', 'b', 'c'], 1)
    await run(world, 'inbox drain orders --append X --name d/{/data/nix} --once')
    const dead = json((await run(world, 'inbox ls -o json')).stdout) as { items: object[] }
    const rate = { in: 0.05, out: 0.05 }
    expect(dead.items).toMatchObject([{ dead: 3, deadLetters: 3, rate, lag: { records: 0 } }])
    const lines = (await run(world, 'inbox show orders')).stdout.split('\n')
    expect(lines[1]).toBe('3 dead letters, nobody drains it, 0.1/s in, 0.1/s out')
    await run(world, 'inbox dead drop orders --all')
    world.nowMs += 30_000
    const later = json((await run(world, 'inbox show orders -o json')).stdout) as { items: object[] }
    expect(later).toMatchObject({ dead: 3, deadLetters: 0, items: [{ dead: 3, rate: { in: 0.05, out: 0.03 } }] })
    world.nowMs += 60_000
    expect(json((await run(world, 'inbox show orders -o json')).stdout)).toMatchObject({ rate: { in: 0, out: 0 } })
  })

  test('an inbox of a newer leasectl is told beside the others', async () => {
    const world = await withRecords(['a'])
    await createSystemDocument(world.store, '.leasectl/inbox/zz/inbox.json', '{"apiVersion":"leasectl/v9"}', {
      by: 'x',
    })
    const listed = json((await run(world, 'inbox ls -o json')).stdout) as { items: object[] }
    expect(listed.items).toMatchObject([{ inbox: 'orders' }, { inbox: 'zz', error: expect.stringContaining('newer') }])
    expect((await run(world, 'inbox ls')).stderr).toMatch(/inbox zz: it cannot be read: .*newer leasectl/)
  })

  test('a missing inbox is exit 3', async () => {
    for (const line of ['show x', 'tail x', 'rm x --yes', 'show x -o json'])
      expect(await run(newWorld(), `inbox ${line}`)).toMatchObject({ exit: 3, stdout: '' })
  })

  test('no inbox is a header or an empty list', async () => {
    expect((await run(newWorld(), 'inbox ls')).stdout).toMatch(/^INBOX .*\n$/)
    expect(json((await run(newWorld(), 'inbox ls -o json')).stdout)).toMatchObject({ items: [], total: 0 })
  })
})

describe('check and doctor', () => {
  test('warn of a record that waits too long, by its age, and tell that nobody drains it', async () => {
    const world = await withRecords(['a', 'b'])
    expect(await run(world, 'check')).toMatchObject({ exit: 0 })
    world.nowMs += 600_000
    const late = await run(world, 'check')
    expect(late).toMatchObject({ exit: 1 })
    expect(late.stdout).toContain('1 inbox in trouble (orders: 2 records wait, the oldest for 10m2s, nobody drains it)')
    expect(late.stdout).toContain('inboxes=1;1;;0')
    expect((await run(world, 'check --warn-inbox-age 1h')).exit).toBe(0)
    expect((await run(world, 'check --crit-inbox-age 10m')).exit).toBe(2)
    expect((await run(world, 'check --match x')).stdout).not.toContain('inbox')
    world.nowMs += 3_600_000
    const old = await run(world, 'check -o json')
    expect(json(old.stdout)).toMatchObject({
      status: 'critical',
      checks: expect.arrayContaining([expect.objectContaining({ name: 'inboxes', value: 1, unit: 'inboxes' })]),
    })
    const metrics = (await run(world, 'check -o prometheus')).stdout
    expect(metrics).toContain('leasectl_check_inbox_waiting_records{store="memory:",inbox="orders"} 2')
    expect(metrics).toContain('leasectl_check_inbox_oldest_seconds{store="memory:",inbox="orders"} 4202')
    expect(metrics).toContain('leasectl_check_inbox_undrained_partitions{store="memory:",inbox="orders"} 2')
    expect((await run(world, 'doctor')).stdout).toContain('nobody drains the inbox orders: 2 records wait')
  })

  test('warn of dead letters until they are retried or dropped', async () => {
    const world = await withRecords(['a', 'b'], 1)
    await run(world, 'inbox drain orders --append X --name d/{/data/nix} --once')
    expect((await run(world, 'check')).stdout).toContain('(orders: 2 dead letters)')
    expect((await run(world, 'check --crit-dead 2')).exit).toBe(2)
    expect((await run(world, 'check --warn-dead 3')).exit).toBe(0)
    expect((await run(world, 'check --warn-dead 3 --crit-dead 2')).exit).toBe(3)
    expect((await run(world, 'doctor')).stdout).toContain('2 dead letters in the inbox orders')
    await run(world, 'inbox dead drop orders --all')
    expect((await run(world, 'check')).exit).toBe(0)
    expect((await run(world, 'doctor')).stdout).toContain('nobody drains the inbox orders: nothing waits in it')
  })

  test('name a checkpoint that no drain can go on from; rm then loses nothing', async () => {
    const world = await withRecords(['a', 'b'], 2)
    await checkpoint(world, 0, { segment: 99, offset: 1, records: 9, dead: 0, by: 'ada', host: 'h', atMs: world.nowMs })
    const where = 'partition 0 cannot be drained; its checkpoint is of no use: it is beyond the last record'
    expect(await run(world, 'check')).toMatchObject({ exit: 1, stdout: expect.stringContaining(where) })
    expect((await run(world, 'doctor')).stdout).toContain(`✗ error    orders: the inbox orders: ${where}`)
    expect((await run(world, 'check -o prometheus')).stdout).toContain('inbox="orders"')
    for (const line of ['inbox ls', 'inbox show orders'])
      expect(await run(world, line)).toMatchObject({ exit: 0, stderr: `warning: inbox orders: ${where}\n` })
    const { lag } = json((await run(world, 'inbox show orders -o json')).stdout) as { lag: object }
    expect(lag).toMatchObject({ records: 2 })
    const removed = await run(world, 'inbox rm orders --yes')
    expect(removed).toMatchObject({ exit: 5, stderr: expect.stringContaining('how many are drained is not known') })
    expect((await run(world, 'inbox rm orders --yes --force')).exit).toBe(0)
  })

  test('name an inbox that cannot be read', async () => {
    const world = newWorld()
    await createSystemDocument(world.store, '.leasectl/inbox/zz/inbox.json', 'torn', { by: 'x' })
    expect(await run(world, 'check')).toMatchObject({
      exit: 1,
      stdout: expect.stringContaining('1 inbox in trouble (zz: '),
    })
    expect((await run(world, 'doctor')).stdout).toContain('the inbox zz: it cannot be read')
    expect((await run(world, 'check -o prometheus')).stdout).not.toContain('inbox="zz"')
  })
})

describe('inbox tail', () => {
  test('prints the last records over all partitions, in order of their put', async () => {
    const world = await withRecords(['a', 'b', 'c', 'd', 'e'])
    const { stdout } = await run(world, 'inbox tail orders -n 3 -o ndjson')
    expect(stdout.trimEnd().split('\n').map(json)).toMatchObject([
      { id: 'c', data: { n: 1 } },
      { id: 'd' },
      { id: 'e' },
    ])
    expect((await run(world, 'inbox tail orders -n all')).stdout.split('\n')).toHaveLength(6)
    expect((await run(world, 'inbox tail orders -n 0')).stdout).toBe('')
  })

  test('prints the data as they were put: every digit, each name in its place, however deep', async () => {
    const world = newWorld()
    await run(world, 'inbox create orders --partitions 1')
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const data = `{"id":"i","n":12345678901234567890.10,\t"1":1,"a":1,"a":3,"x":"\u202e","deep":${deep}}`
    await run(world, 'inbox put orders', { stdin: `${data}\n` })
    const kept = data.replace('\t', ' ').replace('\u202e', '\\u202e')
    expect((await run(world, 'inbox tail orders')).stdout).toContain(`  i  ${kept}\n`)
    expect((await run(world, 'inbox tail orders -o ndjson')).stdout).toContain(`"data":${kept},"seq":null`)
  })

  test('follows from there, and misses nothing while the store is away', async () => {
    const world = await withRecords(['a'])
    const stop = new AbortController()
    let polls = 0
    const store = withLog(world.store, real => ({
      append: block => real.append(block),
      extent: (...given) => real.extent(...given),
      trim: (...given) => real.trim(...given),
      remove: () => real.remove(),
      read: async (...given) => {
        polls += 1
        if (polls === 6) throw new StoreUnreachable('no answer')
        if (polls === 7) await put(world, ['b'])
        const lines = await real.read(...given)
        if (polls > 14) stop.abort('SIGINT')
        return lines
      },
    }))
    const ran = await run(world, 'inbox tail orders -f -o ndjson --interval 1ms', { store, signal: stop.signal })
    expect(ran.stdout.trimEnd().split('\n').map(json)).toMatchObject([{ id: 'a' }, { id: 'b' }])
    expect(ran.stderr).toContain('no answer; trying again')
    expect(ran.stderr).toContain('answers again')
  })

  test('shows a line of another program, and text that would drive the terminal', async () => {
    const world = await withRecords(['a'], 1)
    await world.store
      .log('.leasectl/inbox/orders/partitions/0000')
      .append(Buffer.from('not JSON\n{"x":"\\u001b[2J"}\n'))
    expect((await run(world, 'inbox tail orders')).stdout).toContain('not a record')
    const lines = (await run(world, 'inbox tail orders -o ndjson')).stdout.trimEnd().split('\n').map(json)
    expect(lines[1]).toMatchObject({ id: null, data: null })
  })
})

describe('inbox rm', () => {
  test('refuses records that are not drained, asks, and removes all', async () => {
    const world = await withRecords(['a', 'b'])
    expect(await run(world, 'inbox rm orders --yes')).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining('has 2 records not drained'),
    })
    expect(await run(world, 'inbox rm orders --force')).toMatchObject({ exit: 2 })
    const no = await run(world, 'inbox rm orders --force', { terminal: true, answer: 'n' })
    expect(no).toMatchObject({ exit: 2 })
    expect(no.questions[0]).toContain('2 records not drained, in memory:. ')
    await checkpoint(world, 0, { segment: 0, offset: 0 })
    await world.store.log('.leasectl/inbox/orders/dead').append(Buffer.from('{}\n'))
    expect(await run(world, 'inbox rm orders --force', { terminal: true, answer: 'y' })).toMatchObject({ exit: 0 })
    for await (const page of world.store.list({ reserved: true })) expect(page).toEqual([])
    expect(await world.store.log('.leasectl/inbox/orders/dead').extent()).toBeUndefined()
    await run(world, 'inbox create orders')
    expect((await run(world, 'inbox tail orders')).stdout).toBe('')
  })

  test('changes nothing while a drain has a partition', async () => {
    const world = await withRecords(['a', 'b'])
    const name = await checkpoint(world, 1, { segment: 0, offset: 0 })
    const holder = { by: 'ada@pod-1', host: 'pod-1', pid: 1, purpose: 'drain', sinceMs: 0 }
    await world.store.acquireLease(name, { leaseId: LEASE, durationS: -1, holder })
    const ran = await run(world, 'inbox rm orders --force --yes')
    expect(ran).toMatchObject({ exit: 6 })
    expect(ran.stderr).toContain('ada@pod-1')
    expect((await run(world, 'inbox tail orders')).stdout.split('\n')).toHaveLength(3)
  })

  test('of a protected store needs the name', async () => {
    const world = await withRecords([])
    const setting = { terminal: true, isProtected: true }
    expect(await run(world, 'inbox rm orders', { ...setting, answer: 'y' })).toMatchObject({ exit: 2 })
    expect(await run(world, 'inbox rm orders', { ...setting, answer: 'orders' })).toMatchObject({ exit: 0 })
  })
})
