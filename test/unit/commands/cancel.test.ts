import { expect, test } from 'vitest'
import { register } from '../../../src/commands/cancel.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { bodyOf, cli, json, newWorld, optionsFrom, statuses } from './support.ts'

test('argv → options', async () => {
  const argv = ['cancel', 'a', 'b', '-e', '01.00', '-e', '02.00', '-m', 'why', '--by', 'ops', '--command-id', 'c']
  const more = ['--lease-wait', '1m', '--if-version', '3', '--lease-id', '00000000-0000-4000-8000-00000000000A']
  expect(await optionsFrom(register, [...argv, ...more, '--write', 'optimistic'])).toEqual({
    names: ['a', 'b'],
    event: ['01.00', '02.00'],
    reason: 'why',
    by: 'ops',
    commandId: 'c',
    leaseWait: 60_000,
    ifVersion: 3,
    leaseId: '00000000-0000-4000-8000-00000000000a',
    write: 'optimistic',
  })
})

test('cancel ends the whole stream; the reason is in the journal and the message of the target', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B'])
  const ran = await cli(world, ['cancel', 's', '-m', 'customer called', '--by', 'ops'])
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  expect(ran.stdout).toContain('✓ s  canceled  v2\n')
  expect(ran.stdout).toContain('    01.00  init → ⊘ canceled\n')
  expect(ran.stdout).toContain('the stream is done')
  expect(await statuses(world, 's')).toEqual({ '00': 'canceled', '01.00': 'canceled', '02.00': 'canceled' })
  expect((await cli(world, ['tail', 's', '-n', '1'])).stdout).toContain('ops  "customer called"')
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
  expect(events).toMatchObject([{ msg: 'customer called' }, { msg: null }, { msg: null }])
})

test('-o json: the change with the events it closed', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A'])
  const ran = await cli(world, ['cancel', 's', '-e', '01.00', '-m', 'why', '--command-id', 'c1', '-o', 'json'])
  expect(json(ran.stdout)).toEqual({
    apiVersion: 'leasectl/v1',
    stream: 's',
    event: '01.00',
    outcome: 'done',
    version: 2,
    changed: [
      { id: '01.00', from: 'init', to: 'canceled' },
      { id: '00', from: 'inprocess', to: 'completed' },
    ],
    closed: ['00'],
    joined: [],
    opened: [],
    added: [],
    done: true,
    duplicate: false,
    commandId: 'c1',
    reason: 'why',
    error: null,
  })
})

test('canceling again says "already", with and without a command id, exit 0', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  await cli(world, ['cancel', 's', '--command-id', 'c1'])
  expect((await cli(world, ['cancel', 's', '--command-id', 'c1'])).stdout).toContain('this command was done before')
  expect((await cli(world, ['cancel', 's'])).stdout).toContain('already so')
})

test('a stream with another final status is refused, exit 5', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  await cli(world, ['event', 'complete', 's', '00'])
  const ran = await cli(world, ['cancel', 's'])
  expect(ran).toMatchObject({ exit: 5, stdout: '' })
  expect(ran.stderr).toContain('[already-final]')
})

test('all names are looked up first: if a stream or event is missing, nothing is changed, exit 3', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a', '--fork', 'A'])
  const before = await bodyOf(world, 'a')
  const stream = await cli(world, ['cancel', 'a', 'nix'])
  expect(stream).toMatchObject({ exit: 3, stdout: '' })
  expect(stream.stderr).toContain('there is no stream nix')
  const event = await cli(world, ['cancel', 'a', '-e', '01.00', '-e', '09.00'])
  expect(event).toMatchObject({ exit: 3, stdout: '' })
  expect(event.stderr).toContain('a has no event 09.00')
  expect(await bodyOf(world, 'a')).toBe(before)
})

test('a batch reports every stream; an undone one is exit 7; each has its own id', async () => {
  const world = newWorld()
  for (const name of ['a', 'b', 'c']) await cli(world, ['init', name])
  await cli(world, ['event', 'complete', 'b', '00'])
  const ran = await cli(world, ['cancel', 'a', 'b', 'c', '--command-id', 'run-1'])
  expect(ran.exit).toBe(7)
  // Each outcome is printed when it is known.
  expect(ran.stdout.split('\n').sort()).toEqual([
    '',
    'STREAM  OUTCOME    VERSION  WHAT',
    'a       ✓ done           2  canceled',
    'b       ✗ refused        -  00 is completed; it cannot change any more  [already-final]',
    'c       ✓ done           2  canceled',
  ])
  expect(ran.stderr).toMatch(/^2 done, 1 refused\nrun file: .*\nerror: 1 of 3 not done .*\[batch-incomplete\]\n/)
  expect(json((await cli(world, ['tail', 'a', '-n', '1', '-o', 'ndjson'])).stdout)).toMatchObject({
    commandId: 'run-1/a',
  })
  const again = await cli(world, ['cancel', 'a', 'b', 'c', '--command-id', 'run-1', '-o', 'json'])
  expect(again.exit).toBe(7)
  expect(json(again.stdout)).toMatchObject({
    items: [
      { stream: 'a', outcome: 'already', commandId: 'run-1/a' },
      { stream: 'b', outcome: 'refused', error: { code: 'already-final', exit: 5 } },
      { stream: 'c', outcome: 'already' },
    ],
    total: 3,
  })
})

test('a command id that would be too long in a batch becomes a hash', async () => {
  const world = newWorld()
  const long = 'n'.repeat(300)
  for (const name of ['a', long]) await cli(world, ['init', name])
  expect((await cli(world, ['cancel', 'a', long, '--command-id', 'run-1'])).exit).toBe(0)
  const { commandId } = json((await cli(world, ['tail', long, '-n', '1', '-o', 'ndjson'])).stdout)
  expect(commandId).toMatch(/^run-1\/[0-9a-f]{32}$/)
})

test('a batch continues after an unreadable document', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a'])
  await cli(world, ['init', 'c'])
  const summary = (await world.store.read('a'))?.summary
  if (summary !== undefined) await world.store.create('b', Buffer.from('<x'), summary)
  const ran = await cli(world, ['cancel', 'a', 'b', 'c'])
  expect(ran.exit).toBe(7)
  expect(ran.stdout).toMatch(/b +✗ failed +- +line 1.*\[bad-document\]/)
  expect(await statuses(world, 'c')).toEqual({ '00': 'canceled' })
})

test('an interrupted batch begins no further change and says how many were not started', async () => {
  const world = newWorld()
  for (const name of ['a', 'b']) await cli(world, ['init', name])
  const interruption = new AbortController()
  const store: StreamStore = new Proxy(world.store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (key === 'update') interruption.abort('SIGINT')
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const argv = ['cancel', 'a', 'b', '--concurrency', '1']
  const ran = await cli(world, argv, { store, signal: interruption.signal })
  expect(ran.exit).toBe(130)
  expect(ran.stdout).toMatch(/a +✓ done/)
  expect(ran.stderr).toContain('1 done; 1 not started\nrun file: ')
  expect(ran.stderr).toContain('error: interrupted: 1 of 2 not done, 1 of them not started')
  expect(await statuses(world, 'b')).toEqual({ '00': 'inprocess' })
})

test('--if-version refuses a stream that has changed meanwhile', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A'])
  await cli(world, ['event', 'set', 's', '01.00', '--tag', 'x'])
  const ran = await cli(world, ['cancel', 's', '--if-version', '1'])
  expect(ran.exit).toBe(5)
  expect(ran.stderr).toContain('[changed]')
  expect((await cli(world, ['cancel', 's', '--if-version', '2'])).exit).toBe(0)
})

test('every missing name is reported; --skip-missing continues with the others', async () => {
  const world = newWorld()
  for (const stream of ['a', 'b']) await cli(world, ['init', stream])
  const refused = await cli(world, ['cancel', 'a', 'gone', 'b', 'lost'])
  expect(refused.exit).toBe(3)
  expect(refused.stderr).toContain('there is no stream gone')
  expect(refused.stderr).toContain('there is no stream lost')
  expect(await statuses(world, 'a')).toEqual({ '00': 'inprocess' })
  const skipped = await cli(world, ['cancel', 'a', 'gone', 'b', 'lost', '--skip-missing'])
  expect(skipped.exit).toBe(0)
  expect(skipped.stderr).toContain('skipped: there is no stream gone')
  expect([await statuses(world, 'a'), await statuses(world, 'b')]).toEqual([{ '00': 'canceled' }, { '00': 'canceled' }])
  expect((await cli(world, ['cancel', 'gone', '--skip-missing'])).exit).toBe(3)
})

test('argv → options: selections and batch flags', async () => {
  const argv = ['cancel', '--match', 'a/**', '--status', 'init', '--skip-missing', '--dry-run', '--yes']
  const more = ['--expect', '60', '--concurrency', '64', '--rerun', 'f', '--only', 'busy,changed', '-o', 'ndjson']
  expect(await optionsFrom(register, [...argv, ...more])).toEqual({
    names: [],
    match: ['a/**'],
    status: ['init'],
    skipMissing: true,
    dryRun: true,
    yes: true,
    expect: 60,
    concurrency: 64,
    rerun: 'f',
    only: ['busy', 'changed'],
    output: 'ndjson',
  })
})

test.each([
  ['cancel --all --expect many', '--expect'],
  ['cancel --all --expect -1', '--expect'],
  ['cancel --all --concurrency 0', '--concurrency'],
  ['cancel --all --concurrency 65', '--concurrency 65 is too many'],
  ['cancel --only busy --all', '--only needs --rerun'],
  ['cancel --rerun f --only bussy', 'did you mean busy?'],
  ['cancel --rerun f a', '--rerun and names'],
  ['cancel --rerun f -m why', '--rerun and -m'],
  ['cancel --rerun f --match x', '--rerun and --match'],
  ['cancel --rerun f -e 01', '--rerun and -e'],
  ['cancel --rerun f --command-id c', '--rerun and --command-id'],
  ['cancel', 'which streams?'],
  ['cancel -m why --yes', 'which streams?'],
  ['cancel a --failed', 'names and filters'],
])('%s is exit 2', async (line, says) => {
  const world = newWorld()
  await cli(world, ['init', 'a'])
  const ran = await cli(world, line.split(' '))
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain(says)
  expect(await statuses(world, 'a')).toEqual({ '00': 'inprocess' })
})

test('one stream by name is read only by the change itself', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  const calls: string[] = []
  const store: StreamStore = new Proxy(world.store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      if (key !== 'nowMs') calls.push(String(key))
      return value.bind(target)
    },
  })
  expect((await cli(world, ['cancel', 's'], { store })).exit).toBe(0)
  expect(calls).toEqual(['update'])
})

test('-v shows each attempt to get the lease, who holds it, how long it waited, and the sum', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A'])
  await cli(world, ['lease', 'acquire', 's', '--by', 'ada@here', '-m', 'repair'])
  const held = await cli(world, ['event', 'complete', 's', '01.00', '-v', '--lease-wait', '0s'])
  expect(held.exit).toBe(6)
  const lease = 'leased by ada@here (pid 41) for 0s, "repair", ends in 1m'
  expect(held.stderr).toContain(
    `lease of s, attempt 1 after 0.0s: ${lease}\nlease of s: still held, 1 attempt, waited 0.0s\n`,
  )
  expect((await cli(world, ['event', 'complete', 's', '01.00', '--lease-wait', '0s'])).stderr).not.toContain(
    'attempt 1',
  )
  world.nowMs += 61_000
  const free = await cli(world, ['event', 'complete', 's', '01.00', '-v'])
  expect(free.stderr).toContain('lease of s: free, 1 attempt, waited 0.0s\n')
})

test('two lists of streams are refused: of one nothing would be done', async () => {
  const ran = await cli(newWorld(), ['cancel', '--streams', 'a.txt', '--streams', 'b.txt', '--yes'])
  expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining('--streams is given twice') })
})
