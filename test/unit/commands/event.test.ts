import { expect, test } from 'vitest'
import {
  registerAdvance,
  registerComplete,
  registerFail,
  registerRelease,
  registerSet,
  registerStart,
  registerTouch,
} from '../../../src/commands/event.ts'
import { bodyOf, cli, json, newWorld, optionsFrom, statuses, type World } from './support.ts'

const S = { stream: 's', event: '01.00' }

test('argv → options of every command', async () => {
  const arg = ['s', '01.00', '--owner', 'w', '--fence', '41']
  const claimed = { ...S, owner: 'w', fence: 41 }
  expect(await optionsFrom(registerStart, ['start', ...arg, '--claim', '2m', '--take-over'])).toEqual({
    ...claimed,
    claim: 120_000,
    takeOver: true,
  })
  expect(await optionsFrom(registerTouch, ['touch', ...arg, '--claim', '30s', '-m', 'half'])).toEqual({
    ...claimed,
    claim: 30_000,
    reason: 'half',
  })
  expect(await optionsFrom(registerRelease, ['release', ...arg])).toEqual(claimed)
  expect(await optionsFrom(registerComplete, ['complete', ...arg, '-q'])).toEqual({ ...claimed, quiet: true })
  expect(await optionsFrom(registerFail, ['fail', ...arg])).toEqual(claimed)
  const names = ['--next', 'N', '--fork', 'A,B', '--join', 'J', '--more', '--topic', 't', '--timeout', '1h']
  expect(await optionsFrom(registerAdvance, ['advance', ...arg, ...names])).toEqual({
    ...claimed,
    next: 'N',
    fork: ['A', 'B'],
    join: 'J',
    more: true,
    topic: 't',
    timeout: '01:00:00',
  })
  const attributes = ['--name', 'N', '--key', 'k', '--tag', '', '--ref', 'r', '--tracking-id', 'x', '--on-due', '']
  expect(await optionsFrom(registerSet, ['set', 's', '01.00', ...attributes, '--timeout', ''])).toEqual({
    ...S,
    name: 'N',
    key: 'k',
    tag: '',
    ref: 'r',
    trackingId: 'x',
    onDue: '',
    timeout: '',
  })
})

async function order(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B'])
  return world
}

test('start prints owner, fence and claim end; as JSON too', async () => {
  const world = await order()
  const ran = await cli(world, ['event', 'start', 's', '01.00', '--owner', 'w1', '--time', 'utc'])
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  expect(ran.stdout).toMatch(/^✓ s 01\.00 {2}started by w1, fence 2, until \S+ {2}v2\n$/)
  const again = json((await cli(world, ['event', 'start', 's', '02.00', '--claim', '5m', '-o', 'json'])).stdout)
  expect(again).toMatchObject({
    stream: 's',
    event: '02.00',
    outcome: 'done',
    owner: 'tester@testhost',
    fence: 3,
    until: '2026-03-01T12:05:00.000Z',
    attempt: 1,
  })
})

test('start mentions a timeout that is shorter than the claim; as JSON, any timeout', async () => {
  const world = await order()
  await cli(world, ['event', 'set', 's', '01.00', '--timeout', '9s'])
  const { stdout } = await cli(world, ['event', 'start', 's', '01.00', '--owner', 'w1'])
  expect(stdout.split('\n')[1]).toBe('    it times out after 9s without a heartbeat: touch it every 3s')
  const touch = ['event', 'touch', 's', '01.00', '--owner', 'w1', '--claim', '5s']
  expect((await cli(world, touch)).stdout).toContain('it times out after 9s')
  expect(json((await cli(world, [...touch, '-o', 'json'])).stdout).silenceMs).toBe(9_000)
  await cli(world, ['event', 'set', 's', '02.00', '--timeout', '2m'])
  const longer = ['event', 'start', 's', '02.00', '--owner', 'w1']
  expect((await cli(world, longer)).stdout).not.toContain('timeout')
  expect(json((await cli(world, ['event', 'touch', ...longer.slice(2), '-o', 'json'])).stdout).silenceMs).toBe(120_000)
})

test('start with a used command id mentions the timeout again', async () => {
  const world = await order()
  await cli(world, ['event', 'set', 's', '01.00', '--timeout', '9s'])
  const start = ['event', 'start', 's', '01.00', '--owner', 'w1', '--command-id', 'c1', '-o', 'json']
  await cli(world, start)
  expect(json((await cli(world, start)).stdout)).toMatchObject({ duplicate: true, silenceMs: 9_000 })
})

test('start -q prints only the fence', async () => {
  expect(await cli(await order(), ['event', 'start', 's', '01.00', '-q'])).toMatchObject({
    exit: 0,
    stdout: '2\n',
    stderr: '',
  })
})

test('the owner is --owner, else LEASECTL_OWNER, else --by, else user@host', async () => {
  const owner = async (argv: string[], env: Record<string, string> = {}) =>
    json((await cli(await order(), ['event', 'start', 's', '01.00', '-o', 'json', ...argv], { env })).stdout).owner
  expect(await owner(['--owner', 'a', '--by', 'c'], { LEASECTL_OWNER: 'b' })).toBe('a')
  expect(await owner(['--by', 'c'], { LEASECTL_OWNER: 'b' })).toBe('b')
  expect(await owner(['--by', 'c'])).toBe('c')
  expect(await owner([])).toBe('tester@testhost')
})

test('an owner that is given with the fence must match too; without one the fence is enough', async () => {
  const world = await order()
  await cli(world, ['event', 'start', 's', '01.00', '--owner', 'w1'])
  const other = await cli(world, ['event', 'touch', 's', '01.00', '--fence', '2', '--owner', 'w2', '-o', 'json'])
  expect(json(other.stderr)).toMatchObject({ error: { code: 'fenced', exit: 11, applied: 'no' } })
  for (const owner of [['--owner', 'w1'], []]) {
    const ran = await cli(world, ['event', 'touch', 's', '01.00', '--fence', '2', ...owner])
    expect(ran.exit).toBe(0)
  }
})

test('an event claimed by another is exit 6 and names the owner; a wrong fence is exit 11', async () => {
  const world = await order()
  await cli(world, ['event', 'start', 's', '01.00', '--owner', 'w1'])
  const before = await bodyOf(world, 's')
  const claimed = await cli(world, ['event', 'complete', 's', '01.00', '--owner', 'w2'])
  expect(claimed).toMatchObject({ exit: 6, stdout: '' })
  expect(claimed.stderr).toMatch(/\[claimed\]\n[\s\S]*owner {4}w1, its claim expires in 1m/)
  const fenced = await cli(world, ['event', 'complete', 's', '01.00', '--fence', '1', '-o', 'json'])
  expect(fenced.exit).toBe(11)
  expect(json(fenced.stderr)).toMatchObject({
    error: { code: 'fenced', exit: 11, applied: 'no', stream: 's', event: '01.00' },
  })
  expect(await bodyOf(world, 's')).toBe(before)
})

test('touch extends the claim and keeps the version; -m is the progress', async () => {
  const world = await order()
  await cli(world, ['event', 'start', 's', '01.00', '--owner', 'w1'])
  world.nowMs += 30_000
  const ran = await cli(world, ['event', 'touch', 's', '01.00', '--fence', '2', '-m', 'half', '-o', 'json'])
  expect(json(ran.stdout)).toMatchObject({ outcome: 'done', version: 2, until: '2026-03-01T12:01:30.000Z', fence: 2 })
  expect((await cli(world, ['show', 's'])).stdout).toContain('half')
})

test('release makes the event available again', async () => {
  const world = await order()
  await cli(world, ['event', 'start', 's', '01.00', '--owner', 'w1'])
  expect((await cli(world, ['event', 'release', 's', '01.00', '--owner', 'w1'])).stdout).toBe(
    '✓ s 01.00  released  v3\n',
  )
  expect(await statuses(world, 's')).toMatchObject({ '01.00': 'init' })
})

test('advance adds a next step, or a fork with a join, with the given attributes', async () => {
  const world = await order()
  const next = await cli(world, ['event', 'advance', 's', '01.00', '--next', 'N', '--topic', 't'])
  expect(next).toMatchObject({ exit: 0, stdout: '✓ s 01.00  advanced  v2\n    01.01  ○ init\n' })
  await cli(world, ['event', 'advance', 's', '01.01', '--fork', 'X,Y', '--join', 'J', '--timeout', '1m'])
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
  const pick = ({ id, name, topic, timeout }: Record<string, unknown>) => [id, name, topic, timeout]
  expect((events as Record<string, unknown>[]).slice(3).map(pick)).toEqual([
    ['01.01', 'N', 't', null],
    ['01.01.00', 'X', null, '00:01:00'],
    ['01.02.00', 'Y', null, '00:01:00'],
    ['01.02', 'J', null, '00:01:00'],
  ])
})

test('advance without a successor, and --join without --fork, are exit 2', async () => {
  const world = await order()
  const ran = await cli(world, ['event', 'advance', 's', '01.00'])
  expect(ran.exit).toBe(2)
  expect(ran.stderr).toContain('--next NAME')
  expect((await cli(world, ['event', 'advance', 's', '01.00', '--next', 'N', '--join', 'J'])).exit).toBe(2)
})

test('complete and fail keep the reason as message; the last one closes the events above', async () => {
  const world = await order()
  await cli(world, ['event', 'complete', 's', '01.00', '-m', '12 results'])
  const ran = await cli(world, ['event', 'fail', 's', '02.00', '-m', 'no answer'])
  expect(ran.stdout).toBe('✓ s 02.00  failed  v3\n    00  inprocess → ✓ completed (closed)\n    the stream is done\n')
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
  expect(events).toMatchObject([
    { status: 'completed', outcome: 'errors', failed: '02.00' },
    { status: 'completed', msg: '12 results' },
    { status: 'aborted', msg: 'no answer' },
  ])
  const late = await cli(world, ['event', 'complete', 's', '02.00'])
  expect(late.exit).toBe(5)
})

test('set changes attributes, an empty value removes one, no attribute is exit 2', async () => {
  const world = await order()
  await cli(world, ['event', 'set', 's', '01.00', '--tag', 'x', '--timeout', '5m', '--name', 'N'])
  await cli(world, ['event', 'set', 's', '01.00', '--tag', ''])
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
  expect(events).toMatchObject([{}, { name: 'N', tag: null, timeout: '00:05:00' }, {}])
  expect((await cli(world, ['event', 'set', 's', '01.00'])).exit).toBe(2)
})

test('a missing event or stream is exit 3', async () => {
  const world = await order()
  expect((await cli(world, ['event', 'start', 's', '09.00'])).exit).toBe(3)
  expect((await cli(world, ['event', 'start', 'nix', '01.00'])).exit).toBe(3)
})

test('set --msg changes the message, which a new attempt keeps; an empty one removes it', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A'])
  await cli(world, ['event', 'start', 's', '01.00', '--owner', 'w', '--claim', '1m'])
  await cli(world, ['event', 'touch', 's', '01.00', '--owner', 'w', '-m', 'half of it'])
  const set = await cli(world, ['event', 'set', 's', '01.00', '--owner', 'w', '--msg', 'ask for Ada', '-o', 'json'])
  expect([set.exit, json(set.stdout)]).toMatchObject([0, { outcome: 'done' }])
  world.nowMs += 120_000
  await cli(world, ['event', 'start', 's', '01.00', '--owner', 'v'])
  const msgs = async () => {
    const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
    return (events as { msg: unknown }[]).map(({ msg }) => msg)
  }
  expect(await msgs()).toEqual([null, 'ask for Ada'])
  await cli(world, ['event', 'set', 's', '01.00', '--owner', 'v', '--msg', ''])
  expect(await msgs()).toEqual([null, null])
  const long = await cli(world, ['event', 'set', 's', '01.00', '--msg', 'x'.repeat(5_000)])
  expect([long.exit, long.stderr]).toEqual([2, expect.stringContaining('--msg')])
})
