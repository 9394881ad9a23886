import { describe, expect, test } from 'vitest'
import { registerStatus as register } from '../../../../src/commands/watchdog.ts'
import { changeSystemDocument } from '../../../../src/ops/system-documents.ts'
import { WATCHDOG_STATE } from '../../../../src/ops/watchdog-state/parse.ts'
import type { WatchdogEntry } from '../../../../src/ops/watchdog-state/state.ts'
import { StoreUnreachable, UnreadableBlob } from '../../../../src/store/errors.ts'
import { aWatchdog, failingWatchdog, writeState } from '../../watchdog/state/world.ts'
import { storeWith } from '../store-with.ts'
import { cli, json, NOON, newWorld, optionsFrom, type Setting, type World } from '../support.ts'

const status = (world: World, argv: readonly string[] = [], setting: Setting = {}) =>
  cli(world, ['watchdog', 'status', ...argv], setting)

async function withWatchdogs(...entries: readonly WatchdogEntry[]): Promise<World> {
  const world = newWorld()
  await writeState(world.store, entries)
  return world
}

test('argv → options', async () => {
  expect(await optionsFrom(register, ['status'])).toEqual({})
  expect(await optionsFrom(register, ['status', '-o', 'json', '-q'])).toEqual({ output: 'json', quiet: true })
  expect(await optionsFrom(register, ['status', '-w'])).toEqual({ watch: true })
  await expect(optionsFrom(register, ['status', '-o', 'ndjson'])).rejects.toThrow('-o does not take "ndjson"')
})

test('each watchdog is shown with its last sweep, its next deadline, and its last decisions', async () => {
  const second = { id: 'w2', host: 'aks-4', pid: 7, shards: { held: [3, 4, 6, 7], total: 8 }, decisions: [] }
  const next = [
    { stream: 'orders/4712', dueMs: NOON + 64_000 },
    { stream: 'orders/9', dueMs: NOON - 2_000 },
  ]
  const stopped = aWatchdog(NOON, { id: 'w0', host: 'old', stoppedMs: NOON - 3_000, startedMs: 0, shards: undefined })
  const world = await withWatchdogs(stopped, aWatchdog(NOON), aWatchdog(NOON, { ...second, next }))
  const ran = await status(world)
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  expect(ran.stdout.split('\n')).toEqual([
    'STATE      HOST   PID  EVERY  LAST SWEEP   TOOK  WATCHED  OVERDUE  ENDED  BREAKER  SHARDS',
    '● live     aks-3   41    10s      4s ago  120ms     5012        1      2  closed   0-2,5 of 8',
    '● live     aks-4    7    10s      4s ago  120ms     5012        1      2  closed   3-4,6-7 of 8',
    '○ stopped  old     41    10s      4s ago  120ms     5012        1      2  closed   all',
    '',
    'ends next',
    'DUE         STREAM',
    'overdue 2s  orders/9',
    'in 1m4s     orders/4712',
    '',
    'decided last',
    '   WHEN  OUTCOME  STREAM       EVENT  LIMIT             LATE',
    ' 4s ago  ended    orders/4711  01.00  no-sign-of-life  140ms',
    ' 4s ago  ended    orders/4711  01.00  no-sign-of-life  140ms',
    '50s ago  settled  orders/old   -      -                    -',
    '50s ago  settled  orders/old   -      -                    -',
    '',
  ])
})

test('a watchdog that has just started has no sweep yet', async () => {
  const { startedMs, ...more } = aWatchdog(NOON)
  const nothing = { lastSweepMs: undefined, lastPass: undefined, breaker: undefined, shards: undefined, decisions: [] }
  const world = await withWatchdogs({
    ...more,
    ...nothing,
    startedMs,
    tookMs: 0,
    next: [],
    totals: { passes: 0, failed: 0, ended: 0 },
  })
  expect((await status(world)).stdout.split('\n').slice(1)).toEqual([
    '● live  aks-3   41    10s           -     -        -        -      0  closed   all',
    '',
  ])
})

test('a watchdog is live, late or silent depending on its last write', async () => {
  const world = await withWatchdogs(aWatchdog(NOON))
  const stateAfter = async (ms: number) => {
    world.nowMs = NOON - 4_000 + ms
    const { stdout, stderr } = await status(world, ['-o', 'json'])
    const [item] = json(stdout).items as { state: string }[]
    return [item?.state, stderr]
  }
  expect(await stateAfter(40_000)).toEqual(['live', ''])
  expect(await stateAfter(41_000)).toEqual(['late', ''])
  expect(await stateAfter(161_000)).toEqual(['silent', 'no watchdog is running; start one: leasectl watchdog\n'])
  expect((await status(world)).stdout).toMatch(/^✗ silent .* closed {3}-$/m)
})

describe('problems', () => {
  test('include failing passes, and since when', async () => {
    const { stdout } = await status(await withWatchdogs(failingWatchdog(NOON)))
    expect(stdout).toContain('! failing  aks-3   42')
    expect(stdout).toMatch(/\n\n! aks-3:42: no pass has completed for 2m: no right to list \[not-permitted\]\n$/)
    const utc = await status(await withWatchdogs(failingWatchdog(NOON)), ['--time', 'utc'])
    expect(utc.stdout).toContain('no pass has completed since 11:58:00Z')
  })

  test('include an open circuit breaker', async () => {
    const breaker = { isOpen: true, wouldEnd: 2_400, openEvents: 9_000, maxShare: 0.2 }
    const { stdout } = await status(await withWatchdogs(aWatchdog(NOON, { breaker })))
    expect(stdout).toMatch(/ 2 {2}! open /)
    expect(stdout).toContain(
      '! aks-3:41: circuit breaker open, nothing is ended: a pass would end 2400 of 9000 open events, limit 20%',
    )
  })

  test('exclude those of a stopped watchdog', async () => {
    const { stdout } = await status(await withWatchdogs(failingWatchdog(NOON, { stoppedMs: NOON })))
    expect(stdout).toContain('○ stopped')
    expect(stdout).not.toContain('no right to list')
  })

  test('include watchdogs with different numbers of shards, which share no work', async () => {
    const other = aWatchdog(NOON, { id: 'w2', shards: { held: [0], total: 4 } })
    const world = await withWatchdogs(aWatchdog(NOON), other, aWatchdog(NOON, { id: 'w3', shards: undefined }))
    expect((await status(world)).stderr).toBe(
      'these watchdogs do not share work, because their --shards differ: no --shards, --shards 4, --shards 8\n',
    )
  })

  test('include a foreign document, which no reader replaces', async () => {
    const world = newWorld()
    const garbage = () => '{"watchdogs":[{"id":7}]}'
    await changeSystemDocument(world.store, WATCHDOG_STATE, garbage, { by: 'x', purpose: 'test' })
    const ran = await status(world)
    expect(ran.exit).toBe(0)
    expect(ran.stderr).toContain('.leasectl/watchdog/state.json is damaged')
    expect(json((await status(world, ['-o', 'json'])).stdout)).toEqual({
      apiVersion: 'leasectl/v1',
      items: [],
      damaged: true,
    })
  })

  test('include an unreadable record, with which no watchdog is known', async () => {
    const world = newWorld()
    const fault = { what: 'its blob is in the archive tier', hint: 'Rehydrate it.' }
    const read = () => Promise.reject(new UnreadableBlob(WATCHDOG_STATE, 'blob-archived', fault))
    const ran = await status({ ...world, store: storeWith(world.store, { read }) })
    expect(ran).toMatchObject({
      exit: 0,
      stderr: '.leasectl/watchdog/state.json cannot be read: its blob is in the archive tier\n',
    })
  })
})

test('without any watchdog: the header, an empty list, and how to start one', async () => {
  const ran = await status(newWorld())
  expect(ran).toMatchObject({
    exit: 0,
    stderr: 'no watchdog has written its state in memory:; start one: leasectl watchdog\n',
  })
  expect(ran.stdout).toMatch(/^STATE {2}HOST .*SHARDS\n$/)
  expect(json((await status(newWorld(), ['-o', 'json'])).stdout)).toMatchObject({ items: [], damaged: false })
  expect((await status(newWorld(), ['-q'])).stderr).toBe('')
})

test('-o json has all fields, with times in RFC 3339', async () => {
  const { stdout } = await status(await withWatchdogs(aWatchdog(NOON)), ['-o', 'json'])
  expect(json(stdout)).toMatchObject({
    items: [
      {
        id: 'w1',
        state: 'live',
        written: '2026-03-01T11:59:56.000Z',
        stopped: null,
        settings: { match: null, onDue: 'abort-event', maxPerPass: 1_000, maxShare: 0.2 },
        lastPass: { kind: 'sweep', watched: 5_012, outcomes: { ended: 2, 'showed-life': 1 } },
        decisions: [
          { stream: 'orders/4711', action: 'abort-event', outcome: 'ended', due: '2026-03-01T11:59:55.000Z' },
          { stream: 'orders/old', action: 'settle', event: null, limit: null, due: null },
        ],
        next: [{ stream: 'orders/4712', due: '2026-03-01T12:01:05.000Z' }],
        shards: { held: [0, 1, 2, 5], total: 8 },
        failure: null,
      },
    ],
  })
})

test('a narrow terminal drops columns, but not problems', async () => {
  const { stdout } = await status(await withWatchdogs(failingWatchdog(NOON)), [], {
    columns: 64,
    env: { NO_COLOR: '1' },
  })
  const [header = '', row = ''] = stdout.split('\n')
  expect(header).not.toContain('TOOK')
  expect(row).toContain('! failing')
})

test('a store that does not answer is an error', async () => {
  const world = newWorld()
  const store = storeWith(world.store, {
    read: async () => {
      throw new StoreUnreachable('no answer')
    },
  })
  expect(await status(world, [], { store })).toMatchObject({ exit: 9, stdout: '' })
})

describe('-w', () => {
  test('redraws until Ctrl-C', async () => {
    const world = await withWatchdogs(aWatchdog(NOON))
    const stop = new AbortController()
    const frames: (readonly string[])[] = []
    const live = {
      height: 20,
      draw: (lines: readonly string[]) => {
        frames.push(lines)
        stop.abort('SIGINT')
      },
      close: async () => {},
    }
    const ran = await status(world, ['-w'], { columns: 100, env: { NO_COLOR: '1' }, live, signal: stop.signal })
    expect(ran.exit).toBe(130)
    expect(frames[0]?.[0]).toMatch(/^1 watchdog · memory: · /)
    expect(frames[0]?.[2]).toMatch(/^● live {2}aks-3/)
    expect(frames[0]).toContain('decided last')
  })

  test('needs a terminal and its own format', async () => {
    expect(await status(newWorld(), ['-w'])).toMatchObject({ exit: 2, stdout: '' })
    expect(await status(newWorld(), ['-w', '-o', 'json'], { columns: 80 })).toMatchObject({ exit: 2, stdout: '' })
  })
})
