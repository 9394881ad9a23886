import { expect, test } from 'vitest'
import { AUDIT_LOG, readAuditLog } from '../../../../src/ops/audit-log.ts'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { LeaseView, StreamSnapshot, StreamStore } from '../../../../src/store/store.ts'
import { given, unreadable } from '../batch/support.ts'
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
  expect(ran.stderr).toMatch(/^s {2}leased by worker-7/)
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
  expect(ran.stdout).toContain('no lease to break')
  expect(await state(world)).toBe('leased')
})

test('with -o json the error says so too', async () => {
  const world = await leased()
  const { store } = meanwhile(world, () => handOver(world))
  const ran = await cli(world, ['lease', 'break', 's', '-o', 'json'], { ...YES, store })
  expect(json(ran.stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
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
  expect((await cli(world, ['lease', 'break', 's'], YES)).stdout).toBe('✓ s  lease broken  v2\n')
})

test('a broken lease is reported even if it can no longer be read', async () => {
  const world = await leased('infinite')
  let reads = 0
  const store: StreamStore = storeWith(world.store, {
    read: async name => {
      if (++reads > 2) throw new StoreUnreachable('gone')
      return world.store.read(name)
    },
  })
  const ran = await cli(world, ['lease', 'break', 's', '--yes'], { store })
  expect(ran).toMatchObject({ exit: 0, stdout: '✓ s  lease broken  v2\n' })
})

/** Streams that are leased without end, and one that is not. */
async function leasedWorld(...names: readonly string[]): Promise<World> {
  const world = newWorld()
  await given(world, [...names, 'free'], ['A'])
  for (const name of names) await lease(world, name)
  return world
}

async function lease(world: World, name: string): Promise<void> {
  const ran = await cli(world, ['lease', 'acquire', name, '--duration', 'infinite', '--by', 'worker-7'])
  if (ran.exit !== 0) throw new Error(ran.stderr)
}

const leaseOf = async (world: World, name: string) => (await world.store.read(name))?.lease.state

async function lastEntry(world: World, name: string) {
  return (await readStream(world.store, name))?.transactions().at(-1)
}

test('a break is in the journal of the stream, with actor and reason, and in the audit log', async () => {
  const world = await leasedWorld('s')
  const argv = ['lease', 'break', 's', '--yes', '-m', 'worker-7 is gone', '--by', 'ops', '-o', 'json']
  const ran = await cli(world, argv)
  expect(json(ran.stdout)).toMatchObject({
    ...{ stream: 's', outcome: 'done', version: 2, by: 'ops', reason: 'worker-7 is gone', journal: 'written' },
    ...{ state: 'available', before: { state: 'leased', duration: 'infinite', holder: { by: 'worker-7' } } },
  })
  expect(await lastEntry(world, 's')).toMatchObject({
    op: 'break-lease',
    by: 'ops',
    why: 'worker-7 is gone',
    version: 2,
  })
  expect(await readAuditLog(world.store, {})).toMatchObject([
    { op: 'break-lease', by: 'ops', why: 'worker-7 is gone', streams: 1, names: ['s'], end: { counts: { done: 1 } } },
  ])
})

test('a filter breaks only leases that are held, after as many as were expected', async () => {
  const world = await leasedWorld('a/1', 'a/2', 'b/1')
  const argv = ['lease', 'break', '--match', 'a/*', '--yes', '-m', 'restart']
  expect((await cli(world, [...argv, '--expect', '3'])).exit).toBe(5)
  expect(await leaseOf(world, 'a/1')).toBe('leased')
  const ran = await cli(world, [...argv, '--expect', '2'])
  expect(ran.exit).toBe(0)
  expect(ran.stderr).toContain('2 done')
  expect(await leaseOf(world, 'b/1')).toBe('leased')
  expect(await readAuditLog(world.store, {})).toMatchObject([{ streams: 2, names: ['a/1', 'a/2'] }])
})

test('--stale breaks the leases that lease ls --stale lists, and no others', async () => {
  const world = await leasedWorld('old')
  world.nowMs += 6 * 60_000
  await given(world, ['new'])
  await lease(world, 'new')
  const listed = await cli(world, ['lease', 'ls', '--stale', '-o', 'name'], { running: [41] })
  expect(listed.stdout).toBe('old\n')
  const dry = await cli(world, ['lease', 'break', '--stale', '--dry-run'], { running: [41] })
  expect(dry.stdout).toMatch(/^old {2}leased \(infinite\) by worker-7/)
  expect(dry.stderr).toContain('1 stream: 1 inprocess; 1 not stale, left out. A dry run')
  expect((await cli(world, ['lease', 'break', '--stale', '--yes'], { running: [41] })).exit).toBe(0)
  expect([await leaseOf(world, 'old'), await leaseOf(world, 'new')]).toEqual(['available', 'leased'])
})

test('names from a list are broken too; one without a lease is so already', async () => {
  const world = await leasedWorld('a', 'b')
  const stdin = (await cli(world, ['lease', 'ls', '-o', 'name'])).stdout
  expect(stdin).toBe('a\nb\n')
  const ran = await cli(world, ['lease', 'break', '--streams', '-', '--yes', '-o', 'ndjson'], { stdin })
  expect(ran.stdout.trimEnd().split('\n').map(json)).toMatchObject([{ stream: 'a' }, { stream: 'b' }])
  const again = await cli(world, ['lease', 'break', 'a', 'b', 'free', '--yes', '-o', 'json'])
  expect(json(again.stdout)).toMatchObject({ counts: { already: 3 } })
})

test.each([
  [[], 'which streams?'],
  [['s', '--stale'], 'names and filters both select streams'],
  [['--streams', 'f', '--stale'], 'filters and --streams both select streams'],
])('lease break %j is a usage error', async (more, message) => {
  const ran = await cli(await leasedWorld('s'), ['lease', 'break', ...more, '--yes'], { files: { f: 's' } })
  expect(ran.exit).toBe(2)
  expect(ran.stderr).toContain(message)
})

test('--all breaks every lease', async () => {
  const world = await leasedWorld('a', 'b')
  expect((await cli(world, ['lease', 'break', '--all', '--yes', '--expect', '2'])).exit).toBe(0)
  expect([await leaseOf(world, 'a'), await leaseOf(world, 'b')]).toEqual(['available', 'available'])
})

test('log and log --audit print a break with who and why', async () => {
  const world = await leased()
  await cli(world, ['lease', 'break', 's', '--yes', '--by', 'ana@ops-1', '-m', 'worker-7 is gone'])
  const of = async (...argv: string[]) => (await cli(world, ['log', ...argv])).stdout
  expect(await of('s')).toMatch(/ s .* ana@ops-1 +break-lease .* worker-7 is gone$/m)
  expect(await of('--audit')).toMatch(/ ana@ops-1 +break-lease +s .* worker-7 is gone$/m)
})

test('the lease of an unreadable document is broken, and only the audit log has it', async () => {
  const world = newWorld()
  await unreadable(world, 'bad')
  await lease(world, 'bad')
  const before = await world.store.read('bad')
  const ran = await cli(world, ['lease', 'break', 'bad', '--yes'])
  expect(ran).toMatchObject({ exit: 0 })
  expect(ran.stdout).toContain('lease broken, not in the journal: the document cannot be read')
  expect((await world.store.read('bad'))?.etag).toBe(before?.etag)
  expect(await readAuditLog(world.store, {})).toMatchObject([{ op: 'break-lease', names: ['bad'] }])
})

test('with a period only a longer --lease-wait makes the journal entry', async () => {
  const world = await leasedWorld('s')
  const ran = await cli(world, ['lease', 'break', 's', '--yes', '--period', '10s', '-o', 'json'])
  expect(json(ran.stdout)).toMatchObject({ outcome: 'done', state: 'breaking', journal: 'held', version: 1 })
  expect((await lastEntry(world, 's'))?.op).toBe('init')
  expect(await readAuditLog(world.store, {})).toMatchObject([{ op: 'break-lease', end: { counts: { done: 1 } } }])
})

test('a lease is broken although the audit log cannot be written, with a warning', async () => {
  const world = await leasedWorld('s')
  const store = storeWith(world.store, {
    create: async (...args) => {
      if (args[0] === AUDIT_LOG) throw new StoreUnreachable('gone')
      return world.store.create(...args)
    },
  })
  const ran = await cli(world, ['lease', 'break', 's', '--yes'], { store })
  expect(ran.exit).toBe(0)
  expect(ran.stderr).toContain('not in the audit log: gone')
  expect((await lastEntry(world, 's'))?.op).toBe('break-lease')
})

test('the rest of a batch of breaks is done with --rerun', async () => {
  const world = await leasedWorld('a', 'b')
  const store = storeWith(world.store, {
    breakLease: async (name, periodS) =>
      name === 'b' ? { kind: 'unknown', cause: new Error('no answer') } : world.store.breakLease(name, periodS),
  })
  const ran = await cli(world, ['lease', 'break', 'a', 'b', '--yes', '-m', 'gone'], { store })
  expect(ran.exit).toBe(7)
  const words = /leasectl lease break --rerun (\S+)/.exec(ran.stderr)?.[1] ?? ''
  expect((await cli(world, ['lease', 'break', '--rerun', words, '--yes'])).exit).toBe(0)
  expect(await lastEntry(world, 'b')).toMatchObject({ op: 'break-lease', why: 'gone' })
})

test('the preview says which selected blob is not tried, and why', async () => {
  const world = await leased()
  const store = storeWith(world.store, {
    async *list(query) {
      for await (const page of world.store.list(query))
        yield page.flatMap(({ summary, ...row }) => [
          { ...row, ...(summary && { summary }) },
          { ...row, name: 's/' },
        ])
    },
  })
  const ran = await cli(world, ['lease', 'break', '--all', '--dry-run'], { store })
  expect(ran.stdout).toMatch(/^s {2}leased by worker-7.*"repair", ends in 1m$/m)
  expect(ran.stdout).toMatch(/^s\/ {2}leased by worker-7.*, not tried: bad-name$/m)
})

test('a break that is repeated with its command id leaves the lease of another alone', async () => {
  const world = await leased()
  const words = ['lease', 'break', 's', '--yes', '--command-id', 'B1']
  expect(await cli(world, words)).toMatchObject({ exit: 0, stdout: expect.stringContaining('lease broken') })
  await cli(world, ['lease', 'acquire', 's', '--by', 'worker-8', '-m', 'repair'])
  expect(await cli(world, words)).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining('broken by this command before'),
  })
  expect(await state(world)).toBe('leased')
})
