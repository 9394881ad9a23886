import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import * as exec from '../../../src/commands/exec.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { bodyOf, cli, json, newWorld, optionsFrom, statuses, type World } from './support.ts'

async function order(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B'])
  return world
}

const sh = (script: string): readonly string[] => ['--', '/bin/sh', '-c', script]

test('argv → options: everything after -- belongs to the command', async () => {
  const flags = ['--owner', 'w', '--claim', '30s', '--grace', '0s', '--stdin', 'json', '--take-over', '-m', 'why']
  const next = ['--next', 'N', '--fork', 'A,B', '--join', 'J', '--topic', 't']
  const options = await optionsFrom(exec.register, ['exec', 's', '01.00', ...flags, ...next, '--', 'x', '-o', '--', ''])
  expect(options).toEqual({
    stream: 's',
    event: '01.00',
    command: ['x', '-o', '--', ''],
    owner: 'w',
    claim: 30_000,
    grace: 0,
    stdin: 'json',
    takeOver: true,
    reason: 'why',
    next: 'N',
    fork: ['A', 'B'],
    join: 'J',
    topic: 't',
  })
})

describe('invalid arguments are exit 2, before anything is done', () => {
  test.each([
    [['exec', 's', '01.00'], 'a command to run is missing'],
    [['exec', 's', '01.00', '--'], 'a command to run is missing'],
    [['exec', 's', '01.00', 'true'], 'must follow --'],
    [['exec', 's', '01.00', 'true', '--', 'x'], 'must follow --'],
    [['exec', 's', '01.00', '--', ''], 'name of the command is empty'],
    [['exec', 's', '01.00', '--join', 'J', '--', 'true'], '--join needs --fork'],
    [['exec', 's', '01.00', '--command-id', 'x', '--', 'true'], 'unknown option'],
  ])('%j', async (argv, why) => {
    const world = await order()
    const before = await bodyOf(world, 's')
    const ran = await cli(world, argv)
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain(why)
    expect(await bodyOf(world, 's')).toBe(before)
  })
})

describe('a command that cannot be run leaves the event unchanged:', () => {
  test.each([
    ['leasectl-no-such-command', 127, 'command-not-found'],
    ['/nowhere/worker', 127, 'command-not-found'],
    ['/', 126, 'command-not-executable'],
    ['/etc/passwd', 126, 'command-not-executable'],
  ])('%s', async (command, exit, code) => {
    const world = await order()
    const before = await bodyOf(world, 's')
    const ran = await cli(world, ['exec', 's', '01.00', '-o', 'json', '--', command])
    expect(ran).toMatchObject({ exit, stdout: '' })
    expect(json(ran.stderr)).toMatchObject({ error: { code, exit, applied: 'no' } })
    expect(await bodyOf(world, 's')).toBe(before)
  })

  test.each(['--next', '--reason', '--owner'])(
    'a flag without its value does not take the -- before the command: %s',
    async flag => {
      const world = await order()
      const before = await bodyOf(world, 's')
      for (const format of [[], ['-o', 'json']]) {
        const ran = await cli(world, ['exec', 's', '01.00', ...format, flag, '--', 'true'])
        expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining(`${flag} has no value`) })
      }
      expect(await bodyOf(world, 's')).toBe(before)
    },
  )

  test('an attempt that ran too long is told, as its exit code could be that of any kill', async () => {
    const world = await order()
    await cli(world, ['init', 'r', '--fork', 'Q', '--attempt-timeout', '200ms'])
    const ran = await cli(world, ['exec', 'r', '01.00', '--', 'sleep', '10'])
    expect(ran).toMatchObject({ exit: 143, stderr: expect.stringContaining('r 01.00: the attempt ran longer than') })
  })

  test('a program that its attempt timeout stops is tried again, even if it exits with 0 then', async () => {
    const world = await order()
    await cli(world, ['init', 'r', '--fork', 'Q', '--attempt-timeout', '200ms'])
    const script = 'trap "exit 0" TERM; sleep 10 & wait'
    const ran = await cli(world, ['exec', 'r', '01.00', '--', 'sh', '-c', script])
    expect(ran).toMatchObject({ exit: 125, stderr: expect.stringContaining('r 01.00: the attempt ran longer than') })
    expect(ran.stderr).toContain('[timed-out]')
    expect(json((await cli(world, ['show', 'r', '-o', 'json'])).stdout)).toMatchObject({
      events: [{}, { status: 'inprocess', state: 'waiting', attempt: 2 }],
    })
  })

  test('a script without its interpreter', async () => {
    const world = await order()
    const folder = mkdtempSync(join(tmpdir(), 'leasectl-exec-'))
    const script = join(folder, 'script')
    writeFileSync(script, '#!/nowhere/interpreter\n', { mode: 0o755 })
    const ran = await cli(world, ['exec', 's', '01.00', '--', script])
    rmSync(folder, { recursive: true })
    expect(ran).toMatchObject({ exit: 127, stderr: expect.stringContaining('interpreter') })
    expect(await statuses(world, 's')).toMatchObject({ '01.00': 'init' })
  })

  test('flags of the command are not ours: its -o json does not make our errors JSON', async () => {
    const ran = await cli(await order(), ['exec', 's', '01.00', '--', '/nowhere/worker', '-o', 'json', '--debug'])
    expect(ran.stderr).toMatch(/^error: no command/)
  })
})

describe('errors of leasectl are 125, with the code that other commands have:', () => {
  test.each([
    ['a missing stream', ['nix', '01.00'], 'stream-not-found', 3],
    ['a missing event', ['s', '09.00'], 'event-not-found', 3],
    ['ended', ['s', '02.00'], 'already-final', 5],
  ])('%s', async (_, target, code, tableExit) => {
    const world = await order()
    await cli(world, ['event', 'complete', 's', '02.00'])
    const ran = await cli(world, ['exec', ...target, '-o', 'json', ...sh('exit 1')])
    expect(ran.exit).toBe(125)
    expect(json(ran.stderr)).toMatchObject({ error: { code, exit: 125, tableExit, applied: 'no' } })
    const text = await cli(world, ['exec', ...target, ...sh('exit 1')])
    expect(text.stderr).toMatch(new RegExp(`\\[${code}\\][^]*code {5}${tableExit} in help exit-codes`))
  })

  test('a store that does not answer the claim', async () => {
    const world = await order()
    const store: StreamStore = new Proxy(world.store, {
      get: (target, key) =>
        key === 'update' ? async () => ({ kind: 'unknown', cause: new Error('silence') }) : Reflect.get(target, key),
    })
    const argv = ['exec', 's', '01.00', '--claim', '100ms', '-o', 'json', ...sh('exit 1')]
    const ran = await cli(world, argv, { store })
    expect(ran.exit).toBe(125)
    const { error } = json(ran.stderr) as { error: object }
    expect(error).toMatchObject({ code: 'unknown', tableExit: 10, applied: 'unknown', commandId: null, try: null })
  })

  test('a store that stalls: the command is stopped, and the cause is reported', async () => {
    const world = await order()
    let isSilent = false
    const heard =
      (call: (...args: readonly unknown[]) => unknown, isLast: boolean) =>
      async (...args: readonly unknown[]) => {
        if (isSilent) throw new StoreUnreachable('silence')
        const answer = await call.apply(world.store, [...args])
        isSilent ||= isLast
        return answer
      }
    const store: StreamStore = new Proxy(world.store, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key)
        if (typeof value !== 'function' || key === 'nowMs') return value
        return heard((...args) => value.apply(target, args), key === 'update')
      },
    })
    const argv = ['exec', 's', '01.00', '--claim', '600ms', '-o', 'json', '--', 'sleep', '4714']
    const ran = await cli(world, argv, { store })
    expect(ran.exit).toBe(125)
    expect(json(ran.stderr)).toMatchObject({ error: { code: 'claim-expired', tableExit: 11 } })
  })

  test('an output file that cannot be created: nothing is claimed', async () => {
    const world = await order()
    const before = await bodyOf(world, 's')
    vi.stubEnv('TMPDIR', '/nowhere')
    const ran = await cli(world, ['exec', 's', '01.00', ...sh('exit 0')])
    vi.unstubAllEnvs()
    expect(ran).toMatchObject({ exit: 125, stdout: '' })
    expect(ran.stderr).toMatch(/^error: cannot create a file for LEASECTL_OUTPUT in \/nowhere .*\[file-failed\]/)
    expect(await bodyOf(world, 's')).toBe(before)
  })

  test('an invalid output file fails the event', async () => {
    const world = await order()
    const ran = await cli(world, ['exec', 's', '01.00', '-o', 'json', ...sh('echo nexd=N >> "$LEASECTL_OUTPUT"')])
    expect(ran.exit).toBe(125)
    expect(json(ran.stderr)).toMatchObject({ error: { code: 'bad-output', tableExit: 12, applied: 'yes' } })
    expect(await statuses(world, 's')).toMatchObject({ '01.00': 'aborted' })
  })

  test('an impossible result fails the event', async () => {
    const world = await order()
    const seed = await world.store.read('s')
    if (seed?.summary === undefined) throw new Error('no summary')
    const events = `<Event name="S" status="inprocess" id="00" next="a'b"/><Event name="A" status="init" id="a'b" prev="00"/>`
    await world.store.create('odd', Buffer.from(`<EventStream>${events}</EventStream>`), seed.summary)
    const ran = await cli(world, ['exec', 'odd', "a'b", '--next', 'N', '-o', 'json', '--', 'true'])
    expect(ran.exit).toBe(125)
    expect(json(ran.stderr)).toMatchObject({ error: { code: 'end-impossible', tableExit: 5, applied: 'yes' } })
    expect(await statuses(world, 'odd')).toMatchObject({ "a'b": 'aborted' })
  })
})

test('the command may name successors itself', async () => {
  const world = await order()
  const ran = await cli(world, ['exec', 's', '01.00', ...sh('echo fork=A,B > "$LEASECTL_OUTPUT"')])
  expect(ran.exit).toBe(0)
  expect(await statuses(world, 's')).toMatchObject({ '01.00': 'inprocess', '01.01.00': 'init', '01.02.00': 'init' })
})

test('exit 0 advances the event to the successors of the flags; the message of the command stays with it', async () => {
  const world = await order()
  const flags = ['--next', 'N', '--tag', 'x', '-m', 'nightly', '--by', 'bot', '--owner', 'w1']
  const ran = await cli(world, ['exec', 's', '01.00', '-v', ...flags, ...sh('echo msg=12 > "$LEASECTL_OUTPUT"')])
  expect(ran).toMatchObject({ exit: 0, stdout: '' })
  expect(ran.stderr).toMatch(/claimed s 01\.00 as w1, fence 2, attempt 1\n.*advance reported/s)
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
  expect((events as object[]).filter(event => 'id' in event && String(event.id).startsWith('01'))).toMatchObject([
    { id: '01.00', msg: '12', next: ['01.01'] },
    { id: '01.01', name: 'N', tag: 'x', status: 'init' },
  ])
  expect((await cli(world, ['log', 's'])).stdout).toMatch(/bot.*nightly/)
})

test('a timeout that no heartbeat can keep is reported before the command runs', async () => {
  const world = await order()
  await cli(world, ['event', 'set', 's', '01.00', '--timeout', '500ms'])
  expect(await cli(world, ['exec', 's', '01.00', ...sh('echo done >&2')])).toMatchObject({
    exit: 0,
    stderr: expect.stringMatching(/^s 01\.00: its timeout of 0\.5s is too short for heartbeats, .*\ndone\n$/),
  })
})

test('stderr is passed on; the exit code is that of the command', async () => {
  const world = await order()
  expect(await cli(world, ['exec', 's', '01.00', ...sh('echo no >&2; exit 9')])).toMatchObject({
    exit: 9,
    stderr: 'no\n',
  })
})

test('the command may change its folder: the address of the store stays valid', async () => {
  const world = await order()
  Object.defineProperty(world.store, 'address', { value: 'sqlite:a.db' })
  const ran = await cli(world, ['exec', 's', '01.00', ...sh('echo "$LEASECTL_STORE" >&2')])
  expect(ran.stderr).toBe(`sqlite:${process.cwd()}/a.db\n`)
})

test('the command gets no context but that of its store', async () => {
  const script = sh('echo "$LEASECTL_CONTEXT$HOME" >&2')
  const env = { LEASECTL_CONTEXT: 'other', HOME: '/h' }
  expect((await cli(await order(), ['exec', 's', '01.00', ...script], { env })).stderr).toBe('/h\n')
  expect((await cli(await order(), ['exec', 's', '01.00', ...script], { env, context: 'prod' })).stderr).toBe(
    'prod/h\n',
  )
})

describe('commands on an event that a program calls', () => {
  const env = { LEASECTL_STREAM: 's', LEASECTL_EVENT: '01.00', LEASECTL_FENCE: '1' }
  const complete =
    (argv: readonly string[], setting = env) =>
    async () => {
      const world = await order()
      await cli(world, ['event', 'start', 's', '01.00', '--owner', 'w'])
      return (await cli(world, ['event', 'complete', ...argv], { env: { LEASECTL_OWNER: 'w', ...setting } })).exit
    }

  test('use its fence for its own event only, and only if no fence is given', async () => {
    expect(await complete(['s', '01.00'])()).toBe(11)
    expect(await complete(['s', '01.00'], { ...env, LEASECTL_FENCE: '2' })()).toBe(0)
    expect(await complete(['s', '01.00', '--fence', '2'])()).toBe(0)
    expect(await complete(['s', '01.00', '--owner', 'w'])()).toBe(0)
    expect(await complete(['s', '01.00', '--store', 'memory:'])()).toBe(0)
    expect(await complete(['s', '02.00'])()).toBe(0)
    expect(await complete(['s', '01.00'], { ...env, LEASECTL_FENCE: '' })()).toBe(0)
  })

  describe('after the stream was removed, and another of its name reached the same fence', () => {
    async function replaced() {
      const world = await order()
      const fence = await claimed(world)
      await cli(world, ['rm', 's', '--yes', '--force'])
      await cli(world, ['init', 's', '--fork', 'Search,Book'])
      expect(await claimed(world)).toBe(fence)
      return world
    }
    const claimed = async (world: World) =>
      (await cli(world, ['event', 'start', 's', '01.00', '--owner', 'w', '-q'])).stdout
    const job = { ...env, LEASECTL_FENCE: '2', LEASECTL_OWNER: 'w', LEASECTL_BORN: 'another' }

    test.each([
      ['touch'],
      ['complete'],
      ['fail'],
      ['release'],
      ['advance', '--next', 'N'],
      ['set', '--tag', 't'],
      ['complete', '--fence', '2'],
    ])('event %s %s %s is refused, and nothing is changed', async (name, ...flags) => {
      const world = await replaced()
      const before = await world.store.read('s')
      const ran = await cli(world, ['event', name, 's', '01.00', ...flags], { env: job })
      expect(ran).toMatchObject({ exit: 3, stdout: '' })
      expect(ran.stderr).toContain('the stream s of this claim was removed, and another has its name now')
      expect((await world.store.read('s'))?.etag).toBe(before?.etag)
    })

    test('event data tells nothing of the other stream', async () => {
      const ran = await cli(await replaced(), ['event', 'data', 's', '01.00'], { env: job })
      expect(ran).toMatchObject({ exit: 3, stdout: '' })
      expect(ran.stderr).toContain('another has its name now')
    })

    test('a command with another claim or a version is judged by those', async () => {
      const complete = async (...flags: string[]) =>
        (await cli(await replaced(), ['event', 'complete', 's', '01.00', ...flags], { env: job })).exit
      expect(await complete('--owner', 'w')).toBe(0)
      expect(await complete('--fence', '1')).toBe(11)
      expect(await complete('--if-version', '1')).toBe(5)
    })
  })
})
