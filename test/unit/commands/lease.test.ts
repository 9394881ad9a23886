import { expect, test } from 'vitest'
import {
  registerAcquire,
  registerBreak,
  registerChange,
  registerRelease,
  registerRenew,
  registerShow,
} from '../../../src/commands/lease.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { cli, json, newWorld, optionsFrom, type World } from './support.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const OTHER = '22222222-2222-4222-8222-222222222222'

test('argv → options of every command', async () => {
  const held = { stream: 's', leaseId: ID }
  const id = ['s', '--lease-id', ID.toUpperCase()]
  expect(await optionsFrom(registerAcquire, ['acquire', ...id, '--duration', '30s', '--by', 'ops'])).toEqual({
    ...held,
    duration: 30,
    by: 'ops',
  })
  expect(await optionsFrom(registerAcquire, ['acquire', 's', '--duration', 'infinite'])).toEqual({
    stream: 's',
    duration: -1,
  })
  expect(await optionsFrom(registerRenew, ['renew', ...id])).toEqual(held)
  expect(await optionsFrom(registerRelease, ['release', ...id])).toEqual(held)
  expect(await optionsFrom(registerChange, ['change', ...id, '--new-id', OTHER])).toEqual({ ...held, newId: OTHER })
  expect(await optionsFrom(registerBreak, ['break', 's', '--period', '10s', '--yes'])).toEqual({
    names: ['s'],
    period: 10,
    yes: true,
  })
  const many = [
    'break',
    '--stale',
    '--match',
    'a/**',
    '--by',
    'ops',
    '-m',
    'gone',
    '--expect',
    '3',
    '--lease-wait',
    '1s',
  ]
  expect(await optionsFrom(registerBreak, many)).toEqual({
    ...{ names: [], stale: 300_000, match: ['a/**'], by: 'ops', reason: 'gone', expect: 3, leaseWait: 1_000 },
  })
  expect(await optionsFrom(registerBreak, ['break', '--stale=10m'])).toMatchObject({ stale: 600_000 })
  expect(await optionsFrom(registerShow, ['show', 's', '-o', 'json'])).toEqual({ stream: 's', output: 'json' })
})

async function leased(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 's'])
  await cli(world, ['lease', 'acquire', 's', '--lease-id', ID, '--by', 'worker-7', '-m', 'repair'])
  return world
}

const state = async (world: World) => (await world.store.read('s'))?.lease.state

test('acquire prints only the id on stdout', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  const ran = await cli(world, ['lease', 'acquire', 's', '--duration', '15s'])
  expect(ran.exit).toBe(0)
  expect(ran.stdout).toMatch(/^[0-9a-f-]{36}\n$/)
  expect(ran.stderr).toBe('s is leased by tester@testhost, for 15s\n')
  expect(await state(world)).toBe('leased')
})

test('acquire -o json names id, duration and holder', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  const ran = await cli(world, [
    'lease',
    'acquire',
    's',
    '--lease-id',
    ID,
    '--duration',
    'infinite',
    '-m',
    'repair',
    '-o',
    'json',
  ])
  expect(json(ran.stdout)).toEqual({
    apiVersion: 'leasectl/v1',
    stream: 's',
    state: 'leased',
    leaseId: ID,
    duration: 'infinite',
    until: null,
    holder: { by: 'tester@testhost', host: 'testhost', pid: 41, purpose: 'repair', since: '2026-03-01T12:00:00.000Z' },
    lastBy: null,
    outcome: 'done',
  })
})

test('acquire has the store record the holder', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  let record: unknown
  const store: StreamStore = new Proxy(world.store, {
    get(target, key) {
      if (key === 'acquireLease') {
        return (name: string, options: Parameters<StreamStore['acquireLease']>[1]) => {
          record = options.record
          return target.acquireLease(name, options)
        }
      }
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  await cli(world, ['lease', 'acquire', 's'], { store })
  expect(record).toBe(true)
})

test('a lease held by another is exit 6 with the holder', async () => {
  const world = await leased()
  world.nowMs += 41_000
  const ran = await cli(world, ['lease', 'acquire', 's'])
  expect(ran).toMatchObject({ exit: 6, stdout: '' })
  expect(ran.stderr).toContain('[lease-held]')
  expect(ran.stderr).toContain('held by  worker-7@testhost (pid 41) for 41s, "repair"')
})

test('renew, change and release need the id; a wrong one is exit 11', async () => {
  const world = await leased()
  expect((await cli(world, ['lease', 'renew', 's'])).exit).toBe(2)
  for (const verb of ['renew', 'change', 'release']) {
    const ran = await cli(world, ['lease', verb, 's', '--lease-id', OTHER])
    expect(ran.exit).toBe(11)
    expect(ran.stderr).toContain('[lease-lost]')
  }
  expect((await cli(world, ['lease', 'renew', 's', '--lease-id', ID])).exit).toBe(0)
  const changed = await cli(world, ['lease', 'change', 's', '--lease-id', ID, '--new-id', OTHER])
  expect(changed).toMatchObject({ exit: 0, stdout: `${OTHER}\n` })
  expect((await cli(world, ['lease', 'release', 's', '--lease-id', ID])).exit).toBe(11)
  const released = await cli(world, ['lease', 'release', 's', '--lease-id', OTHER])
  expect(released).toMatchObject({ exit: 0, stdout: '', stderr: 'the lease of s was released\n' })
  expect(await state(world)).toBe('available')
})

test('show prints state and holder, but never the id', async () => {
  const world = await leased()
  const text = await cli(world, ['lease', 'show', 's'])
  expect(text.stdout).toContain('s  leased by worker-7@testhost (pid 41) for 0s, "repair"')
  const document = await cli(world, ['lease', 'show', 's', '-o', 'json'])
  expect(json(document.stdout)).toMatchObject({
    stream: 's',
    state: 'leased',
    leaseId: null,
    holder: { by: 'worker-7' },
  })
  expect(text.stdout + document.stdout).not.toContain(ID)
})

test('show with an unknown holder prints the last writer', async () => {
  const world = await leased()
  const store: StreamStore = new Proxy(world.store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (key !== 'read') return typeof value === 'function' ? value.bind(target) : value
      return async (name: string) => {
        const stored = await target.read(name)
        return stored && { ...stored, lease: { state: 'leased', duration: 'fixed' } }
      }
    },
  })
  const ran = await cli(world, ['lease', 'show', 's'], { store })
  expect(ran.stdout).toBe('s  leased by holder unknown, last written by tester@testhost\n')
})

test("break shows the lease, asks for the stream's name on a terminal and says what was done", async () => {
  const world = await leased()
  const ran = await cli(world, ['lease', 'break', 's'], { terminal: true, answer: 's' })
  expect(ran.exit).toBe(0)
  expect(ran.questions).toEqual(['This breaks the lease of s in memory:. Type s to continue: '])
  expect(ran.stderr).toContain('s  leased by worker-7')
  expect(ran.stdout).toBe('✓ s  lease broken  v2\n')
})

test.each([['y'], ['S'], [''], [undefined]])('break with the answer %j breaks nothing and is exit 2', async answer => {
  const world = await leased()
  const ran = await cli(world, ['lease', 'break', 's'], { terminal: true, answer })
  expect(ran.exit).toBe(2)
  expect(ran.stderr).toContain('[declined]')
  expect(await state(world)).toBe('leased')
})

test.each([
  [[], {}],
  [['-o', 'json'], { CI: '1' }],
])('break without a terminal needs --yes; CI and -o json never imply it', async (more, env) => {
  const world = await leased()
  const ran = await cli(world, ['lease', 'break', 's', ...more], { env })
  expect(ran.exit).toBe(2)
  expect(ran.stderr).toContain('--yes')
  expect(await state(world)).toBe('leased')
})

test('break --yes with a period makes the lease breaking', async () => {
  const world = await leased()
  const ran = await cli(world, ['lease', 'break', 's', '--yes', '--period', '10s', '-o', 'json'])
  expect(ran.exit).toBe(0)
  expect(json(ran.stdout)).toMatchObject({
    stream: 's',
    outcome: 'done',
    state: 'breaking',
    before: { state: 'leased' },
  })
})

test('break of a stream without a lease has no prompt and says so', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  const ran = await cli(world, ['lease', 'break', 's'])
  expect(ran.exit).toBe(0)
  expect(ran.stdout).toContain('no lease to break')
})

test('every lease command on a missing stream is exit 3', async () => {
  const world = newWorld()
  const id = ['--lease-id', ID]
  const lines = [['acquire'], ['renew', ...id], ['change', ...id], ['release', ...id], ['break', '--yes'], ['show']]
  for (const [verb = '', ...flags] of lines) expect((await cli(world, ['lease', verb, 'nix', ...flags])).exit).toBe(3)
})

test('a change under --lease-id writes under that lease; a wrong one is exit 11', async () => {
  const world = await leased()
  expect((await cli(world, ['cancel', 's', '--lease-id', OTHER])).exit).toBe(11)
  expect((await cli(world, ['cancel', 's', '--lease-id', ID])).exit).toBe(0)
  expect(await state(world)).toBe('leased')
})
