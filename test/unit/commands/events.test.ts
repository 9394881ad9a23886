import { describe, expect, test } from 'vitest'
import { register } from '../../../src/commands/events.ts'
import { cli, json, newWorld, optionsFrom, type World } from './support.ts'

/** A stream with a ready, a running and a failed event; one suspended; one held; one with a limit that has expired. */
async function several(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 'a', '--fork', 'Pay,Ship,Bill'])
  await cli(world, ['event', 'start', 'a', '02.00', '--owner', 'w1', '--claim', '1h'])
  await cli(world, ['event', 'fail', 'a', '03.00', '-m', 'card expired'])
  await cli(world, ['init', 'b', '--fork', 'Pay'])
  await cli(world, ['suspend', 'b', '-m', 'wait'])
  await cli(world, ['init', 'c', '--hold', '--fork', 'Pay'])
  await cli(world, ['init', 'd', '--fork', 'Pay,Ship', '--timeout', '5m'])
  await cli(world, ['event', 'set', 'd', '01.00', '--timeout', '1m'])
  world.nowMs += 2 * 60_000
  return world
}

const rowsOf = async (world: World, ...argv: string[]) => {
  const ran = await cli(world, ['events', ...argv, '-o', 'json'])
  expect(ran.exit, ran.stderr).toBe(0)
  const { items } = json(ran.stdout) as { items: { stream: string; event: string; state: string }[] }
  return items.map(({ stream, event, state }) => `${stream} ${event} ${state}`)
}

test('argv → options', async () => {
  const argv = [
    'events',
    '--name',
    'A',
    '--name',
    'B',
    '--state',
    'ready,failed',
    '--due',
    '--sort',
    'wake',
    '--limit',
    '3',
  ]
  expect(await optionsFrom(register, argv)).toEqual({
    name: ['A', 'B'],
    state: ['ready', 'failed'],
    due: true,
    sort: 'wake',
    limit: 3,
  })
})

describe('events', () => {
  test('lists what somebody or something is needed for, stream by stream', async () => {
    expect(await rowsOf(await several())).toEqual([
      ...['a 01.00 ready', 'a 02.00 running', 'b 01.00 suspended', 'c 00 held', 'd 01.00 ready', 'd 02.00 ready'],
    ])
  })

  test('of a name and a state are the queue of a step', async () => {
    const world = await several()
    expect(await rowsOf(world, '--name', 'Pay', '--state', 'ready')).toEqual(['a 01.00 ready', 'd 01.00 ready'])
    expect(await rowsOf(world, '--state', 'running', '--owner', 'w1')).toEqual(['a 02.00 running'])
    expect(await rowsOf(world, '--owner', 'nobody')).toEqual([])
    expect(await rowsOf(world, '--state', 'suspended,held')).toEqual(['b 01.00 suspended', 'c 00 held'])
  })

  test('a claim that ran out is abandoned, a missed limit overdue, an aborted event failed', async () => {
    const world = await several()
    world.nowMs += 3_600_000
    expect(await rowsOf(world, '--state', 'abandoned,overdue,failed')).toEqual([
      ...['a 02.00 abandoned', 'a 03.00 failed', 'd 00 overdue', 'd 01.00 overdue'],
    ])
    expect(await rowsOf(world, '--state', 'overdue', '--name', 'Pay')).toEqual(['d 01.00 overdue'])
  })

  test('--due --sort wake lists limits, the first first, parents too', async () => {
    const world = await several()
    expect(await rowsOf(world, '--due', '--sort', 'wake')).toEqual(['d 01.00 overdue', 'd 00 waiting'])
    const text = (await cli(world, ['events', '--due', '--sort', 'wake', '--limit', '1'])).stdout
    expect(text).toMatch(/^STREAM +EVENT +STATE +WORKER +SINCE +DUE\nd +01\.00 Pay +! overdue/)
    expect(text.split('\n')).toHaveLength(3)
  })

  test('--sort wake with a limit reads no stream whose limits are all later', async () => {
    const world = newWorld()
    for (let at = 10; at < 50; at++) await cli(world, ['init', `s${at}`, '--fork', 'Pay', '--timeout', `${at}m`])
    const reads: string[] = []
    const store = new Proxy(world.store, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          if (key === 'read') reads.push(String(args[0]))
          return value.apply(target, args)
        }
      },
    })
    const ran = await cli(world, ['events', '--due', '--sort', 'wake', '--limit', '1', '-o', 'json'], { store })
    expect(json(ran.stdout)).toMatchObject({ items: [{ stream: 's10', event: '00' }], truncated: true })
    expect(reads.length).toBeLessThan(20)
    expect(reads).not.toContain('s49')
    expect(ran.stderr).toContain('--limit shows more')
  })

  test('--sort age lists the oldest first', async () => {
    const world = await several()
    world.nowMs += 60_000
    await cli(world, ['init', 'a/new', '--fork', 'Pay'])
    expect((await rowsOf(world, '--sort', 'age', '--state', 'ready')).at(-1)).toBe('a/new 01.00 ready')
  })

  test('the columns fit the rows of all streams', async () => {
    const [header = '', ...rows] = (await cli(await several(), ['events'])).stdout.trimEnd().split('\n')
    for (const row of rows) expect(row.slice(0, header.indexOf('WORKER'))).toMatch(/ $/)
  })

  test('-o wide shows the claim, a failed one its message', async () => {
    const world = await several()
    const wide = (await cli(world, ['events', '-o', 'wide', '--state', 'running'])).stdout
    expect(wide).toMatch(/02\.00 Ship +▶ running +w1 +2m ago +2m ago +58m left +1/)
    expect((await cli(world, ['events', '--state', 'failed'])).stdout).toContain('card expired')
  })

  test('--limit ends the list early and says so', async () => {
    const ran = await cli(await several(), ['events', '--limit', '2', '-o', 'json'])
    expect(json(ran.stdout)).toMatchObject({ truncated: true, items: [{ stream: 'a' }, { stream: 'a' }] })
    expect(ran.stderr).toContain('--limit shows more')
  })

  test('an empty list is a header or [], and a sentence', async () => {
    const ran = await cli(newWorld(), ['events'])
    expect(ran).toMatchObject({ exit: 0, stdout: 'STREAM  EVENT  STATE  WORKER  SINCE\n' })
    expect(ran.stderr).toContain('no streams in')
    expect(json((await cli(newWorld(), ['events', '-o', 'json'])).stdout)).toMatchObject({ items: [], total: 0 })
  })

  test.each([
    [['--state', 'asleep'], '--state'],
    [['--sort', 'name'], '--sort'],
    [['--limit', '0'], '--limit'],
    [['--name', ''], '--name'],
  ])('%j is exit 2', async (flags, says) => {
    const ran = await cli(newWorld(), ['events', ...flags])
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain(says)
  })
})
