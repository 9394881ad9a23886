import { describe, expect, test } from 'vitest'
import { register } from '../../../src/commands/stats.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { badStream } from './bad-stream.ts'
import { storeWith } from './store-with.ts'
import { cli, json, newWorld, optionsFrom, type Setting, type World } from './support.ts'

test('argv → options', async () => {
  const argv = ['stats', 'a', 'b', '--since', '1h', '--group-by', 'topic', '--sort', 'p95', '--limit', '3']
  expect(await optionsFrom(register, [...argv, '-o', 'ndjson'])).toEqual({
    names: ['a', 'b'],
    since: { kind: 'ago', ms: 3_600_000 },
    groupBy: 'topic',
    sort: 'p95',
    limit: 3,
    output: 'ndjson',
  })
})

/** `a`: Pay failed, was retried and completed. `b`: Pay runs, Search is ready. */
async function two(): Promise<World> {
  const world = newWorld()
  const then = async (afterS: number, ...argv: string[]) => {
    world.nowMs += afterS * 1_000
    const ran = await cli(world, argv)
    if (ran.exit !== 0) throw new Error(ran.stderr)
  }
  const fork = ['--fork', 'Pay,Search', '--root', 'Order']
  await then(0, 'init', 'a', ...fork)
  await then(5, 'event', 'start', 'a', '01.00', '--owner', 'w', '--claim', '1h')
  await then(40, 'event', 'fail', 'a', '01.00', '--owner', 'w', '-m', 'no answer')
  await then(60, 'retry', 'a', '-e', '01.00')
  await then(5, 'event', 'start', 'a', '01.00', '--owner', 'w', '--claim', '1h')
  await then(20, 'event', 'complete', 'a', '01.00', '--owner', 'w')
  await then(600, 'init', 'b', ...fork)
  await then(5, 'event', 'start', 'b', '01.00', '--owner', 'w', '--claim', '1h')
  world.nowMs += 1_000
  return world
}

/** Reading changes nothing: one world is enough. */
const played = two()
const shown = async (line: string, setting?: Setting) => cli(await played, ['stats', ...line.split(' ')], setting)

test('each step is a line, the most frequent first, and the totals are on stderr', async () => {
  expect(await shown('--all')).toMatchObject({
    exit: 0,
    stdout: [
      'STEP    EVENTS  TRIES  OPEN   FAILED  WAITED p50   p95  RAN p50  p95  p99  max  TOOK p50  p95  20s ──────────────── 40s',
      'Order        2      2     2        -           -     -        -    -    -    -         -    -',
      'Pay          2      3     1  1 (50%)        5.0s  5.0s      20s  40s  40s  40s       25s  45s  █                      █',
      'Search       2      2     2        -           -     -        -    -    -    -         -    -',
      '',
    ].join('\n'),
    stderr: '2 streams, 3 steps, 6 events; 1 of 2 ended tries failed (50%), 5 open\n',
  })
})

test('what was canceled is counted apart: it has not failed', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a', '--root', 'Order', '--fork', 'Pay'])
  await cli(world, ['cancel', 'a', '-m', 'customer withdrew'])
  const { stdout, stderr } = await cli(world, ['stats', '--all'])
  expect(stdout.replaceAll(/ +/g, ' ').split('\n').slice(0, 3)).toEqual([
    expect.stringMatching(/^STEP EVENTS TRIES OPEN FAILED CANCELED /),
    expect.stringMatching(/^Order 1 1 0 - 1 /),
    expect.stringMatching(/^Pay 1 1 0 - 1 /),
  ])
  expect(stderr).toBe('1 stream, 2 steps, 2 events; 0 of 2 ended tries failed, 2 canceled, 0 open\n')
  const { items } = json((await cli(world, ['stats', '--all', '-o', 'json'])).stdout)
  expect(items).toContainEqual(expect.objectContaining({ step: 'Pay', canceled: 1, failed: 0, failedShare: 0 }))
})

test('failures for a passing reason are counted, and are one try with what follows', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a', '--root', 'Order', '--fork', 'Pay', '--retries', '5', '--backoff', '1s..1s'])
  for (let at = 0; at < 2; at++) {
    await cli(world, ['event', 'start', 'a', '01.00', '--owner', 'w'])
    await cli(world, ['event', 'fail', 'a', '01.00', '--owner', 'w', '--transient', '-m', '503'])
    world.nowMs += 60_000
  }
  const table = (await cli(world, ['stats', '--all'])).stdout.replaceAll(/ +/g, ' ').split('\n')
  expect(table[0]).toMatch(/^STEP EVENTS TRIES OPEN FAILED TRANSIENT WAITED/)
  expect(table).toContainEqual(expect.stringMatching(/^Pay 1 1 1 - 2 /))
  const { items } = json((await cli(world, ['stats', '--all', '--since', '90s', '-o', 'json'])).stdout)
  expect(items).toEqual([expect.objectContaining({ step: 'Pay', events: 1, attempts: 0, transient: 1 })])
})

test('-q keeps the sentence, --sort and --limit change rows', async () => {
  const { stdout, stderr } = await shown('--all -q --sort p95 --limit 1')
  expect(stdout.split('\n')[1]).toMatch(/^Pay /)
  expect(stdout.trimEnd().split('\n')).toHaveLength(2)
  expect(stderr).toBe('')
  expect((await shown('--all --limit 1')).stderr).toMatch(/; showing 1 of 3 steps\n$/)
})

describe('the streams', () => {
  test('need a name, --since or a filter', async () => {
    const ran = await cli(await played, ['stats'])
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain('--since 1h')
    expect((await shown('a --all')).exit).toBe(2)
  })

  test('may be names, filters or a list', async () => {
    const events = async (line: string, setting?: Setting) =>
      json((await shown(`${line} -o json`, setting)).stdout).streams
    expect(await events('a')).toBe(1)
    expect(await events('--match *')).toBe(2)
    expect(await events('--failed')).toBe(0)
    expect(await events('--streams -', { stdin: 'b\n' })).toBe(1)
  })

  test('with --since have only attempts counted that ended since, and no open ones', async () => {
    const items = async (line: string) =>
      json((await shown(`${line} -o json`)).stdout).items as Record<string, unknown>[]
    // the failure is 11m31s old, the completion 10m6s
    expect(await items('--since 12m')).toMatchObject([{ step: 'Pay', events: 1, attempts: 2, failed: 1, open: null }])
    expect(await items('--since 11m')).toMatchObject([{ step: 'Pay', events: 1, attempts: 1, failed: 0, open: null }])
    expect(await items('a --since 1m')).toEqual([])
    const nothing = '1 stream, nothing ended since '
    expect((await shown('a --since 1m --time iso')).stderr).toBe(`${nothing}2026-03-01T12:11:16.000Z\n`)
    expect((await shown('a --since 1m')).stderr).toMatch(new RegExp(`^${nothing}\\d\\d:\\d\\d:\\d\\d\n$`))
    expect((await shown('--since 12m')).stdout).not.toContain('OPEN')
  })

  test('may match nothing without an error', async () => {
    expect(await shown('--match x[1]')).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^STEP +EVENTS/),
      stderr: 'nothing matches: none of 2 streams in memory:\n',
    })
    expect((await shown('--match nope/** -q')).stderr).toBe('')
    expect((await shown('--match nope/** --since 1m --time utc')).stderr).toBe(
      'nothing that matches ended since 12:11:16Z: none of 2 streams in memory:\n',
    )
  })
})

describe('JSON', () => {
  test('-o json is one document', async () => {
    const document = json((await shown('--all -o json --sort failures')).stdout)
    expect(document).toMatchObject({
      apiVersion: 'leasectl/v1',
      groupBy: 'name',
      since: null,
      total: 3,
      truncated: false,
      streams: 2,
      unreadable: 0,
    })
    expect((document.items as unknown[])[0]).toEqual({
      step: 'Pay',
      others: false,
      events: 2,
      attempts: 3,
      completed: 1,
      aborted: 1,
      canceled: 0,
      open: 1,
      failed: 1,
      transient: 0,
      failedShare: 0.5,
      waited: lengths(3, 5_000, 5_000, 5_000, [{ toMs: 5_000, count: 3 }]),
      ran: lengths(2, 20_000, 30_000, 40_000, expect.any(Array)),
      took: lengths(2, 25_000, 35_000, 45_000, [{ toMs: 50_000, count: 2 }]),
      slowest: { stream: 'a', event: '01.00', ranMs: 40_000 },
    })
  })

  test('-o ndjson is a line per step, with topics if requested', async () => {
    const { stdout } = await shown('--all -o ndjson --group-by topic')
    expect(stdout.trimEnd().split('\n').map(json)).toMatchObject([
      { apiVersion: 'leasectl/v1', groupBy: 'topic', step: null, others: false, events: 6 },
    ])
  })

  function lengths(count: number, minMs: number, meanMs: number, maxMs: number, histogram: unknown) {
    const any = expect.any(Number)
    return { count, minMs, meanMs, p50Ms: any, p95Ms: any, p99Ms: any, maxMs, histogram }
  }
})

describe('unreadable streams', () => {
  async function withBad(...names: readonly string[]): Promise<World> {
    const world = await two()
    for (const name of names) await badStream(world, name)
    return world
  }

  test('are reported and omitted, the rest is shown: exit 7', async () => {
    const ran = await cli(await withBad('bad'), ['stats', '--all'])
    expect(ran.exit).toBe(7)
    expect(ran.stdout).toContain('Pay ')
    expect(ran.stderr).toContain('1 of 3 streams could not be read')
    expect(ran.stderr).toMatch(/bad-document/)
  })

  test('are reported one by one only up to a limit', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `bad/${at}`)
    const { stderr } = await cli(await withBad(...names), ['stats', '--all'])
    expect(stderr.match(/\[bad-document\]/g)).toHaveLength(20)
    expect(stderr).toContain('bad/12 +25')
  })

  test('alone are an error of their own, and so is a missing name', async () => {
    expect(await cli(await withBad('bad'), ['stats', 'bad'])).toMatchObject({ exit: 12, stdout: '' })
    const missing = await shown('a nix other')
    expect(missing).toMatchObject({ exit: 3, stdout: '' })
    expect(missing.stderr).toContain('there is no stream other')
  })

  test('are reported as JSON with -o json', async () => {
    const { stderr } = await cli(await withBad('bad'), ['stats', '--all', '-o', 'json', '-q'])
    expect(stderr.trimEnd().split('\n').map(json)).toMatchObject([
      { error: { code: 'bad-document', stream: 'bad' } },
      { error: { code: 'batch-incomplete', exit: 7 } },
    ])
  })
})

describe('during the command', () => {
  const replaced = (store: StreamStore, methods: Partial<StreamStore>) => storeWith(store, methods)

  test('a stream that is removed is skipped', async () => {
    const { store } = await played
    const vanishing = replaced(store, {
      read: async (name, signal) => (name === 'a' ? undefined : store.read(name, signal)),
    })
    const ran = await shown('--all', { store: vanishing })
    expect(ran.exit).toBe(0)
    expect(ran.stderr).toMatch(/^1 stream,/)
  })

  test('Ctrl-C ends it, and no partial result is printed', async () => {
    const interruption = new AbortController()
    const { store } = await played
    const endless = replaced(store, {
      async *list() {
        for (let page = 0; ; page++) {
          if (page > 50) interruption.abort('SIGINT')
          yield* store.list({})
        }
      },
    })
    expect(await shown('--all', { store: endless, signal: interruption.signal })).toMatchObject({
      exit: 130,
      stdout: '',
    })
  })
})
