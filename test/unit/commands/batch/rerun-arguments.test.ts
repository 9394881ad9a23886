import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { StreamStore } from '../../../../src/store/store.ts'
import { HOLDER } from '../../ops/support.ts'
import { storeWith } from '../store-with.ts'
import { cli, json, newWorld, STATE_HOME, type World } from '../support.ts'
import { given, linesOf, runFileOf } from './support.ts'

afterEach(() => rmSync(join(STATE_HOME, 'leasectl', 'runs'), { recursive: true, force: true }))

const run = (world: World, line: string, store?: StreamStore) =>
  cli(world, line.split(' '), { terminal: false, ...(store && { store }) })

const lease = (world: World, name: string, leaseId: string) =>
  world.store.acquireLease(name, { leaseId, durationS: -1, holder: { ...HOLDER, sinceMs: world.nowMs } })

const ID = '11111111-1111-4111-8111-11111111111'

/** Leases of three streams for an hour. The breaks of b and c get no answer. */
async function halfBroken(flags: string): Promise<{ readonly world: World; readonly path: string }> {
  const world = newWorld()
  await given(world, ['a', 'b', 'c'])
  for (const [at, name] of ['a', 'b', 'c'].entries()) await lease(world, name, `${ID}${at}`)
  world.nowMs += 3_600_000
  const store = storeWith(world.store, {
    breakLease: async (name, periodS) => {
      if (name !== 'a') throw new Error('no answer')
      return world.store.breakLease(name, periodS)
    },
  })
  const ran = await run(world, `lease break --yes -m gone --by ops ${flags}`, store)
  expect(ran.exit).toBe(7)
  return { world, path: runFileOf(ran) }
}

test('the rest of a lease break keeps --period', async () => {
  const { world } = await halfBroken('--all --period 10s')
  const ran = await run(world, 'lease break --rerun last --yes -o json')
  expect(ran.exit).toBe(0)
  expect((await world.store.read('b'))?.lease).toMatchObject({ state: 'breaking' })
  const other = await halfBroken('--all --period 10s')
  expect((await run(other.world, 'lease break --rerun last --period 0s --yes')).exit).toBe(0)
  expect((await other.world.store.read('b'))?.lease.state).toBe('available')
})

test('the rest of a lease break keeps --stale: a lease that is in use again is left alone', async () => {
  const { world } = await halfBroken('--stale 5m')
  await world.store.breakLease('b', 0)
  await lease(world, 'b', `${ID}9`)
  const ran = await run(world, 'lease break --rerun last --yes')
  expect(ran).toMatchObject({ exit: 0, stdout: expect.not.stringMatching(/^b /m) })
  expect((await world.store.read('b'))?.lease.state).toBe('leased')
  expect((await world.store.read('c'))?.lease.state).toBe('available')
})

test('--stale does not go with --rerun, which has it already', async () => {
  const { world } = await halfBroken('--stale 5m')
  const ran = await run(world, 'lease break --rerun last --stale --yes')
  expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining('--rerun and --stale do not go together') })
})

test('runs ls and runs show know a run of lease break, with its flags, and print a command that works', async () => {
  const { world, path } = await halfBroken('--stale 5m --period 10s')
  expect(json((await run(world, 'runs ls -o json')).stdout)).toMatchObject({
    items: [{ file: path, verb: 'lease break', flags: ['--stale', '5m', '--period', '10s'] }],
  })
  const shown = await run(world, 'runs show last')
  expect(shown.stdout).toContain('command  lease break --stale 5m --period 10s\n')
  expect(shown.stderr).toContain(`leasectl lease break --rerun ${path} --store memory:`)
})

test('a run keeps how it was made, and a flag of the rerun replaces it', async () => {
  const world = newWorld()
  await given(world, ['a', 'b'])
  await lease(world, 'b', `${ID}1`)
  const flags = '--lease-wait 0s --write lease --if-version 1 --concurrency 3 --skip-missing'
  const first = await run(world, `cancel a b gone ${flags} --yes`)
  expect(first.exit).toBe(7)
  const how = { leaseWaitMs: 0, write: 'lease', ifVersion: 1, concurrency: 3, skipMissing: true }
  expect(linesOf(runFileOf(first))[0]).toMatchObject(how)
  const second = await run(world, 'cancel --rerun last --yes --concurrency 5')
  expect(linesOf(runFileOf(second))[0]).toMatchObject({ ...how, concurrency: 5 })
  expect(json((await run(world, 'runs show last -o json')).stdout)).toMatchObject({
    flags: ['--lease-wait', '0s', '--write', 'lease', '--if-version', '1', '--concurrency', '5', '--skip-missing'],
  })
})

test('the rest of rm keeps --if-version', async () => {
  const world = newWorld()
  await given(world, ['a'])
  const batch = await run(world, 'rm --match a --if-version 9 --force --yes')
  expect(batch.exit).toBe(5)
  const again = await run(world, 'rm --rerun last --yes')
  expect(again).toMatchObject({ exit: 5, stderr: expect.stringContaining('[changed]') })
  expect(await world.store.read('a')).toBeDefined()
  expect((await run(world, 'rm --rerun last --if-version 1 --yes')).exit).toBe(0)
})
