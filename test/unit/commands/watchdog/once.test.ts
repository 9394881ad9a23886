import { describe, expect, test } from 'vitest'
import { AUDIT_LOG } from '../../../../src/ops/audit-log.ts'
import { NotPermitted } from '../../../../src/store/errors.ts'
import type { EventSpec, Operation } from '../../../../src/stream/operations/operation.ts'
import { init, run } from '../../ops/support.ts'
import { storeWith } from '../store-with.ts'
import { bodyOf, cli, json, newWorld, statuses, type World } from '../support.ts'

const LIMIT: EventSpec = { name: 'Search', timeout: '00:01:00' }

/** This number of streams with an event each whose deadline passed a minute ago, and as many without a deadline. */
async function overdue(streams: number, others = streams): Promise<World> {
  const world = newWorld()
  const forks = (spec: EventSpec) => ({ ...init(), forks: [spec] }) as Operation
  for (let at = 0; at < streams; at++) await run(world.store, `late/${String(at).padStart(3, '0')}`, forks(LIMIT))
  for (let at = 0; at < others; at++) await run(world.store, `open/${at}`, forks({ name: 'B' }))
  world.nowMs += 120_000
  return world
}

describe('watchdog --dry-run', () => {
  test('shows decisions and reasons, and changes nothing', async () => {
    const world = await overdue(2)
    const before = await bodyOf(world, 'late/000')
    const { exit, stdout, stderr } = await cli(world, ['watchdog', '--dry-run'])
    expect(exit).toBe(0)
    expect(stdout.split('\n').map(line => line.trimEnd())).toEqual([
      'WOULD        STREAM    EVENT         ENDS  LATE  WHY',
      'abort event  late/000  01.00 Search     1    1m  timed out: not started since 2026-03-01T12:00:00.000Z (timeout 00:01:00)',
      'abort event  late/001  01.00 Search     1    1m  timed out: not started since 2026-03-01T12:00:00.000Z (timeout 00:01:00)',
      '',
    ])
    expect(stderr).toBe(
      '4 streams: would end 2 of 8 open events; nothing was changed. One observation; the clock alone decides\n',
    )
    expect(await bodyOf(world, 'late/000')).toBe(before)
  })

  test('without due events: a header, a sentence, exit 0', async () => {
    const { exit, stdout, stderr } = await cli(newWorld(), ['watchdog', '--dry-run'])
    expect([exit, stdout, stderr]).toEqual([
      0,
      'WOULD  STREAM  EVENT  ENDS  LATE  WHY\n',
      '0 streams: would end 0 of 0 open events; nothing was changed. One observation; the clock alone decides\n',
    ])
  })

  test('reports that the circuit breaker would stop it', async () => {
    const { exit, stderr } = await cli(await overdue(51), ['watchdog', '--dry-run'])
    expect(exit).toBe(0)
    expect(stderr).toContain(
      'the circuit breaker would stop this pass: 51 of 204 open events (25%) are due, more than 20%',
    )
  })

  test('shows foreign names safely on the terminal', async () => {
    const world = newWorld()
    await run(world.store, 'x', { ...init(), forks: [{ ...LIMIT, name: 'A\u009b31m' }] } as Operation)
    world.nowMs += 120_000
    expect((await cli(world, ['watchdog', '--dry-run'])).stdout).toContain('01.00 A\\u{9b}31m')
  })
})

describe('watchdog --once', () => {
  test('ends due events and reports the outcome of each', async () => {
    const world = await overdue(1)
    const { exit, stdout, stderr } = await cli(world, ['watchdog', '--once'])
    expect(exit).toBe(0)
    expect(stdout).toContain('✗ ended  late/000  01.00 Search     1    1m  timed out: not started since')
    expect(stderr).toBe('2 streams: ended 1 of 4 open events. One observation; the clock alone decides\n')
    expect(await statuses(world, 'late/000')).toEqual({ '00': 'completed', '01.00': 'aborted' })
    expect(await statuses(world, 'open/0')).toEqual({ '00': 'inprocess', '01.00': 'init' })
  })

  test('says what is not over: an event that will be tried again, a stream that undoes what it did', async () => {
    const world = newWorld()
    const made = [
      ['init', 'a', '--steps', 'A', '--attempt-timeout', '1s', '--retries', '2', '--backoff', '1s..1s'],
      ['event', 'start', 'a', '01.00', '--owner', 'w'],
      ['init', 'b', '--steps', 'B,C', '--undo', 'Undo', '--on-failure', 'compensate', '--timeout', '2s'],
      ['event', 'start', 'b', '01.00', '--owner', 'w'],
      ['event', 'complete', 'b', '01.00', '--owner', 'w'],
    ]
    for (const argv of made) expect(await cli(world, argv)).toMatchObject({ exit: 0 })
    world.nowMs += 5_000
    const { stdout } = await cli(world, ['watchdog', '--once'])
    expect(stdout).toMatch(/^! attempt ended +a +01\.00 A/m)
    expect(stdout).toMatch(/^↶ undoing +b +00 /m)
  })

  test('does not end an event again', async () => {
    const world = await overdue(1)
    await cli(world, ['watchdog', '--once'])
    const { stdout } = await cli(world, ['watchdog', '--once', '-o', 'json'])
    expect(json(stdout)).toMatchObject({ items: [], dryRun: false, pass: { overdue: 0, endedEvents: 0 } })
  })

  test('with --match ignores the others', async () => {
    const world = await overdue(1)
    await cli(world, ['watchdog', '--once', '--match', 'open/*'])
    expect(await statuses(world, 'late/000')).toMatchObject({ '01.00': 'init' })
  })

  test('with --on-due notify changes nothing', async () => {
    const world = await overdue(1)
    const { stdout } = await cli(world, ['watchdog', '--once', '--on-due', 'notify'])
    expect(stdout).toContain('! notified  late/000')
    expect(await statuses(world, 'late/000')).toMatchObject({ '01.00': 'init' })
  })

  test('is stopped by the circuit breaker: exit 5, nothing ended, with advice', async () => {
    const world = await overdue(51)
    const { exit, stderr } = await cli(world, ['watchdog', '--once'])
    expect(exit).toBe(5)
    expect(stderr).toContain('no event was ended: 51 of 204 open events (25%) are due, more than 20%')
    expect(stderr).toContain('[breaker-open]')
    expect(stderr).toContain('try      leasectl watchdog --once --max-share 100%')
    const words = ['watchdog', '--once', '--match', 'late/**', '--on-due', 'abort-stream']
    expect((await cli(world, words)).stderr).toContain(
      "try      leasectl watchdog --once --match 'late/**' --on-due abort-stream --max-share 100%",
    )
    expect(await statuses(world, 'late/000')).toMatchObject({ '01.00': 'init' })
  })

  test("is let through by an operator's flag", async () => {
    const world = await overdue(51)
    const { exit, stdout } = await cli(world, ['watchdog', '--once', '--max-share', '100%', '-o', 'json'])
    expect(exit).toBe(0)
    expect(json(stdout)).toMatchObject({ pass: { endedEvents: 51, overdue: 0 } })
  })

  test('with --max-per-pass leaves the rest for the next pass and reports the number', async () => {
    const world = await overdue(3)
    const { stderr } = await cli(world, ['watchdog', '--once', '--max-per-pass', '2'])
    expect(stderr).toContain('ended 2 of 12 open events.')
    expect(stderr).toContain('1 decision deferred to the next pass: over --max-per-pass')
  })

  test('reports an unreadable document and ends the others', async () => {
    const world = await overdue(1, 0)
    const { summary } = (await world.store.read('late/000')) ?? {}
    if (summary === undefined) throw new Error('no summary')
    await world.store.create('late/bad', Buffer.from('<EventStream><Event'), { ...summary, dueMs: 1 })
    const { exit, stdout, stderr } = await cli(world, ['watchdog', '--once'])
    expect(exit).toBe(0)
    expect(stdout).toContain('✗ ended  late/000')
    expect(stderr).toContain('unreadable: late/bad: ')
    expect(await bodyOf(world, 'late/bad')).toBe('<EventStream><Event')
  })
})

describe('settings', () => {
  test.each([
    ['--once', '--interval', '5s'],
    ['--once', '--listen', ':9464'],
    ['--once', '--shards', '2'],
    ['--dry-run', '--shards', '2'],
    ['--dry-run', '--on-expired', '/bin/true'],
    ['--interval', '10ms'],
    ['--interval', '25h'],
    ['--shards', '257'],
    ['--max-share', '0%'],
    ['--config', '/nowhere/at/all.yaml'],
    ['--once', '--on-failed', '/no/such/program'],
  ])('that are invalid are refused at the start: %s %s %s', async (...argv) => {
    const world = await overdue(1)
    const { exit, stderr } = await cli(world, ['watchdog', ...argv.filter(word => word !== undefined)])
    expect([exit, stderr]).toEqual([2, expect.stringMatching(/^error: /)])
    expect(await statuses(world, 'late/000')).toMatchObject({ '01.00': 'init' })
  })

  test('of status include none of the flags of the daemon', async () => {
    expect((await cli(newWorld(), ['watchdog', 'status', '--once'])).exit).toBe(2)
  })
})

describe('watchdog --purge', () => {
  test('that fails tells what the pass has ended: exit 7', async () => {
    const world = await overdue(1)
    await run(world.store, 'done/1', init(['A']))
    await run(world.store, 'done/1', { op: 'complete', event: '01.00' })
    world.nowMs += 100 * 86_400_000
    const refuse = (name: string) => {
      if (name === AUDIT_LOG) throw new NotPermitted('no right to write')
    }
    const store = storeWith(world.store, {
      async create(name, ...rest) {
        refuse(name)
        return world.store.create(name, ...rest)
      },
      async update(name, ...rest) {
        refuse(name)
        return world.store.update(name, ...rest)
      },
    })
    const { exit, stdout, stderr } = await cli(world, ['watchdog', '--once', '--purge', '90d'], { store })
    expect(stdout).toContain('late/000')
    expect(stderr).toContain('the purge failed: ')
    expect(exit).toBe(7)
  })

  async function old(): Promise<World> {
    const world = newWorld()
    await run(world.store, 'done/1', init(['A']))
    await run(world.store, 'done/1', { op: 'complete', event: '01.00' })
    await run(world.store, 'open/1', init(['A']))
    world.nowMs += 100 * 86_400_000
    return world
  }

  test('removes old streams after the pass of --once', async () => {
    const world = await old()
    const { exit, stderr } = await cli(world, ['watchdog', '--once', '--purge', '90d'])
    expect(exit).toBe(0)
    expect(stderr).toContain('purge: removed 1 old stream: done/1\n')
    expect(await world.store.read('done/1')).toBeUndefined()
    expect(await world.store.read('open/1')).toBeDefined()
  })

  test('shows in a dry run what it would remove', async () => {
    const world = await old()
    const { stderr } = await cli(world, ['watchdog', '--dry-run', '--purge', '90d'])
    expect(stderr).toContain('purge: would remove 1 old stream: done/1\n')
    expect(await world.store.read('done/1')).toBeDefined()
    const { stdout } = await cli(world, ['watchdog', '--dry-run', '--purge', '90d', '-o', 'json'])
    expect(json(stdout)).toMatchObject({ purge: { streams: ['done/1'], left: 0, hasMore: false } })
  })

  test('removes nothing unless it is asked for', async () => {
    const world = await old()
    const { stdout } = await cli(world, ['watchdog', '--once', '-o', 'json'])
    expect(json(stdout)).toMatchObject({ purge: null })
    expect(await world.store.read('done/1')).toBeDefined()
  })
})
