import { expect, test } from 'vitest'
import { openMemoryStore } from '../../../../src/store/memory.ts'
import type { ContainerLease, StreamStore } from '../../../../src/store/store.ts'
import { cli, json, newWorld, type Setting, type World } from '../support.ts'
import { containerOf } from './container.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const OTHER = '22222222-2222-4222-8222-222222222222'

function lease(world: World, line: string, setting: Setting = {}) {
  return cli(world, ['lease', ...line.split(' ')], setting)
}

async function leasedContainer(): Promise<World> {
  const world = containerOf(newWorld())
  await lease(world, `acquire --of-container --duration infinite --lease-id ${ID}`)
  return world
}

const view = (world: World) => (world.store as StreamStore & { containerLease: ContainerLease }).containerLease.view()

test('the lease of the container is acquired, renewed, changed, shown and released', async () => {
  const world = containerOf(newWorld())
  const acquired = await lease(world, 'acquire --of-container --duration 30s')
  expect(acquired).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/^[0-9a-f-]{36}\n$/),
    stderr: 'the container box is leased by tester@testhost, for 30s\n',
  })
  const id = acquired.stdout.trim()
  expect((await lease(world, `renew --of-container --lease-id ${id}`)).stderr).toBe(
    'the lease of the container box was renewed\n',
  )
  const changed = await lease(world, `change --of-container --lease-id ${id} --new-id ${OTHER}`)
  expect(changed).toMatchObject({ exit: 0, stdout: `${OTHER}\n` })
  expect((await lease(world, 'show --of-container')).stdout).toBe('the container box  leased\n')
  expect((await lease(world, `release --of-container --lease-id ${OTHER}`)).exit).toBe(0)
  expect((await lease(world, 'show --of-container')).stdout).toBe('the container box  available\n')
})

test('an infinite lease of the container is shown as one, in JSON with the name of the container and no stream', async () => {
  const world = await leasedContainer()
  expect((await lease(world, 'show --of-container')).stdout).toBe('the container box  leased (infinite)\n')
  expect(json((await lease(world, 'show --of-container -o json')).stdout)).toMatchObject({
    ...{ stream: null, container: 'box', state: 'leased', duration: 'infinite', leaseId: null, holder: null },
  })
})

test('a second holder of the container is told that it is leased, and a wrong id that it is lost', async () => {
  const world = await leasedContainer()
  const second = await lease(world, 'acquire --of-container')
  expect(second).toMatchObject({ exit: 6, stderr: expect.stringContaining('the container box is already leased') })
  const wrong = await lease(world, `renew --of-container --lease-id ${OTHER}`)
  expect(wrong).toMatchObject({ exit: 11, stderr: expect.stringContaining('not the lease of the container box') })
})

test('breaking the lease of the container asks for its name, and only that name means yes', async () => {
  const world = await leasedContainer()
  const no = await lease(world, 'break --of-container', { terminal: true, answer: 'y' })
  expect(no).toMatchObject({ exit: 2, stderr: expect.stringContaining('not confirmed; nothing was changed') })
  expect(no.questions).toEqual([expect.stringContaining('Type box to continue')])
  expect((await view(world)).state).toBe('leased')
  const yes = await lease(world, 'break --of-container', { terminal: true, answer: 'box' })
  expect(yes).toMatchObject({ exit: 0, stderr: expect.stringContaining('the container box: lease broken') })
  expect((await view(world)).state).toBe('broken')
})

test('without a terminal the break of the lease of the container needs --yes', async () => {
  const world = await leasedContainer()
  expect(await lease(world, 'break --of-container')).toMatchObject({ exit: 2 })
  expect((await view(world)).state).toBe('leased')
})

test('the break of the lease of the container is in the audit log, with who and why', async () => {
  const world = await leasedContainer()
  await cli(world, ['lease', 'break', '--of-container', '--yes', '--by', 'ann', '-m', 'etl-2 is gone'])
  const { stdout } = await cli(world, ['log', '--audit'])
  expect(stdout).toMatch(/ann +break-container-lease +container box +1 done +etl-2 is gone/)
})

test('a break with a period says when the lease of the container ends', async () => {
  const world = await leasedContainer()
  const ran = json((await lease(world, 'break --of-container --yes --period 10s -o json')).stdout)
  expect(ran).toMatchObject({
    state: 'breaking',
    outcome: 'done',
    until: expect.stringMatching(/^2026-03-01T12:00:10/),
  })
})

test('a break of a container that is not leased changes nothing, and a dry run neither', async () => {
  const free = containerOf(newWorld())
  expect((await lease(free, 'break --of-container --yes')).stderr).toContain('no lease to break')
  const world = await leasedContainer()
  expect((await lease(world, 'break --of-container --dry-run')).stderr).toContain('a dry run')
  expect((await view(world)).state).toBe('leased')
})

test.each([
  ['acquire s --of-container', 'name two leases'],
  ['acquire', 'the name of the stream is missing'],
  ['break s --of-container --yes', 'not of streams'],
  ['break --all --of-container --yes', 'not of streams'],
  ['break --stale --of-container --yes', 'not of streams'],
])('lease %s is refused: %s', async (line, why) => {
  expect(await lease(containerOf(newWorld()), line)).toMatchObject({ exit: 2, stderr: expect.stringContaining(why) })
})

test.each([
  'show --of-container',
  'acquire --of-container',
  `release --of-container --lease-id ${ID}`,
  'break --of-container --yes',
])('lease %s is not supported by a store that is not a container', async line => {
  const world = { ...newWorld(), store: openMemoryStore() }
  const ran = await lease(world, `${line} -o json`)
  expect(ran.exit).toBe(2)
  expect(ran.stderr).toContain('"not-supported"')
})
