import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { versionOrTime } from '../../../../src/commands/show/options.ts'
import { summarize } from '../../../../src/stream/summarize.ts'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { cli, json, NOON, newWorld, type World } from '../support.ts'

/** Five versions, a minute between them: created, started, failed, retried, completed. */
const story = await (async (): Promise<World> => {
  const world = newWorld()
  const run = async (line: string) => {
    const ran = await cli(world, line.split(' '))
    if (ran.exit !== 0) throw new Error(ran.stderr)
    world.nowMs += 60_000
  }
  await run('init orders/1 --root Order --fork Search,Pay --join Done --timeout 30s')
  await run('event start orders/1 01.00 --owner worker-7')
  await run('event fail orders/1 01.00 --owner worker-7 -m no-answer')
  await run('retry orders/1 -e 01.00 -m again')
  await run('event complete orders/1 01.00 -m found')
  return world
})()

async function shown(world: World, ...argv: string[]) {
  const ran = await cli(world, ['show', 'orders/1', '--time', 'utc', ...argv])
  if (ran.exit !== 0) throw new Error(ran.stderr)
  return ran.stdout
}

describe('show --at VERSION', () => {
  test('shows the stream at that version, with its time and the fields that are of the present', async () => {
    const lines = (await shown(story, '--at', '3')).split('\n')
    expect(lines).toEqual([
      'orders/1  v3',
      '▶ inprocess  12:00:00Z  waits on 02.00  ✗ 1',
      'as of v3, 12:02:00Z; names, texts and limits as they are now',
      '',
      'EVENT             STATUS       OWNER    CREATED  DUE',
      '▾ 00 Order        ▶ inprocess  -      12:00:00Z  -',
      '├─  01.00 Search  ✗ aborted    -      12:00:00Z  -',
      '├─  02.00 Pay     ○ init       -      12:00:00Z  -',
      '└─  01 Done       ◷ waiting    -      12:00:00Z  -',
      '',
      'Failures',
      '  ✗ aborted  01.00 Search, 12:02:00Z: no-answer',
      '',
    ])
  })

  test('ages are those of then', async () => {
    const { stdout } = await cli(story, ['show', 'orders/1', '--at', 'v2'])
    expect(stdout).toContain('▶ inprocess  1m  waits on')
    expect(stdout).toMatch(/01\.00 Search {2}▶ inprocess {2}worker-7 +1m/)
    expect((await cli(story, ['show', 'orders/1', '--at', '3'])).stdout).toContain('Search, 0s before: no-answer')
  })

  test('as JSON has version and time, claims as known, no deadlines and lease, and the fields of the present', async () => {
    const text = await shown(story, '--at', '2', '-o', 'json')
    const stream = json(text)
    expect(stream).toMatchObject({
      name: 'orders/1',
      version: 2,
      at: '2026-03-01T12:01:00.000Z',
      status: 'inprocess',
      due: null,
      lease: null,
      waitingOn: ['01.00', '02.00'],
      asNow: expect.arrayContaining(['name', 'timeout']),
    })
    const events = stream.events as Record<string, unknown>[]
    expect(events.find(({ id }) => id === '01.00')).toMatchObject({
      status: 'inprocess',
      state: 'running',
      owner: 'worker-7',
      fence: 2,
      attempt: 1,
      until: null,
      due: null,
      msg: null,
    })
    expect(events.find(({ id }) => id === '01')).toMatchObject({ status: 'inprocess', state: 'waiting', join: 'wait' })
    expect(parse(await shown(story, '--at', '2', '-o', 'yaml'))).toEqual(stream)
  })

  test('is null in at for the present', async () => {
    expect(json(await shown(story, '-o', 'json'))).toMatchObject({ at: null, version: 5 })
  })

  test('works in every other format: table, timeline, mermaid', async () => {
    const world = story
    expect(await shown(world, '--at', '3', '-o', 'table')).toMatch(/^01\.00 Search {2}✗ aborted/m)
    expect(await shown(world, '--at', '3', '-o', 'timeline')).toMatch(/01\.00 Search {2}░+█+✗ {2}✗ aborted +1m +1m$/m)
    expect(await shown(world, '--at', '3', '-o', 'mermaid')).toContain('["01.00 Search<br/>#10007; aborted"]:::aborted')
  })

  test('refuses -o xml: the stored document exists only in its present state', async () => {
    const ran = await cli(story, ['show', 'orders/1', '--at', '3', '-o', 'xml'])
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain('only the current document is stored')
  })
})

describe('show --at TIME', () => {
  test('shows the version that was current then, with ages of then', async () => {
    const world = story
    expect((await shown(world, '--at', '2026-03-01T12:02:30Z')).split('\n').slice(0, 3)).toEqual([
      'orders/1  v3',
      '▶ inprocess  12:00:00Z  waits on 02.00  ✗ 1',
      'as of 12:02:30Z, v3 of 12:02:00Z; names, texts and limits as they are now',
    ])
    expect(json(await shown(world, '--at', '4m', '-o', 'json'))).toMatchObject({ version: 2 })
    expect(json(await shown(world, '--at', '2026-03-01T12:02:00Z', '-o', 'json'))).toMatchObject({ version: 3 })
  })

  test('in the future is exit 2', async () => {
    const ran = await cli(story, ['show', 'orders/1', '--at', '2099-01-01T00:00:00Z'])
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain('2099-01-01T00:00:00.000Z is in the future')
  })
})

describe('a version that does not exist is exit 3 and lists the existing ones', () => {
  test.each([
    ['99', 'never had version 99; it has versions 1 to 5, the first from 12:00:00Z'],
    ['0', 'never had version 0; it has versions 1 to 5'],
    ['2026-03-01T11:59:59Z', 'had no version at 11:59:59Z; it has versions 1 to 5, the first from 12:00:00Z'],
  ])('--at %s', async (at, says) => {
    const ran = await cli(story, ['show', 'orders/1', '--time', 'utc', '--at', at])
    expect(ran).toMatchObject({ exit: 3, stdout: '' })
    expect(ran.stderr).toContain(says)
    expect(ran.stderr).toContain('[version-not-found]')
  })

  test('for one of several streams: nothing is shown', async () => {
    const world = story
    await cli(world, ['init', 'b'])
    expect(await cli(world, ['show', 'orders/1', 'b', '--at', '3'])).toMatchObject({ exit: 3, stdout: '' })
    expect((await cli(world, ['show', 'orders/1', 'b', '--at', '1'])).stdout).toMatch(
      /^orders\/1 {2}v1\n[\s\S]*\n\nb {2}v1\n/,
    )
  })
})

describe('a document that another writer made', () => {
  const text =
    '<EventStream><Event id="00" name="Old" status="inprocess" created="2026-03-01T10:00:00Z" next="01"/>' +
    '<Event id="01" name="Step" status="init" created="2026-03-01T10:00:00Z" prev="00"/></EventStream>'

  async function theirs(): Promise<World> {
    const world = newWorld()
    const summary = summarize(readDocument(text), { nowMs: NOON, lastBy: '' })
    await world.store.create('old', Buffer.from(text), summary)
    return world
  }

  test('has no versions before the first write of leasectl', async () => {
    const ran = await cli(await theirs(), ['show', 'old', '--at', '1'])
    expect(ran).toMatchObject({ exit: 3, stdout: '' })
    expect(ran.stderr).toContain('it has none: leasectl has not written it yet')
  })

  test('has a history from its adoption on, and says so', async () => {
    const world = await theirs()
    world.nowMs += 60_000
    await cli(world, ['event', 'start', 'old', '01', '--owner', 'w'])
    const at = (point: string) => cli(world, ['show', 'old', '--time', 'utc', '--at', point])
    const adopted = await at('1')
    expect(adopted.stdout).toContain('as of v1, 12:01:00Z;')
    expect(adopted.stdout).toContain('; its history begins with its adoption, 12:01:00Z')
    expect(adopted.stdout).toMatch(/01 Step +○ init/)
    const before = await at('2026-03-01T11:00:00Z')
    expect(before.exit).toBe(3)
    expect(before.stderr).toContain(
      'the first from 12:01:00Z, when leasectl first wrote a stream made by another program',
    )
  })

  test('that was overwritten without a transaction has recorded versions only, without the unrecorded part', async () => {
    const world = story
    const stored = await world.store.read('orders/1')
    if (stored?.summary === undefined) throw new Error('no summary')
    const changed = Buffer.from(stored.body)
      .toString()
      .replace('status="init" id="02.00"', 'status="completed" id="02.00"')
    const other = newWorld()
    other.nowMs = world.nowMs
    await other.store.create('orders/1', Buffer.from(changed), stored.summary)
    expect(await shown(other)).toMatch(/02\.00 Pay +✓ completed/)
    expect(await shown(other, '--at', '5')).toMatch(/02\.00 Pay +○ init/)
  })
})

describe('a version or a time', () => {
  test.each([
    ['12', { kind: 'version', version: 12 }],
    ['v12', { kind: 'version', version: 12 }],
    ['30m', { kind: 'ago', ms: 1_800_000 }],
    ['14:00', { kind: 'today', hours: 14, minutes: 0, seconds: 0 }],
    ['2026-03-01T12:00:00Z', { kind: 'at', ms: NOON }],
  ])('%s', (text, point) => {
    expect(versionOrTime('--at')(text)).toEqual(point)
  })

  test.each(['soon', '', '-1', '1.5', 'v', '12:99'])('%j is refused', text => {
    expect(() => versionOrTime('--at')(text)).toThrow(/neither a version nor a time/)
  })
})
