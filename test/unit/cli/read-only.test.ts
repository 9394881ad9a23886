import { expect, test } from 'vitest'
import { type Context, type Contexts, isReadOnlyStore } from '../../../src/cli/contexts/contexts.ts'
import { ReadOnlyContext, readOnlyStore } from '../../../src/cli/contexts/read-only.ts'
import { summary } from '../../contract/harness.ts'
import { cli, newWorld, type World } from '../commands/support.ts'
import { init, run } from '../ops/support.ts'

const PROD = 'azure:orders4711/events'

function contextsOf(...all: readonly (readonly [name: string, store: string, isReadOnly: boolean])[]): Contexts {
  const known = all.map(([name, store, isReadOnly]): [string, Context] => [
    name,
    { name, store, isReadOnly, isProtected: false, credentialFile: undefined },
  ])
  return { current: undefined, previous: undefined, byName: new Map(known) }
}

test('a store is read-only as the context says that names it', () => {
  const contexts = contextsOf(['look', PROD, true], ['prod', PROD, false], ['dev', 'azurite:dev', false])
  expect(isReadOnlyStore({ address: PROD, context: 'look' }, contexts)).toBe(true)
  expect(isReadOnlyStore({ address: PROD, context: 'prod' }, contexts)).toBe(false)
})

test('a store that is named by its address is read-only if any of its contexts is', () => {
  const contexts = contextsOf(['look', PROD, true], ['prod', PROD, false], ['dev', 'azurite:dev', false])
  expect(isReadOnlyStore({ address: PROD }, contexts)).toBe(true)
  expect(isReadOnlyStore({ address: 'azurite:dev' }, contexts)).toBe(false)
})

test('a read-only store reads, and rejects each of its changes', async () => {
  const { store } = newWorld()
  await run(store, 's', init())
  const before = await store.read('s')
  const guarded = readOnlyStore(store, { context: 'look', address: 'memory:', isReadOnly: true })
  expect(await guarded.read('s')).toEqual(before)
  expect(guarded.address).toBe(store.address)
  expect(await guarded.log('.leasectl/log').extent()).toBeUndefined()
  const pages = []
  for await (const page of guarded.list({ order: 'name' })) pages.push(page)
  expect(pages.flat().map(({ name }) => name)).toEqual(['s'])
  const lease = { durationS: 15, holder: undefined } as never
  const changes: readonly (() => Promise<unknown>)[] = [
    () => guarded.create('t', new Uint8Array(), summary()),
    () => guarded.update('s', () => ({ kind: 'leave' }) as never, {} as never),
    () => guarded.remove('s', {}),
    () => guarded.acquireLease('s', lease),
    () => guarded.renewLease('s', 'x'),
    () => guarded.changeLeaseId('s', 'x', 'y'),
    () => guarded.releaseLease('s', 'x'),
    () => guarded.breakLease('s', 0),
    () => guarded.createContainer(),
    () => guarded.log('.leasectl/log').append(Buffer.from('a\n')),
    () => guarded.log('.leasectl/log').remove(),
  ]
  for (const change of changes) await expect(change()).rejects.toThrow(ReadOnlyContext)
  expect(await store.read('s')).toEqual(before)
})

async function fleet(): Promise<World> {
  const world = newWorld()
  await run(world.store, 's', init(['Search']))
  return world
}

const SETTING = { source: 'context', context: 'look', isReadOnly: true } as const

test.each([
  'cancel s',
  'cancel --all --yes',
  'abort s -e 01.00',
  'retry --failed --yes',
  'rm s --yes',
  'ack s -m x',
  'suspend s -m x',
  'resume s',
  'signal s go',
  'init t',
  'event start s 01.00',
  'event fail s 01.00 -m x',
  'event set s 01.00 --tag x',
  'lease acquire s',
  'lease break s --yes',
  'exec s 01.00 -- true',
  'work --name Search -- true',
  'watchdog --once',
  'watchdog',
  'doctor --repair --all',
])('in a read-only context `%s` is refused before anything is asked or read', async line => {
  const world = await fleet()
  const before = await world.store.read('s')
  const { exit, stderr } = await cli(world, line.split(' '), SETTING)
  expect(stderr).toContain('the context look is read-only; nothing was changed')
  expect(stderr).toContain('[read-only]')
  expect(exit).toBe(line.startsWith('exec') ? 125 : 4)
  expect(await world.store.read('s')).toEqual(before)
})

test.each([
  'cancel s --dry-run',
  'cancel --all --dry-run',
  'watchdog --dry-run',
  'ls',
  'show s',
  'check',
  'doctor --all',
])('in a read-only context `%s` reads as ever', async line => {
  const world = await fleet()
  const before = await world.store.read('s')
  const { exit, stderr } = await cli(world, line.split(' '), SETTING)
  expect([exit, stderr.includes('[read-only]')]).toEqual([0, false])
  expect(await world.store.read('s')).toEqual(before)
})

test('the error as JSON has a code and an exit code of its own, and says that nothing was changed', async () => {
  const { stderr } = await cli(await fleet(), ['cancel', 's', '-o', 'json'], SETTING)
  expect(JSON.parse(stderr).error).toMatchObject({ code: 'read-only', exit: 4, applied: 'no', retryable: false })
})

test('doctor says that writing is not tried', async () => {
  const { stderr, stdout } = await cli(await fleet(), ['doctor'], SETTING)
  expect(stderr).toContain('the context is read-only: create, lease, write, release and remove are not tried')
  expect(stdout).not.toContain('create ')
})
