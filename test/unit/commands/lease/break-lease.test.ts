import { expect, test } from 'vitest'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { LeaseView, StreamSnapshot, StreamStore } from '../../../../src/store/store.ts'
import { storeWith } from '../store-with.ts'
import { cli, json, newWorld, type World } from '../support.ts'

const YES = { terminal: true, answer: 's' }

async function leased(duration = '60s'): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A'])
  await cli(world, ['lease', 'acquire', 's', '--by', 'worker-7', '-m', 'repair', '--duration', duration])
  return world
}

/** A store with an action between the first read, before the prompt, and the second. */
function meanwhile(
  world: World,
  happens: () => Promise<unknown>,
  seen: (stored: StreamSnapshot) => StreamSnapshot = it => it,
) {
  let reads = 0
  const broken: string[] = []
  const store = storeWith(world.store, {
    async read(name) {
      if (++reads === 2) await happens()
      const stored = await world.store.read(name)
      return stored && seen(stored)
    },
    breakLease: (name, periodS) => {
      broken.push(name)
      return world.store.breakLease(name, periodS)
    },
  })
  return { store, broken }
}

const state = async (world: World) => (await world.store.read('s'))?.lease.state

async function handOver(world: World): Promise<void> {
  await cli(world, ['lease', 'break', 's', '--yes'])
  world.nowMs += 1_000
  await cli(world, ['lease', 'acquire', 's', '--by', 'worker-8', '-m', 'event start 01.00'])
}

test('a lease that changed hands during the prompt is not broken, and the new holder is named', async () => {
  const world = await leased()
  const { store, broken } = meanwhile(world, () => handOver(world))
  const ran = await cli(world, ['lease', 'break', 's'], { ...YES, store })
  expect(ran).toMatchObject({ exit: 5, stdout: '' })
  expect(ran.stderr).toMatch(/before {2}s {2}leased by worker-7/)
  expect(ran.stderr).toMatch(/the lease of s changed hands before you confirmed; it was not broken.*\[changed\]/)
  expect(ran.stderr).toContain('held by  worker-8@testhost (pid 41) for 0s, "event start 01.00"')
  expect(broken).toEqual([])
  expect(await state(world)).toBe('leased')
})

test('a lease that was taken after there was none is not broken: there was no prompt for it', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A'])
  const store = storeWith(world.store, {
    async read(name) {
      const stored = await world.store.read(name)
      await cli(world, ['lease', 'acquire', 's', '--by', 'worker-8'])
      return stored
    },
  })
  const ran = await cli(world, ['lease', 'break', 's'], { store })
  expect(ran.exit).toBe(0)
  expect(ran.stdout).toContain('there was no lease to break')
  expect(await state(world)).toBe('leased')
})

test('with -o json the error says so too', async () => {
  const world = await leased()
  const { store } = meanwhile(world, () => handOver(world))
  const ran = await cli(world, ['lease', 'break', 's', '-o', 'json'], { ...YES, store })
  expect(json(ran.stderr)).toMatchObject({
    error: { code: 'changed', exit: 5, applied: 'no', holder: { by: 'worker-8' } },
  })
})

const UNKNOWN: LeaseView = { state: 'leased', duration: 'fixed' }

test.each([
  ['wrote meanwhile', true, 5],
  ['wrote nothing', false, 0],
])('with an unknown holder that %s', async (_what, writes, exit) => {
  const world = await leased()
  const write = async () => {
    if (writes) await world.store.update('s', rewrite, { waitMs: 0, leaseId, holder: HOLDER })
  }
  const leaseId = '11111111-1111-4111-8111-111111111111'
  await cli(world, ['lease', 'break', 's', '--yes'])
  await cli(world, ['lease', 'acquire', 's', '--lease-id', leaseId])
  const unknown = (stored: StreamSnapshot): StreamSnapshot =>
    stored.lease.state === 'leased' ? { ...stored, lease: UNKNOWN } : stored
  const { store, broken } = meanwhile(world, write, unknown)
  const ran = await cli(world, ['lease', 'break', 's'], { ...YES, store })
  expect(ran.exit).toBe(exit)
  expect(broken).toHaveLength(exit === 0 ? 1 : 0)
  if (exit !== 0) expect(ran.stderr).toContain('now      leased by holder unknown, last written by')
})

const HOLDER = { by: 'w', host: 'h', pid: 1, purpose: 'p', sinceMs: 0 }
const rewrite = ({ body, summary }: StreamSnapshot) => {
  if (summary === undefined) throw new Error('no summary')
  return { kind: 'put', body, summary } as const
}

test('a lease that its holder renewed meanwhile is still the same lease', async () => {
  const world = newWorld()
  const id = '11111111-1111-4111-8111-111111111111'
  await cli(world, ['init', 's'])
  await cli(world, ['lease', 'acquire', 's', '--lease-id', id])
  const renew = async () => {
    world.nowMs += 10_000
    await cli(world, ['lease', 'renew', 's', '--lease-id', id])
  }
  const { store, broken } = meanwhile(world, renew)
  expect((await cli(world, ['lease', 'break', 's'], { ...YES, store })).exit).toBe(0)
  expect(broken).toEqual(['s'])
})

test('a lease that ended during the prompt cannot be broken', async () => {
  const world = await leased()
  const { store } = meanwhile(world, async () => {
    world.nowMs += 61_000
  })
  const ran = await cli(world, ['lease', 'break', 's'], { ...YES, store })
  expect(ran.exit).toBe(0)
  expect(await state(world)).not.toBe('leased')
})

test('a stream that was removed during the prompt is exit 3', async () => {
  const world = await leased()
  const { store, broken } = meanwhile(world, async () => {
    await world.store.breakLease('s', 0)
    await world.store.remove('s', {})
  })
  expect((await cli(world, ['lease', 'break', 's'], { ...YES, store })).exit).toBe(3)
  expect(broken).toEqual([])
})

test('a lease that is breaking has a prompt too: ending it sooner takes time from its holder', async () => {
  const world = await leased()
  await cli(world, ['lease', 'break', 's', '--yes', '--period', '60s'])
  const no = await cli(world, ['lease', 'break', 's'], { terminal: true, answer: undefined })
  expect(no).toMatchObject({ exit: 2 })
  expect(no.questions).toHaveLength(1)
  expect(await state(world)).toBe('breaking')
  expect((await cli(world, ['lease', 'break', 's'], YES)).stdout).toBe('after   s  broken\n')
})

test('a broken lease is reported even if it can no longer be read', async () => {
  const world = await leased('infinite')
  let reads = 0
  const store: StreamStore = storeWith(world.store, {
    read: async name => {
      if (++reads > 1) throw new StoreUnreachable('gone')
      return world.store.read(name)
    },
  })
  const ran = await cli(world, ['lease', 'break', 's', '--yes'], { store })
  expect(ran).toMatchObject({ exit: 0, stdout: 'after   s  broken\n' })
})
