import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { register } from '../../../src/commands/show.ts'
import { badStream } from './bad-stream.ts'
import { bodyOf, cli, json, newWorld, optionsFrom, type Ran, type World } from './support.ts'

test('argv → options', async () => {
  expect(await optionsFrom(register, ['show', 'a', 'b', '-o', 'yaml', '--time', 'utc'])).toEqual({
    streams: ['a', 'b'],
    output: 'yaml',
    time: 'utc',
  })
  const history = ['show', 'a', '--at', 'v12', '--diff', '30m', '--select', 'Event', '--must', '-w', '--interval', '3s']
  expect(await optionsFrom(register, history)).toEqual({
    streams: ['a'],
    at: { kind: 'version', version: 12 },
    diff: { kind: 'ago', ms: 1_800_000 },
    select: 'Event',
    must: true,
    watch: true,
    interval: 3_000,
  })
})

/** The example of the format: threads, a nested fork, a failure, a waiting join. */
async function searchOrder(): Promise<World> {
  const world = newWorld()
  const run = async (line: string) => {
    const ran = await cli(world, line.split(' '))
    if (ran.exit !== 0) throw new Error(ran.stderr)
  }
  await run('init orders/4711 --root SearchOrder --fork SearchStart,SearchStart --join OrderDone --timeout 10m')
  await run('event advance orders/4711 01.00 --next SearchDone')
  await run('event advance orders/4711 01.01 --fork Search,Search --timeout 1m')
  world.nowMs += 34_000
  await run('event start orders/4711 01.01.00 --owner worker-7')
  await run('event fail orders/4711 02.00 -m no-answer')
  world.nowMs += 30_000
  return world
}

test('the tree has lines, glyph and word, owner, age, due, waiting-on, failures with their message', async () => {
  const ran = await cli(await searchOrder(), ['show', 'orders/4711'])
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  expect(ran.stdout.split('\n')).toEqual([
    'orders/4711  v5',
    '▶ inprocess  1m4s  waits on 01.01.00 01.02.00  overdue 4s  ✗ 1',
    '',
    'EVENT                    STATUS       OWNER                 AGE  DUE',
    '▾ 00 SearchOrder         ▶ inprocess  -                    1m4s  in 8m56s',
    '├─▾ 01.00 SearchStart    ▶ inprocess  -                    1m4s  -',
    '│ └─▾ 01.01 SearchDone   ▶ inprocess  -                    1m4s  -',
    '│   ├─  01.01.00 Search  ▶ inprocess  worker-7 (30s left)  1m4s  in 30s',
    '│   └─  01.02.00 Search  ○ init       -                    1m4s  overdue 4s',
    '├─  02.00 SearchStart    ✗ aborted    -                    1m4s  -',
    '└─  01 OrderDone         ◷ waiting    -                    1m4s  -',
    '',
    'Failures',
    '  ✗ aborted  02.00 SearchStart, 30s ago: no-answer',
    '',
  ])
})

describe('OWNER shows how long the claim holds', () => {
  async function claimed(): Promise<World> {
    const world = newWorld()
    await cli(world, ['init', 's', '--timeout', '2h'])
    await cli(world, ['event', 'start', 's', '00', '--owner', 'w1', '--claim', '1m'])
    world.nowMs += 15_000
    return world
  }
  const row = (ran: Ran) => ran.stdout.split('\n').find(line => line.includes('00 Start'))

  test('until its end, and how long ago it expired', async () => {
    const world = await claimed()
    expect(row(await cli(world, ['show', 's']))).toMatch(/ {2}w1 \(45s left\) {2}.* {2}in 1h59m$/)
    expect(row(await cli(world, ['show', 's', '-o', 'table', '--time', 'utc']))).toContain('w1 (until 12:01:00Z)')
    world.nowMs += 57_000
    expect(row(await cli(world, ['show', 's', '-o', 'table']))).toContain('w1 (ran out 12s ago)')
    expect(row(await cli(world, ['show', 's', '--time', 'utc']))).toContain('w1 (ran out 12:01:00Z)')
    expect(row(await cli(world, ['show', 's', '--color', 'always']))).toContain('\u001b[33mw1 (ran out 12s ago)')
  })

  test('without an end for an earlier version', async () => {
    const ran = await cli(await claimed(), ['show', 's', '--at', '2'])
    expect(row(ran)).toContain('  w1  ')
    expect(ran.stdout).not.toContain('left')
  })

  test('cut on a narrow terminal', async () => {
    const lines = (await cli(await claimed(), ['show', 's', '--color', 'never'], { columns: 60 })).stdout.split('\n')
    expect(lines.every(line => line.length <= 60)).toBe(true)
    expect(lines.find(line => line.includes('00 Start'))).toContain('w1 (')
  })
})

test('--at accepts a time with "ago", as documented in the help', async () => {
  expect(await optionsFrom(register, ['show', 'a', '--at', '30m ago'])).toMatchObject({
    at: { kind: 'ago', ms: 1_800_000 },
  })
})

test('colors show the status on a terminal, with --color always anywhere, never with --color never', async () => {
  const world = await searchOrder()
  const escapes = (text: string) => text.includes('\u001b[36m▶ inprocess\u001b[39m')
  expect(escapes((await cli(world, ['show', 'orders/4711'], { columns: 120 })).stdout)).toBe(true)
  expect(escapes((await cli(world, ['show', 'orders/4711', '--color', 'always'])).stdout)).toBe(true)
  expect((await cli(world, ['show', 'orders/4711', '--color', 'never'], { columns: 120 })).stdout).not.toContain(
    '\u001b',
  )
  expect((await cli(world, ['show', 'orders/4711', '-o', 'json', '--color', 'always'])).stdout).not.toContain('\u001b')
})

test('lines are cut to the width of a terminal, and only there', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--root', 'R'.repeat(200)])
  expect((await cli(world, ['show', 's'])).stdout).toContain('R'.repeat(200))
  const rows = (await cli(world, ['show', 's'], { columns: 60 })).stdout.split('\n').slice(2)
  expect(rows.every(row => row.replace(/\u001b\[\d+m/g, '').length <= 60)).toBe(true)
})

test('-o json has fields, states and times', async () => {
  const world = await searchOrder()
  const shown = json((await cli(world, ['show', 'orders/4711', '-o', 'json'])).stdout)
  expect(shown).toMatchObject({
    apiVersion: 'leasectl/v1',
    name: 'orders/4711',
    status: 'inprocess',
    version: 5,
    done: false,
    outcome: 'errors',
    due: '2026-03-01T12:01:00.000Z',
    waitingOn: ['01.01.00', '01.02.00'],
    lease: { state: 'available', holder: null },
  })
  const events = shown.events as Record<string, unknown>[]
  expect(Object.fromEntries(events.map(({ id, state }) => [id, state]))).toEqual({
    '00': 'waiting',
    '01.00': 'waiting',
    '02.00': 'aborted',
    '01': 'waiting',
    '01.01': 'waiting',
    '01.01.00': 'running',
    '01.02.00': 'overdue',
  })
  expect(events.find(({ id }) => id === '01.01.00')).toMatchObject({
    name: 'Search',
    status: 'inprocess',
    prev: '01.01',
    next: [],
    created: '2026-03-01T12:00:00.000Z',
    timestamp: '2026-03-01T12:00:34.000Z',
    timeout: '00:01:00',
    due: '2026-03-01T12:01:34.000Z',
    owner: 'worker-7',
    fence: 4,
    until: '2026-03-01T12:01:34.000Z',
    attempt: 1,
  })
})

test('an init event is ready, in a held stream init', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a', '--fork', 'A'])
  await cli(world, ['init', 'b', '--fork', 'A', '--hold'])
  const states = async (name: string) => {
    const { events } = json((await cli(world, ['show', name, '-o', 'json'])).stdout) as { events: { state: string }[] }
    return events.map(({ state }) => state)
  }
  expect(await states('a')).toEqual(['waiting', 'ready'])
  expect(await states('b')).toEqual(['ready', 'init'])
})

test('-o yaml equals -o json, also for readers of YAML 1.1', async () => {
  const world = await searchOrder()
  const yaml = (await cli(world, ['show', 'orders/4711', '-o', 'yaml'])).stdout
  const wanted = json((await cli(world, ['show', 'orders/4711', '-o', 'json'])).stdout)
  expect(parse(yaml)).toEqual(wanted)
  expect(parse(yaml, { version: '1.1' })).toEqual(wanted)
})

test('-o xml is the stored document, byte by byte', async () => {
  const world = await searchOrder()
  expect((await cli(world, ['show', 'orders/4711', '-o', 'xml'])).stdout).toBe(await bodyOf(world, 'orders/4711'))
  expect((await cli(world, ['show', 'orders/4711', 'orders/4711', '-o', 'xml'])).exit).toBe(0)
  await cli(world, ['init', 'b'])
  expect((await cli(world, ['show', 'orders/4711', 'b', '-o', 'xml'])).exit).toBe(2)
})

test('several streams are printed in sequence; as JSON they are items; a missing one is exit 3 and nothing is printed', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a'])
  await cli(world, ['init', 'b'])
  expect((await cli(world, ['show', 'a', 'b'])).stdout).toMatch(/^a {2}v1\n[\s\S]*\n\nb {2}v1\n/)
  expect(json((await cli(world, ['show', 'a', 'b', '-o', 'json'])).stdout)).toMatchObject({
    items: [{ name: 'a' }, { name: 'b' }],
  })
  const ran = await cli(world, ['show', 'a', 'nix'])
  expect(ran).toMatchObject({ exit: 3, stdout: '' })
  expect(ran.stderr).toContain('[stream-not-found]')
})

test('-o timeline and -o mermaid work for several streams too', async () => {
  const world = await searchOrder()
  await cli(world, ['init', 'b'])
  const timeline = (await cli(world, ['show', 'orders/4711', 'b', '-o', 'timeline'])).stdout
  expect(timeline).toMatch(/^orders\/4711 {2}v5\n/)
  expect(timeline).toMatch(/02\.00 SearchStart +░+✗ +✗ aborted +34s +-$/m)
  expect(timeline).toMatch(/\n\nb {2}v1\n/)
  const one = (await cli(world, ['show', 'orders/4711', '-o', 'mermaid', '--color', 'always'])).stdout
  expect(one).toMatch(/^flowchart TD\n/)
  expect(one).toContain('["02.00 SearchStart<br/>#10007; aborted"]:::aborted')
  const both = (await cli(world, ['show', 'orders/4711', 'b', '-o', 'mermaid'])).stdout
  expect(both.match(/flowchart TD/g)).toHaveLength(1)
  expect(both).toContain('  subgraph s1["b v1"]')
  await cli(world, ['init', 'c', '--fork', Array.from({ length: 501 }, () => 'A').join(',')])
  const large = await cli(world, ['show', 'c', '-o', 'mermaid'])
  expect(large).toMatchObject({ exit: 0, stderr: expect.stringContaining('501 arrows') })
})

test('an unreadable document is exit 12 and unchanged', async () => {
  const world = newWorld()
  await badStream(world, 'bad')
  const ran = await cli(world, ['show', 'bad'])
  expect(ran).toMatchObject({ exit: 12, stdout: '' })
  expect(ran.stderr).toMatch(/line 1, column \d+.*\[bad-document\]/)
  expect((await cli(world, ['cancel', 'bad'])).exit).toBe(12)
  expect(await bodyOf(world, 'bad')).toBe('<EventStream><Event')
})

test('an unreadable stream is reported beside the others, which are shown: exit 12', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a'])
  await cli(world, ['init', 'c'])
  await badStream(world, 'b1')
  const one = await cli(world, ['show', 'a', 'b1', 'c'])
  expect(one.exit).toBe(12)
  expect(one.stdout).toMatch(/^a {2}v1\n[\s\S]*\n\nc {2}v1\n/)
  expect(one.stderr).toMatch(/^error: b1: line 1, column \d+: /)
  await badStream(world, 'b2')
  const two = await cli(world, ['show', 'a', 'b1', 'b2', '-o', 'json'])
  expect(two.exit).toBe(12)
  expect(json(two.stdout)).toMatchObject({ items: [{ name: 'a' }] })
  const errors = two.stderr
    .trimEnd()
    .split('\n')
    .map(line => json(line).error as Record<string, unknown>)
  expect(errors).toMatchObject([
    { code: 'bad-document', stream: 'b1' },
    { code: 'bad-document', stream: 'b2' },
    { code: 'bad-document', exit: 12, message: '2 of 3 streams cannot be read' },
  ])
  expect((await cli(world, ['show', 'b1', 'nix'])).exit).toBe(3)
})

test.each([
  [['--interval', '1s'], '--interval needs -w'],
  [['--must'], '--must needs --select'],
])('%j is exit 2', async (argv, says) => {
  const ran = await cli(await searchOrder(), ['show', 'orders/4711', ...argv])
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain(says)
})

test('--time shows clock times', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  expect((await cli(world, ['show', 's', '--time', 'utc'])).stdout).toContain('12:00:00Z')
  expect((await cli(world, ['show', 's', '--time', 'iso'])).stdout).toContain('2026-03-01T12:00:00.000Z')
})

test.each(['tree', 'table', 'timeline', 'mermaid', 'json', 'yaml'])(
  'no control character of a text reaches the terminal: -o %s, now, before, selected, and in a diff',
  async format => {
    const world = newWorld()
    const hostile = '\u009b31m\u202e\u2028\n\u007f'
    await cli(world, ['init', 's', '--root', hostile, '--fork', hostile, '--by', hostile, '-m', hostile])
    await cli(world, ['event', 'start', 's', '01.00', '--owner', hostile, '--by', hostile])
    await cli(world, ['event', 'fail', 's', '01.00', '--owner', hostile, '-m', hostile, '--by', hostile])
    const lines = [
      '',
      '--at 2',
      '--select Event',
      '--select Event/@name',
      ...(['timeline', 'mermaid'].includes(format) ? [] : ['--diff 1']),
    ]
    for (const more of lines) {
      const ran = await cli(world, ['show', 's', '-o', format, ...more.split(' ').filter(word => word !== '')])
      expect(ran.exit, more).toBe(0)
      expect(ran.stdout, more).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028]/)
    }
  },
)

test('the attempts at an event keep their causes after a retry', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B'])
  await cli(world, ['event', 'start', 's', '01.00', '--owner', 'w1'])
  await cli(world, ['event', 'fail', 's', '01.00', '-m', 'FIRST', '--owner', 'w1', '--by', 'w1'])
  await cli(world, ['retry', 's', '--by', 'ana'])
  world.nowMs += 60_000
  expect((await cli(world, ['show', 's'])).stdout).toContain('Attempts\n  ✗ aborted  01.00 A #1, 1m ago by w1: FIRST\n')
  await cli(world, ['event', 'fail', 's', '01.00', '-m', 'SECOND', '--by', 'ana'])
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
  expect(events).toMatchObject([
    { id: '00', attempts: [] },
    {
      id: '01.00',
      attempts: [
        { attempt: 1, owner: 'w1', outcome: 'aborted', by: 'w1', message: 'FIRST', started: expect.any(String) },
        { attempt: 2, owner: null, outcome: 'aborted', by: 'ana', message: 'SECOND', started: null },
      ],
    },
    { id: '02.00', attempts: [] },
  ])
  const { events: before } = json((await cli(world, ['show', 's', '--at', '3', '-o', 'json'])).stdout)
  expect(before).toMatchObject([{}, { attempts: [{ outcome: 'aborted', message: 'FIRST' }] }, {}])
})

test('an event that nobody began and that ended with the one above lists no attempt', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A'])
  await cli(world, ['cancel', 's', '-m', 'withdrawn'])
  await cli(world, ['retry', 's', '--canceled'])
  const { stdout } = await cli(world, ['show', 's'])
  expect(stdout.slice(stdout.indexOf('Attempts'))).toBe(
    'Attempts\n  ⊘ canceled  00 Start #1, 0s ago by tester@testhost: withdrawn\n',
  )
})

test('a stream whose events were tried once lists no attempts', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A'])
  await cli(world, ['event', 'fail', 's', '01.00', '-m', 'no'])
  expect((await cli(world, ['show', 's'])).stdout).not.toContain('Attempts')
})

test('an acknowledgement is shown with its time, actor and reason', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B'])
  await cli(world, ['event', 'fail', 's', '01.00', '-m', 'no'])
  expect(json((await cli(world, ['show', 's', '-o', 'json'])).stdout)).toMatchObject({ acknowledgement: null })
  await cli(world, ['ack', 's', '-m', 'refunded', '--by', 'ana'])
  world.nowMs += 5_000
  expect((await cli(world, ['show', 's'])).stdout).toContain('  acknowledged 5s ago by ana: refunded\n')
  expect(json((await cli(world, ['show', 's', '-o', 'json'])).stdout)).toMatchObject({
    acknowledgement: { by: 'ana', why: 'refunded', at: '2026-03-01T12:00:00.000Z' },
  })
  await cli(world, ['event', 'fail', 's', '02.00', '-m', 'no'])
  expect((await cli(world, ['show', 's'])).stdout).toContain('by ana: refunded; 1 failure since\n')
})
