import { expect, test } from 'vitest'
import { register } from '../../../src/commands/init.ts'
import { withoutContainer } from './store-with.ts'
import { cli, json, newWorld, optionsFrom, statuses } from './support.ts'

test('argv → options', async () => {
  const argv = ['init', 'orders/1', '--root', 'R', '--fork', 'A,B', '--fork', 'C', '--join', 'J', '--timeout', '5m']
  const more = ['--on-due', 'notify', '--key', 'k', '--hold', '--if-absent', '--create-container', '-m', 'why']
  expect(await optionsFrom(register, [...argv, ...more])).toEqual({
    stream: 'orders/1',
    root: 'R',
    fork: ['A', 'B', 'C'],
    join: 'J',
    timeout: '00:05:00',
    onDue: 'notify',
    key: 'k',
    hold: true,
    ifAbsent: true,
    createContainer: true,
    reason: 'why',
  })
})

test('init creates the stream and prints its events', async () => {
  const world = newWorld()
  const ran = await cli(world, ['init', 'orders/1', '--fork', 'A,B', '--join', 'J'])
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  expect(ran.stdout).toBe(
    '✓ orders/1  created  v1\n    00  ▶ inprocess\n    01  ◷ waiting\n    01.00  ○ init\n    02.00  ○ init\n',
  )
  expect(await statuses(world, 'orders/1')).toEqual({
    '00': 'inprocess',
    '01.00': 'init',
    '02.00': 'init',
    '01': 'inprocess',
  })
})

test('an existing stream is exit 5, with --if-absent exit 0 and "already"', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  const again = await cli(world, ['init', 's'])
  expect(again.exit).toBe(5)
  expect(again.stderr).toContain('[exists]')
  expect(again.stderr).toContain('--if-absent')
  const fine = await cli(world, ['init', 's', '--if-absent', '-o', 'json'])
  expect(fine.exit).toBe(0)
  expect(json(fine.stdout)).toMatchObject({ apiVersion: 'leasectl/v1', stream: 's', outcome: 'already', version: 1 })
})

test('repeating with the same --command-id says "already"', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--command-id', 'c1'])
  const ran = await cli(world, ['init', 's', '--command-id', 'c1', '-o', 'json'])
  expect(ran.exit).toBe(0)
  expect(json(ran.stdout)).toMatchObject({ outcome: 'already', duplicate: true, commandId: 'c1' })
})

test('a template in YAML is used; flags take precedence', async () => {
  const world = newWorld()
  const yaml = 'root: Order\nkey: 4711\ntimeout: 1h\nfork: [Pay, {name: Search, topic: t, timeout: 30s}]\njoin: Done\n'
  const ran = await cli(world, ['init', 's', '--from', 'o.yaml', '--key', 'k2'], { files: { 'o.yaml': yaml } })
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  const events = json((await cli(world, ['show', 's', '-o', 'json'])).stdout).events
  expect(events).toMatchObject([
    { id: '00', name: 'Order', key: 'k2', timeout: '01:00:00' },
    { id: '01.00', name: 'Pay' },
    { id: '02.00', name: 'Search', topic: 't', timeout: '00:00:30' },
    { id: '01', name: 'Done', join: 'wait' },
  ])
})

test('a stream document can be used as a template', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a', '--root', 'R', '--fork', 'A,B', '--join', 'J', '--tag', 'x', '--timeout', '5m'])
  const xml = (await cli(world, ['show', 'a', '-o', 'xml'])).stdout
  const ran = await cli(world, ['init', 'b', '--from', '-'], { stdin: xml })
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  const shape = async (name: string) => {
    const { events } = json((await cli(world, ['show', name, '-o', 'json'])).stdout) as {
      events: Record<string, unknown>[]
    }
    return events.map(({ name: step, status, tag, timeout, prev, next, join }) => ({
      step,
      status,
      tag,
      timeout,
      prev,
      next,
      join,
    }))
  }
  expect(await shape('b')).toEqual(await shape('a'))
})

test('a timeout that a document cannot have is written in a form that every reader understands, any other unchanged', async () => {
  const world = newWorld()
  const event = (id: string, timeout: string, links: string) =>
    `<Event name="A" status="init" id="${id}" timeout="${timeout}" ${links}/>`
  const below = ['2h', '24:00:00', '-00:00:01', 'PT5M'].map((text, at) => event(`0${at + 1}.00`, text, 'prev="00"'))
  const root = event('00', '1h30m', 'next="01.00|02.00|03.00|04.00"')
  const stdin = `<EventStream>${root}${below.join('')}</EventStream>`
  expect(await cli(world, ['init', 's', '--from', '-'], { stdin })).toMatchObject({ exit: 0, stderr: '' })
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout) as { events: { timeout: string }[] }
  expect(events.map(({ timeout }) => timeout)).toEqual(['01:30:00', '02:00:00', '24:00:00', '-00:00:01', 'PT5M'])
})

test.each([
  [
    'a document of a stream in progress',
    '<EventStream><Event name="R" status="inprocess" id="00" next="01"/><Event name="A" status="inprocess" id="01" prev="00"/></EventStream>',
  ],
  ['a truncated document', '<EventStream><Event name="R"'],
  ['an unknown field', 'rot: A'],
  ['an unknown field of an event', 'fork: [{name: A, tiemout: 2h}]'],
  ['an attribute that a new event cannot have', '<EventStream><Event name="R" id="00" tiemout="2h"/></EventStream>'],
  ['a foreign attribute', '<EventStream><Event name="R" id="00" xmlns:x="urn:x" x:colour="red"/></EventStream>'],
  ['an unreadable timeout', '<EventStream><Event name="R" id="00" timeout="soon"/></EventStream>'],
  [
    'an unknown action at the deadline',
    '<EventStream xmlns:lc="urn:leasectl:v1"><Event name="R" id="00" lc:onDue="abort-evnt"/></EventStream>',
  ],
  ['a fork that is not a list', 'fork: A'],
  ['a bare number as timeout', 'timeout: 30'],
  ['broken YAML', 'a: [1'],
])('--from refuses %s with exit 2 and creates nothing', async (_what, text) => {
  const world = newWorld()
  const ran = await cli(world, ['init', 's', '--from', 'f'], { files: { f: text } })
  expect(ran.exit).toBe(2)
  expect(ran.stderr).toContain('--from f')
  expect(await world.store.read('s')).toBeUndefined()
})

test('--from with a missing file is exit 2', async () => {
  expect(await cli(newWorld(), ['init', 's', '--from', 'nix'])).toMatchObject({ exit: 2, stdout: '' })
})

test('a missing container is exit 3 and named, unless --create-container', async () => {
  const world = newWorld()
  const { store, created } = withoutContainer(world.store, 'azure:acc/streams')
  const ran = await cli(world, ['init', 's'], { store })
  expect(ran.exit).toBe(3)
  expect(ran.stderr).toContain('--create-container')
  expect(created()).toBe(0)
  expect((await cli(world, ['init', 's', '--create-container'], { store })).exit).toBe(0)
  expect(created()).toBe(1)
})

test('on azurite a missing container is created without a prompt', async () => {
  const world = newWorld()
  const { store, created } = withoutContainer(world.store, 'azurite:streams')
  expect((await cli(world, ['init', 's'], { store })).exit).toBe(0)
  expect(created()).toBe(1)
})

test('--join without --fork is exit 2', async () => {
  expect((await cli(newWorld(), ['init', 's', '--join', 'J'])).exit).toBe(2)
})

test('--if-absent --update creates the stream, or sets the given attributes of its root', async () => {
  const world = newWorld()
  const put = ['init', 's', '--if-absent', '--update', '--fork', 'A', '-o', 'json']
  const first = json((await cli(world, [...put, '--key', '7', '--tag', 'old', '--timeout', '1h'])).stdout)
  expect(first).toMatchObject({ outcome: 'done', created: true, version: 1 })
  const second = json((await cli(world, [...put, '--tag', 'new', '--root', 'Order'])).stdout)
  expect(second).toMatchObject({ outcome: 'done', created: false, version: 2, added: [] })
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
  expect(events).toMatchObject([{ name: 'Order', key: '7', tag: 'new', timeout: '01:00:00' }, { id: '01.00' }])
  expect((await cli(world, ['init', 's', '--if-absent', '--update', '--tag', 'x'])).stdout).toBe('✓ s  updated  v3\n')
  const same = json((await cli(world, [...put, '--tag', 'x'])).stdout)
  expect(same).toMatchObject({ outcome: 'already', created: false, version: 3 })
  expect(json((await cli(world, put)).stdout)).toMatchObject({ outcome: 'already', created: false, version: 3 })
})

test('--if-absent --update with one command id creates or changes once', async () => {
  const world = newWorld()
  const put = (tag: string, id: string) =>
    cli(world, ['init', 's', '--if-absent', '--update', '--tag', tag, '--command-id', id, '-o', 'json'])
  await put('first', 'one')
  await put('second', 'two')
  const repeated = [json((await put('first', 'one')).stdout), json((await put('second', 'two')).stdout)]
  expect(repeated).toMatchObject([
    { duplicate: true, created: true, version: 1, commandId: 'one' },
    { duplicate: true, created: false, version: 2, commandId: 'two' },
  ])
  const other = await put('third', 'two')
  expect([other.exit, other.stderr]).toEqual([expect.any(Number), expect.stringContaining('command-id-reused')])
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
  expect(events).toMatchObject([{ tag: 'second' }])
})

test('--update without --if-absent is exit 2; of a stream that is done exit 5', async () => {
  const world = newWorld()
  const alone = await cli(world, ['init', 's', '--update'])
  expect([alone.exit, alone.stderr]).toEqual([2, expect.stringContaining('--update needs --if-absent')])
  await cli(world, ['init', 's'])
  await cli(world, ['cancel', 's'])
  const late = await cli(world, ['init', 's', '--if-absent', '--update', '--tag', 't'])
  expect([late.exit, late.stderr]).toEqual([5, expect.stringContaining('[already-final]')])
})

test('--fork gives each thread attributes of its own, over those of the flags', async () => {
  const world = newWorld()
  const fork = 'Search:key=a:tag=x,Search:key=b,Ns:Pay:timeout=30s:at=2026-11-20T14:00:00Z,Plain'
  const ran = await cli(world, ['init', 's', '--fork', fork, '--delay', '1h'])
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
  expect(events).toMatchObject([
    { id: '00', key: null },
    { name: 'Search', key: 'a', tag: 'x' },
    { name: 'Search', key: 'b', tag: null },
    { name: 'Ns:Pay', timeout: '00:00:30' },
    { name: 'Plain', key: null },
  ])
  const next = await cli(world, ['event', 'advance', 's', '00', '--more', '--fork', 'Ask:key=n,Ask', '--key', 'all'])
  expect(next).toMatchObject({ exit: 0, stderr: '' })
  const after = json((await cli(world, ['show', 's', '-o', 'json'])).stdout).events
  expect((after as { name: string }[]).filter(({ name }) => name === 'Ask')).toMatchObject([
    { key: 'n' },
    { key: 'all' },
  ])
})

test('--fork @FILE reads a list of events', async () => {
  const world = newWorld()
  const files = { 'forks.yaml': '- { name: Search, key: "a,b", retry: 5 2s..1m }\n- Pay\n' }
  const ran = await cli(world, ['init', 's', '--fork', '@forks.yaml', '--fork', 'Last'], { files })
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
  expect((events as unknown[]).slice(1)).toMatchObject([
    { name: 'Search', key: 'a,b' },
    { name: 'Pay' },
    { name: 'Last' },
  ])
})

test.each([
  ['Search:colour=red', 'colour'],
  ['Search:key=a:key=b', 'key occurs twice'],
  ['Search:timeout=soon', 'soon'],
  [':key=a', '--fork :key=a'],
  ['@missing.yaml', 'cannot be read'],
  ['@map.yaml', 'must hold a list'],
  ['@empty.yaml', 'must hold a list'],
  ['@broken.yaml', '--fork @broken.yaml'],
])('--fork %s is exit 2 and creates nothing', async (fork, words) => {
  const world = newWorld()
  const files = { 'map.yaml': 'name: A\n', 'empty.yaml': '', 'broken.yaml': '- [A\n' }
  const ran = await cli(world, ['init', 's', '--fork', fork], { files })
  expect([ran.exit, ran.stderr]).toEqual([2, expect.stringContaining(words)])
  expect(await world.store.read('s')).toBeUndefined()
})

test('--on-due open is for an event that waits, and not for a whole stream, which a watchdog would abort', async () => {
  const argv = ['init', 's', '--fork', 'S', '--wait-for', 'go', '--timeout', '1s', '--on-due', 'open']
  const ran = await cli(newWorld(), argv)
  expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining('are for the whole stream') })
})

test('a template that is not YAML is told with the place, in a whole sentence', async () => {
  const files = { 'bad.yaml': 'root: A\nroot: B\n' }
  const { exit, stderr } = await cli(newWorld(), ['init', 's', '--from', 'bad.yaml'], { files })
  expect(exit).toBe(2)
  expect(stderr).toMatch(/Map keys must be unique at line 2, column 1 +\[usage\]/)
})

test('a new event that waits for a time is listed once', async () => {
  const { stdout } = await cli(newWorld(), ['init', 'trips/2', '--steps', 'Remind', '--delay', '1d'])
  expect(stdout.split('\n').slice(1)).toEqual(['    00  ▶ inprocess', '    01.00  ◷ waiting', ''])
})

test.each([
  ['init', 'a\\b'],
  ['wait', 'a\\b', '--may-appear'],
  ['cancel', 'a\\b'],
])('%s %s: a backslash is refused, because Azure would make another name of it', async (...argv) => {
  expect(await cli(newWorld(), argv)).toMatchObject({ exit: 2, stderr: expect.stringMatching(/"a\\\\b" .*backslash/) })
})

test('numbers of a template are texts as they are written; those in JSON data are numbers', async () => {
  const yaml = `root: R
key: 0012345
topic: 1.10
tag: 12345678901234567890
ref: 0x1F
steps:
- { name: A, key: 00420, data: 0077 }
- { name: B, data: { json: { n: 1.50 } } }
`
  const world = newWorld()
  expect((await cli(world, ['init', 's', '--from', 'o.yaml'], { files: { 'o.yaml': yaml } })).exit).toBe(0)
  const shown = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
  const [root, a, b] = shown.events as readonly unknown[]
  expect(root).toMatchObject({ key: '0012345', topic: '1.10', tag: '12345678901234567890', ref: '0x1F' })
  expect(a).toMatchObject({ key: '00420', input: { text: '0077' } })
  expect(b).toMatchObject({ input: { text: '{"n":1.5}' } })
})
