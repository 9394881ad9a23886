import { describe, expect, test } from 'vitest'
import { register } from '../../../src/commands/check.ts'
import { runCommandLine } from '../../../src/commands/main.ts'
import { createSystemDocument } from '../../../src/ops/system-documents.ts'
import { WATCHDOG_STATE } from '../../../src/ops/watchdog-state/parse.ts'
import { NotPermitted, StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { ForeignWrites } from '../ops/foreign-writes.ts'
import { badStream } from './bad-stream.ts'
import { storeWith } from './store-with.ts'
import { cli, fakeRuntime, json, NOON, newWorld, optionsFrom, type Setting, type World } from './support.ts'

test('argv → options', async () => {
  const argv = ['check', '--match', 'a/**', '--within', '5s', '--overdue-for', '0s', '--warn-overdue', '2']
  const limits = ['--crit-overdue', '5', '--stuck-after', '1h', '--warn-stuck', '3', '--crit-stuck', '4']
  const work = ['--failed-since', '1h', '--warn-failed', '8', '--crit-failed', '9', '--warn-abandoned', '10']
  const waits = ['--crit-abandoned', '11', '--warn-waiting', '15m', '--crit-waiting', '1h']
  const others = ['--warn-unreadable', '6', '--crit-unreadable', '7', '--warn-lag', '1m', '--crit-lag', '2m']
  expect(
    await optionsFrom(register, [...argv, ...limits, ...work, ...waits, ...others, '--require-watchdog', '-o', 'json']),
  ).toEqual({
    match: 'a/**',
    within: 5_000,
    overdueFor: 0,
    warnOverdue: 2,
    critOverdue: 5,
    failedSince: 3_600_000,
    warnFailed: 8,
    critFailed: 9,
    warnAbandoned: 10,
    critAbandoned: 11,
    warnWaiting: 900_000,
    critWaiting: 3_600_000,
    stuckAfter: 3_600_000,
    warnStuck: 3,
    critStuck: 4,
    warnUnreadable: 6,
    critUnreadable: 7,
    warnLag: 60_000,
    critLag: 120_000,
    requireWatchdog: true,
    output: 'json',
  })
})

/** Two streams, one of them overdue for two hours, and an unreadable foreign one. */
async function troubled(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 'orders/1', '--timeout', '1h'])
  world.nowMs += 3 * 3_600_000
  await cli(world, ['init', 'orders/2'])
  await badStream(world, 'bad')
  return world
}

const checked = async (world: World, line = '', setting?: Setting) =>
  cli(world, ['check', ...line.split(' ').filter(word => word !== '')], setting)

const withoutSummary = (store: StreamStore): StreamStore =>
  storeWith(store, {
    async *list(query) {
      for await (const page of store.list(query)) yield page.map(({ summary: _, ...row }) => row)
    },
  })

describe('the exit code follows the convention for plugins', () => {
  test('0: no problems', async () => {
    const world = newWorld()
    await cli(world, ['init', 'a'])
    expect(await checked(world)).toEqual({
      exit: 0,
      stdout: expect.stringMatching(/^LEASECTL OK - 1 stream, nothing overdue for 1m or longer \| overdue=0;1;10;0 /),
      stderr: '',
      questions: [],
    })
  })

  test('1: a warning, with all findings', async () => {
    const world = await troubled()
    const { exit, stdout, stderr } = await checked(world, '', { store: withoutSummary(world.store) })
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: '' })
    expect(stdout.split('\n').map(line => line.split(' | ')[0])).toEqual([
      'LEASECTL WARNING - 1 overdue (2h, orders/1), 1 unreadable (bad), no watchdog for 1 stream with a time limit, 3 streams',
      'overdue: orders/1 for 2h',
      expect.stringMatching(/^unreadable: bad: ./),
      '',
    ])
  })

  test('2: critical', async () => {
    const { exit, stdout } = await checked(await troubled(), '--crit-overdue 1')
    expect(exit).toBe(2)
    expect(stdout).toMatch(/^LEASECTL CRITICAL - 1 overdue/)
  })
})

describe('limits', () => {
  test('a stream overdue for less than the tolerance does not count; from the limit on it does', async () => {
    const world = await troubled()
    const status = async (line: string) =>
      json((await checked(world, `-o json ${line}`)).stdout).checks as { name: string; status: string; value: number }[]
    expect((await status('--overdue-for 3h'))[0]).toMatchObject({ name: 'overdue', status: 'ok', value: 0 })
    expect((await status('--overdue-for 2h'))[0]).toMatchObject({ name: 'overdue', status: 'warning', value: 1 })
    expect((await status('--warn-overdue 2'))[0]).toMatchObject({ name: 'overdue', status: 'ok', value: 1 })
  })

  test('--match excludes other streams', async () => {
    const { stdout } = await checked(await troubled(), '--match orders/2')
    expect(stdout).toMatch(/^LEASECTL OK - 1 stream, nothing overdue/)
  })

  test('a pattern without matches is mentioned, without an error', async () => {
    const { exit, stdout } = await checked(await troubled(), '--match nope/**')
    expect(exit).toBe(0)
    expect(stdout).toMatch(/^LEASECTL OK - nothing matches nope\/\*\*, nothing overdue for 1m or longer \|/)
    expect((await checked(newWorld())).stdout).toMatch(/^LEASECTL OK - 0 streams, /)
  })

  test('without a tolerance nothing is overdue yet', async () => {
    expect((await checked(newWorld(), '--overdue-for 0s')).stdout).toMatch(/, nothing overdue \|/)
  })

  test('a lease held for long is stuck', async () => {
    const world = newWorld()
    await cli(world, ['init', 'a'])
    await cli(world, ['lease', 'acquire', 'a', '--duration', 'infinite', '--by', 'w7', '-m', 'repair'])
    world.nowMs += 11 * 60_000
    const { exit, stdout } = await checked(world)
    expect(exit).toBe(1)
    expect(stdout).toContain('stuck lease: a, held by w7@testhost (pid 41) for 11m, "repair"\n')
    expect((await checked(world, '--stuck-after 12m')).exit).toBe(0)
  })

  test.each([
    ['--warn-overdue 20', '--crit-overdue'],
    ['--warn-stuck 3 --crit-stuck 2', '--crit-stuck'],
    ['--warn-unreadable 3 --crit-unreadable 2', '--crit-unreadable'],
    ['--warn-failed 20', '--crit-failed'],
    ['--warn-abandoned 20', '--crit-abandoned'],
    ['--warn-waiting 2h --crit-waiting 1h', '--crit-waiting'],
    ['--warn-lag 5m --crit-lag 1m', '--crit-lag'],
  ])('%s: a warning that could never occur is refused', async (line, flag) => {
    const { exit, stdout } = await checked(await troubled(), line)
    expect(exit).toBe(3)
    expect(stdout).toMatch(/^LEASECTL UNKNOWN - .*\[usage\]\nhint: /)
    expect(stdout).toContain(flag)
  })
})

describe('failures and silent workers', () => {
  const exec = (world: World, stream: string, event: string, ...rest: string[]) =>
    cli(world, ['event', ...rest.slice(0, 1), stream, event, ...rest.slice(1)])

  test('--warn-failed and --crit-failed, --warn-abandoned and --crit-abandoned decide the exit code', async () => {
    const world = newWorld()
    await cli(world, ['init', 'orders/1', '--fork', 'Pay'])
    await exec(world, 'orders/1', '01.00', 'fail', '-m', 'gateway: 503')
    expect((await checked(world, '--warn-failed 2')).exit).toBe(0)
    expect((await checked(world, '--crit-failed 1')).exit).toBe(2)
    await cli(world, ['ack', 'orders/1', '-m', 'known'])
    await cli(world, ['init', 'orders/2', '--fork', 'Pay'])
    await exec(world, 'orders/2', '01.00', 'start', '--owner', 'w1', '--claim', '60s')
    world.nowMs += 40 * 60_000
    expect((await checked(world)).exit).toBe(1)
    expect((await checked(world, '--warn-abandoned 2')).exit).toBe(0)
    expect((await checked(world, '--crit-abandoned 1')).exit).toBe(2)
    const { stdout } = await checked(world, '-o prometheus')
    expect(stdout).toMatch(/^leasectl_check_abandoned_streams\{.*\} 1$/m)
    expect(stdout).toMatch(/^leasectl_check_abandoned_oldest_seconds\{.*\} 2340$/m)
    expect(stdout).toMatch(/^leasectl_check_failed_streams\{.*\} 0$/m)
  })

  test('An unacknowledged failure is a warning for a day, then only a figure.', async () => {
    const world = newWorld()
    await cli(world, ['init', 'orders/1', '--fork', 'Pay'])
    await exec(world, 'orders/1', '01.00', 'fail', '-m', 'gateway: 503')
    const { exit, stdout } = await checked(world)
    expect(exit).toBe(1)
    expect(stdout).toMatch(/^LEASECTL WARNING - 1 failed \(0s ago, orders\/1\), 1 stream, /)
    expect(stdout).toContain('\nfailed: orders/1 0s ago, Pay: gateway: 503\n')
    expect((await checked(world, '--warn-failed 2')).exit).toBe(0)
    world.nowMs += 25 * 3_600_000
    expect(await checked(world)).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining(', 1 unacknowledged failure in all'),
    })
    expect((await checked(world, '--failed-since 2d')).exit).toBe(1)
  })

  test('A worker that falls silent is a warning a minute after the end of its claim.', async () => {
    const world = newWorld()
    await cli(world, ['init', 'orders/1', '--fork', 'Pay'])
    await exec(world, 'orders/1', '01.00', 'start', '--claim', '1m', '--owner', 'pay@aks-9')
    world.nowMs += 119_000
    expect((await checked(world)).exit).toBe(0)
    world.nowMs += 1_000
    const { exit, stdout } = await checked(world)
    expect(exit).toBe(1)
    expect(stdout).toContain('\nabandoned: orders/1 for 1m, Pay by pay@aks-9\n')
    expect((await checked(world, '--crit-abandoned 1')).exit).toBe(2)
  })

  test('An event that no worker starts is a warning after a day, or after --warn-waiting.', async () => {
    const world = newWorld()
    await cli(world, ['init', 'orders/1', '--fork', 'Pay'])
    world.nowMs += 3_600_000
    expect((await checked(world)).exit).toBe(0)
    expect((await checked(world, '--warn-waiting 1h')).exit).toBe(1)
    expect((await checked(world, '--crit-waiting 1h')).exit).toBe(2)
    world.nowMs += 23 * 3_600_000
    const { exit, stdout } = await checked(world)
    expect(exit).toBe(1)
    expect(stdout).toContain('1 waiting for a worker (1d, orders/1)')
  })

  test('Prometheus and JSON have the work of each step.', async () => {
    const world = newWorld()
    await cli(world, ['init', 'orders/1', '--fork', 'Pay', '--fork', 'Ship'])
    await exec(world, 'orders/1', '02.00', 'start', '--claim', '1m')
    world.nowMs += 90_000
    const { stdout } = await checked(world, '-o prometheus')
    expect(stdout).toContain('leasectl_check_step_events{store="memory:",step="Pay",status="ready"} 1\n')
    expect(stdout).toContain('leasectl_check_step_events{store="memory:",step="Ship",status="abandoned"} 1\n')
    expect(stdout).toContain('leasectl_check_ready_oldest_seconds{store="memory:"} 90\n')
    expect(json((await checked(world, '-o json')).stdout)).toMatchObject({
      steps: [
        { step: 'Pay', ready: 1, running: 0, abandoned: 0, failed: 0 },
        { step: 'Ship', ready: 0, running: 0, abandoned: 1, failed: 0 },
      ],
      streams: { unacknowledged: 0 },
    })
  })

  test('Steps that look the same in a label are one series.', async () => {
    const world = newWorld()
    const long = 'A'.repeat(100)
    await cli(world, ['init', 'a', '--fork', `${long}1`, '--fork', `${long}2`])
    const { stdout } = await checked(world, '-o prometheus')
    const series = stdout.split('\n').filter(line => line.includes('step="A'))
    expect(series[0]).toBe(`leasectl_check_step_events{store="memory:",step="${long}",status="ready"} 2`)
    expect(series).toHaveLength(4)
  })
})

describe('a stream that another program left to settle', () => {
  /** Its root could close: the last branch was ended by a writer that closes no parents. */
  async function leftOpen() {
    const world = newWorld()
    const foreign = new ForeignWrites(world.store)
    await cli(world, ['init', 'orders/1', '--fork', 'A'])
    await foreign.end('orders/1', '01.00')
    return { world, foreign, store: foreign.store }
  }

  test('is a warning once it has been unsettled for the tolerance', async () => {
    const { world, store } = await leftOpen()
    expect((await checked(world, '', { store })).exit).toBe(0)
    world.nowMs += 60_000
    const { exit, stdout } = await checked(world, '', { store })
    expect(exit).toBe(1)
    expect(stdout).toMatch(/^LEASECTL WARNING - 1 stream to settle \(1m, orders\/1\), 1 stream, nothing overdue/)
    expect(json((await checked(world, '-o json', { store })).stdout)).toMatchObject({
      checks: expect.arrayContaining([
        expect.objectContaining({ name: 'watchdog', status: 'warning', faults: ['unsettled'] }),
      ]),
    })
    expect((await checked(world, '-o prometheus', { store })).stdout).toMatch(/^leasectl_check_unsettled_streams.* 1$/m)
  })

  test('is fine once a watchdog has settled it, and so is one that needs no settling', async () => {
    const { world, foreign, store } = await leftOpen()
    await cli(world, ['init', 'orders/2', '--fork', 'A'])
    await foreign.write('orders/2', ['name="A"', 'name="A" topic="t"'])
    world.nowMs += 60_000
    expect((await cli(world, ['watchdog', '--once'], { store })).exit).toBe(0)
    expect(await checked(world, '', { store })).toMatchObject({ exit: 0, stdout: expect.not.stringMatching(/settled/) })
  })
})

describe('watchdogs', () => {
  const ENTRY = { id: 'w1', host: 'host-3', pid: 77, intervalMs: 10_000, tookMs: 100, settings: {} }

  async function withState(...watchdogs: object[]): Promise<World> {
    const world = newWorld()
    await cli(world, ['init', 'a'])
    await createSystemDocument(world.store, WATCHDOG_STATE, JSON.stringify({ watchdogs }), { by: 'w' })
    return world
  }

  test('one that swept recently is fine', async () => {
    const world = await withState({ ...ENTRY, startedMs: NOON, writtenMs: NOON, lastSweepMs: NOON })
    world.nowMs += 4_000
    const { exit, stdout } = await checked(world)
    expect(exit).toBe(0)
    expect(stdout).toContain('last sweep 4s ago')
    expect(stdout).toContain(' watchdogs=1;;;0 lag=4s;40;160;0\n')
    world.nowMs += 300_000
    expect(await checked(world)).toMatchObject({ exit: 2, stdout: expect.stringContaining('no sweep for 5m4s') })
  })

  test('streams with a deadline outside every pattern are unwatched', async () => {
    const since = { startedMs: NOON, writtenMs: NOON, lastSweepMs: NOON }
    const of = (match: string) => ({ ...ENTRY, ...since, id: match, settings: { match } })
    const world = await withState(of('b/*'), of('c/*'))
    await cli(world, ['init', 'b/1', '--timeout', '1h'])
    expect((await checked(world)).exit).toBe(0)
    await cli(world, ['init', 'd/1', '--timeout', '1h'])
    const { exit, stdout } = await checked(world)
    expect(exit).toBe(1)
    expect(stdout).toMatch(/^LEASECTL WARNING - no watchdog for 1 stream with a time limit, such as d\/1, 3 streams, /)
  })

  test('a missing required watchdog is critical', async () => {
    const world = newWorld()
    await cli(world, ['init', 'a'])
    expect((await checked(world)).exit).toBe(0)
    expect(await checked(world, '--require-watchdog')).toMatchObject({
      exit: 2,
      stdout: expect.stringMatching(/^LEASECTL CRITICAL - no watchdog, 1 stream/),
    })
  })

  test('are included in JSON and metrics', async () => {
    const breaker = { isOpen: true, wouldEnd: 120, openEvents: 300, maxShare: 0.2 }
    const world = await withState({ ...ENTRY, startedMs: NOON, writtenMs: NOON, lastSweepMs: NOON, breaker })
    world.nowMs += 4_000
    expect(json((await checked(world, '-o json')).stdout)).toMatchObject({
      status: 'critical',
      exit: 2,
      watchdogs: [{ id: 'w1', lagMs: 4_000, breakerOpen: true, failure: null }],
    })
    const { stdout } = await checked(world, '-o prometheus')
    expect(stdout).toContain('leasectl_check_watchdog_lag_seconds{store="memory:"} 4\n')
    expect(stdout).toContain('leasectl_check_watchdog_breaker_open{store="memory:"} 1\n')
  })
})

describe('prometheus', () => {
  test('every line has the text format, with the store and the pattern in each sample', async () => {
    const { exit, stdout } = await checked(await troubled(), '-o prometheus --match orders/**')
    expect(exit).toBe(1)
    const lines = stdout.trimEnd().split('\n')
    for (const line of lines) {
      expect(line).toMatch(
        /^(# (HELP|TYPE) leasectl_check_\w+ .+|leasectl_check_\w+\{store="memory:",match="orders\/\*\*".*\} [\d.]+)$/,
      )
    }
    const names = lines.filter(line => line.startsWith('# TYPE')).map(line => line.split(' ')[2])
    expect(new Set(names).size).toBe(names.length)
    expect(stdout).toContain('leasectl_check_status{store="memory:",match="orders/**"} 1\n')
    expect(stdout).toContain('leasectl_check_overdue_oldest_seconds{store="memory:",match="orders/**"} 7200\n')
  })
})

describe('3, unknown: any reason that prevents the check, on stdout', () => {
  const failing = (store: StreamStore, fail: () => unknown): StreamStore =>
    storeWith(store, {
      // biome-ignore lint/correctness/useYield: it fails before its first page
      async *list() {
        throw fail()
      },
    })
  const away = () => new StoreUnreachable('no route | to the store', { hint: 'Is the network up?' })

  test.each<[string, string, () => unknown]>([
    ['store-unreachable', 'no route ¦ to the store', away],
    ['not-permitted', 'no rights', () => new NotPermitted('no rights')],
    ['unexpected', 'TypeError: nobody foresaw this', () => new TypeError('nobody foresaw this')],
  ])('%s', async (code, message, fail) => {
    const world = newWorld()
    const ran = await checked(world, '', { store: failing(world.store, fail) })
    expect(ran).toMatchObject({ exit: 3, stderr: '' })
    expect(ran.stdout.split('\n')[0]).toBe(`LEASECTL UNKNOWN - ${message} [${code}]`)
  })

  test.each([
    ['check --nix', "unknown option '--nix'"],
    ['check orders/1', 'too many arguments'],
    ['check --warn-overdue 0', '--warn-overdue does not take'],
    ['check --overdue-for 5', '--overdue-for: 5 has no unit: 5s'],
    ['check -o docx', '-o does not take'],
    ['-o docx check', '-o does not take'],
    ['--nix check', "unknown option '--nix'"],
  ])('bad usage: %s', async (line, message) => {
    const ran = await cli(newWorld(), line.split(' '))
    expect(ran).toMatchObject({ exit: 3, stderr: '' })
    expect(ran.stdout).toMatch(/^LEASECTL UNKNOWN - .*\[usage\]\n/)
    expect(ran.stdout).toContain(message)
  })

  test('-o json gives a document with the error', async () => {
    const world = newWorld()
    const ran = await checked(world, '-o json', { store: failing(world.store, away) })
    expect(ran).toMatchObject({ exit: 3, stderr: '' })
    expect(json(ran.stdout)).toMatchObject({
      apiVersion: 'leasectl/v1',
      status: 'unknown',
      exit: 3,
      store: 'memory:',
      checks: [],
      streams: null,
      error: { code: 'store-unreachable', exit: 3, hint: 'Is the network up?' },
    })
    expect(json((await checked(world, '-o json --nix')).stdout)).toMatchObject({
      status: 'unknown',
      error: { code: 'usage' },
    })
  })

  test('-o prometheus gives the status, and the reason in a comment', async () => {
    const world = newWorld()
    const ran = await checked(world, '-o prometheus --match a', { store: failing(world.store, away) })
    expect(ran).toMatchObject({ exit: 3, stderr: '' })
    expect(ran.stdout).toMatch(/^# unknown: no route \| to the store \[store-unreachable\]\n# HELP /)
    expect(ran.stdout).toContain('leasectl_check_status{store="memory:",match="a"} 3\n')
    expect(ran.stdout).not.toContain('leasectl_check_overdue_streams')
  })

  test('an embedded store without a file: a mistyped path is not healthy', async () => {
    const world = newWorld()
    const store = storeWith(world.store, { address: 'sqlite:/nowhere/leasectl.db' })
    const ran = await checked(world, '', { store })
    expect(ran).toMatchObject({ exit: 3, stderr: '' })
    expect(ran.stdout).toContain('sqlite:/nowhere/leasectl.db: the file does not exist')
  })

  test('a timeout, whether the store reacts to the signal or not', async () => {
    const world = newWorld()
    const silent = storeWith(world.store, {
      async *list() {
        await new Promise(() => {})
      },
    })
    const ran = await checked(world, '--within 1ms', { store: silent })
    expect(ran).toMatchObject({ exit: 3, stdout: 'LEASECTL UNKNOWN - no answer within 1ms (--within) [timed-out]\n' })
  })

  test('a store with an endless listing', async () => {
    const world = newWorld()
    await cli(world, ['init', 'a'])
    const endless = storeWith(world.store, {
      async *list() {
        for (;;) yield* world.store.list({})
      },
    })
    expect((await checked(world, '--within 20ms', { store: endless })).exit).toBe(3)
  })

  test('an interrupt', async () => {
    const world = newWorld()
    const ran = await checked(world, '', { signal: AbortSignal.abort('SIGINT') })
    expect(ran).toMatchObject({ exit: 3, stdout: 'LEASECTL UNKNOWN - interrupted [interrupted]\n', stderr: '' })
  })
})

test('a signal after the answer does not change its exit code', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a'])
  const interruption = new AbortController()
  const { runtime, written } = fakeRuntime(world, ['check'], { signal: interruption.signal })
  const write = async (chunk: string | Uint8Array) => {
    await runtime.stdout.write(chunk)
    interruption.abort('SIGTERM')
  }
  expect(await runCommandLine({ ...runtime, stdout: { ...runtime.stdout, write } })).toBe(0)
  expect(written.stdout).toMatch(/^LEASECTL OK/)
})

test('--help is not a failure', async () => {
  expect((await checked(newWorld(), '--help')).exit).toBe(0)
})

test('check only reads, and takes no lease', async () => {
  const world = await troubled()
  const calls = new Set<string>()
  const store = new Proxy(world.store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        calls.add(String(key))
        return value.apply(target, args)
      }
    },
  })
  await checked(world, '', { store })
  expect([...calls].sort()).toEqual(['list', 'nowMs', 'read'])
})
