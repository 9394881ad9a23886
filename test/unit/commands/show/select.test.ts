import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { badStream } from '../bad-stream.ts'
import { cli, json, newWorld, type World } from '../support.ts'

const world = await (async (): Promise<World> => {
  const made = newWorld()
  const run = async (line: string) => {
    const ran = await cli(made, line.split(' '))
    if (ran.exit !== 0) throw new Error(ran.stderr)
    made.nowMs += 60_000
  }
  await run('init a --root Order --fork Search,Pay --join Done')
  await run('event start a 01.00 --owner worker-7 --claim 1h')
  await run('init b --root Order --fork Search')
  await run('event fail b 01.00 -m no-answer')
  return made
})()

const show = (...argv: string[]) => cli(world, ['show', ...argv])

describe('show --select', () => {
  test('prints the matching events as a table, without the rest of the tree', async () => {
    const ran = await show('a', '--select', "./Event[@status='init']", '--time', 'utc')
    expect(ran).toMatchObject({ exit: 0, stderr: '' })
    expect(ran.stdout.split('\n')).toEqual([
      'a  v2',
      '▶ inprocess  12:00:00Z  waits on 01.00 02.00',
      '',
      'EVENT      STATUS  OWNER    CREATED  DUE',
      '02.00 Pay  ○ init  -      12:00:00Z  -',
      '',
    ])
  })

  test('prints a number, a text or a boolean alone', async () => {
    expect((await show('a', '--select', 'count(//Event)')).stdout).toBe('4\n')
    expect((await show('a', '--select', "Event[@id='01.00']/@lc:owner")).stdout).toBe('worker-7\n')
    expect((await show('a', '--select', 'Event/@id')).stdout).toBe('00\n01.00\n02.00\n01\n')
    expect((await show('a', '--select', "not(Event[@status='aborted'])")).stdout).toBe('true\n')
  })

  test('of several streams prints matches for each; values after the name of their stream', async () => {
    const events = await show('a', 'b', '--select', "Event[@name='Search']")
    expect(events.stdout).toMatch(
      /^a {2}v2\n[\s\S]*01\.00 Search +▶ inprocess[\s\S]*\n\nb {2}v2\n[\s\S]*01\.00 Search +✗ aborted/,
    )
    expect((await show('a', 'b', '--select', 'count(Event)')).stdout).toBe('a\t4\nb\t2\n')
  })

  test('as JSON and YAML prints events or values, the other is null', async () => {
    const events = await show('a', '--select', "Event[@status='init']", '-o', 'json')
    expect(json(events.stdout)).toEqual({
      apiVersion: 'leasectl/v1',
      name: 'a',
      version: 2,
      at: null,
      asNow: [],
      events: [expect.objectContaining({ id: '02.00', status: 'init', state: 'ready', prev: '00' })],
      values: null,
    })
    const values = await show('a', 'b', '--select', 'count(Event)', '-o', 'json')
    expect(json(values.stdout)).toMatchObject({
      items: [
        { name: 'a', events: null, values: [4] },
        { name: 'b', events: null, values: [2] },
      ],
    })
    expect(parse((await show('a', '--select', "Event[@status='init']", '-o', 'yaml')).stdout)).toEqual(
      json(events.stdout),
    )
  })

  test('as timeline, Mermaid and XML works too', async () => {
    const select = ['a', '--select', "Event[@id='00' or @name='Pay']"]
    expect((await show(...select, '-o', 'timeline')).stdout).toMatch(/^02\.00 Pay {2,}░+ {2}○ init/m)
    const chart = (await show(...select, '-o', 'mermaid')).stdout
    expect(chart.split('\n').slice(2, 5)).toEqual([
      '  e0["00 Order<br/>#9654; inprocess"]:::inprocess',
      '  e1["02.00 Pay<br/>#9675; init"]:::init',
      '  e0 --> e1',
    ])
    const excerpt = readDocument((await show(...select, '-o', 'xml')).stdout)
    expect(excerpt.events.map(({ id }) => id)).toEqual(['00', '02.00'])
    expect(excerpt).toMatchObject({ version: 0, born: '', journal: '' })
  })

  test('of an earlier version works too', async () => {
    expect((await show('a', '--select', "count(Event[@status='init'])", '--at', '1')).stdout).toBe('2\n')
    expect((await show('a', '--select', '@lc:v', '--at', '1')).stdout).toBe('1\n')
  })

  test('without matches: a header and a sentence, exit 0; with --must exit 3', async () => {
    const ran = await show('a', '--select', "Event[@status='aborted']")
    expect(ran).toMatchObject({ exit: 0, stderr: 'nothing matches --select\n' })
    expect(ran.stdout).toMatch(/\n\nEVENT +STATUS +OWNER +AGE +DUE\n$/)
    const must = await show('a', '--select', "Event[@status='aborted']", '--must')
    expect(must.exit).toBe(3)
    expect(must.stderr).toContain('[no-match]')
    expect(json((await show('a', '--select', 'Event/@none', '-o', 'json')).stdout)).toMatchObject({ events: [] })
    expect(json((await show('a', '--select', '1e0 div 0', '-o', 'json')).stdout)).toMatchObject({
      values: ['Infinity'],
    })
  })

  test.each([
    ["count(Event[@status='aborted'])", 3],
    ['false()', 3],
    ["''", 3],
    ['Event', 0],
    ['count(Event)', 0],
    ['true()', 0],
    ["'0'", 0],
  ])('with --must: %s ends with %i', async (expression, exit) => {
    expect((await show('a', '--select', expression, '--must')).exit).toBe(exit)
  })

  test('with --must on several streams succeeds with one match', async () => {
    expect((await show('a', 'b', '--select', "Event[@status='aborted']", '--must')).exit).toBe(0)
    expect((await show('a', 'b', '--select', "Event[@status='paused']", '--must')).exit).toBe(3)
  })

  test('with an invalid XPath is exit 2 before a stream is looked up', async () => {
    const ran = await show('nix', '--select', './Event[')
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain('--select: it cannot be read from character 8 on (XPST0003)')
    expect(ran.stderr).toContain("./Event[@status='init']")
    const dynamic = await show('a', '--select', '1 + string(Event[1]/@name)')
    expect(dynamic).toMatchObject({ exit: 2, stdout: '' })
    expect(dynamic.stderr).toContain('--select on a: ')
    expect(await show('a', '--select', '')).toMatchObject({ exit: 2, stdout: '' })
    expect(await show('a', '--must')).toMatchObject({ exit: 2, stdout: '' })
  })

  test('shows control characters of values visibly', async () => {
    const hostile = newWorld()
    await cli(hostile, ['init', 's', '--root', 'x\u202ey'])
    expect((await cli(hostile, ['show', 's', '--select', 'string(Event/@name)'])).stdout).toBe('x\\u{202e}y\n')
  })

  test('searches the other streams if one is unreadable', async () => {
    const other = newWorld()
    await cli(other, ['init', 'good'])
    await badStream(other, 'bad')
    const ran = await cli(other, ['show', 'good', 'bad', '--select', 'count(Event)'])
    expect(ran).toMatchObject({ exit: 12, stdout: 'good\t1\n' })
  })
})
