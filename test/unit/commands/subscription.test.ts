import { describe, expect, test } from 'vitest'
import { programHandler } from '../../../src/commands/subscribe/program.ts'
import { readStream } from '../../../src/ops/read-stream.ts'
import { parkedOf } from '../../../src/subscriptions/read.ts'
import { newerSubscription, subscribed, untilPosition } from '../../docs/json-subscriptions.ts'
import { run as change } from '../ops/support.ts'
import { cli, json, newWorld, type World } from './support.ts'

const PATH = { env: { PATH: '/usr/bin:/bin' } }
const SUBSCRIBE = ['subscribe', '--as', 'b', '--from', 'start', '--match', 'a']

/** Runs `subscribe` until its position is written. */
function subscribe(world: World, flags: readonly string[], script: string) {
  const { store, signal } = untilPosition()
  return cli(world, [...SUBSCRIBE, ...flags, '--', 'sh', '-c', script], { ...PATH, store: store(world.store), signal })
}

async function oneStream(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 'a', '--fork', 'A'])
  return world
}

describe('subscribe', () => {
  test('gives the command each transaction as JSON, with its variables', async () => {
    const world = await oneStream()
    const script =
      'cat >&2; echo "$LEASECTL_STREAM $LEASECTL_VERSION $LEASECTL_OP $LEASECTL_ATTEMPT $LEASECTL_DELIVERY_ID" >&2'
    const { exit, stderr, stdout } = await subscribe(world, [], script)
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: '' })
    const [first = ''] = stderr.match(/^\{.*\}$/m) ?? []
    expect(json(first)).toMatchObject({ apiVersion: 'leasectl/v1', stream: 'a', version: 1, op: 'init' })
    const born = (await readStream(world.store, 'a'))?.document.born
    expect(stderr).toContain(`a 1 init 1 ${born}@1\n`)
    expect(stderr).toMatch(/^handled {4}a v1 init in \d\.\ds$/m)
    expect(stderr).toMatch(/^1 delivery: 1 handled$/m)
  })

  test('executes what the command appends to LEASECTL_COMMANDS', async () => {
    const world = await oneStream()
    const line = '{"do":"init","stream":"invoices/1","root":"Invoice"}'
    const { stderr } = await subscribe(world, ['--by', 'saga@here'], `echo '${line}' >> "$LEASECTL_COMMANDS"`)
    expect(stderr).toContain('sent init invoices/1')
    const [made] = (await readStream(world.store, 'invoices/1'))?.transactions() ?? []
    expect(made).toMatchObject({ by: 'saga@here', commandId: expect.stringMatching(/^saga:b:.*@1:init:invoices\/1$/) })
  })

  test('begins at no time to come', async () => {
    const ran = await cli(newWorld(), ['subscribe', '--as', 'b', '--from', '2999-01-01', '--', 'true'])
    expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining('--from is in the future') })
  })

  test.each([
    ['exit 75', 'waiting', /exit 75/],
    ['echo "no card" >&2; exit 3', 'waiting', /, try 1 of 8, again in .*: exit 3: no card$/m],
    ['kill -9 $$', 'waiting', /killed by SIGKILL/],
    ['echo nonsense >> "$LEASECTL_COMMANDS"', 'waiting', /LEASECTL_COMMANDS cannot be used: line 1: not JSON/],
    ['rm "$LEASECTL_COMMANDS"', 'waiting', /LEASECTL_COMMANDS cannot be used: it was removed/],
    ['echo \'{"do":"cancel","stream":"nix"}\' >> "$LEASECTL_COMMANDS"', 'waiting', /\[stream-not-found\]/],
  ])('after %s the stream is %s', async (script, word, why) => {
    const { exit, stderr } = await subscribe(await oneStream(), [], script)
    expect(exit).toBe(0)
    expect(stderr).toMatch(new RegExp(`^${word} +a v1 init`, 'm'))
    expect(stderr).toMatch(why)
  })

  test('parks the stream after the last try, with the reason', async () => {
    const world = await oneStream()
    const { stderr } = await subscribe(world, ['--tries', '1'], 'echo "no card" >&2; exit 3')
    expect(stderr).toMatch(/^parked {5}a v1 init in \d\.\ds after 1 try: exit 3: no card$/m)
    const parked = await cli(world, ['subscription', 'parked', 'b'])
    expect(parked.stdout).toMatch(/^a +parked +v0 +1 .* exit 3: no card$/m)
  })

  test('leaves the transaction out with --on-poison skip', async () => {
    const { stderr } = await subscribe(await oneStream(), ['--tries', '1', '--on-poison', 'skip'], 'exit 3')
    expect(stderr).toMatch(/^skipped {4}a v1 init/m)
  })

  test('ends a command that hangs at --timeout', async () => {
    const { stderr } = await subscribe(await oneStream(), ['--timeout', '50ms', '--grace', '0s'], 'sleep 600')
    expect(stderr).toContain('it ran longer than 0.05 s')
  })

  test('a command whose time is over before it has begun has failed, and the stream goes on', async () => {
    const block = () => {
      for (const endMs = performance.now() + 50; performance.now() < endMs; );
    }
    const options = {
      timeoutMs: 1,
      graceMs: 0,
      stdout: 'stderr',
      by: 'x',
      started: block,
      stderr: async () => {},
    } as const
    const handler = programHandler(['true'], { ...options, ...PATH, store: newWorld().store })
    const view = await readStream((await oneStream()).store, 'a')
    const [transaction] = view?.transactions() ?? []
    if (view === undefined || transaction === undefined) throw new Error('nothing to deliver')
    const ids = { subscription: 'b', id: 'x@1', stream: 'a', born: view.document.born }
    const delivery = { ...ids, transaction, done: false, view, attempt: 1 }
    expect(await handler(delivery, new AbortController().signal)).toMatchObject({
      ...{ kind: 'failed', why: 'stopped: it ran longer than 0.001 s' },
    })
  })

  test('hands over only what its filters select', async () => {
    const world = await oneStream()
    await cli(world, ['event', 'complete', 'a', '01.00'])
    await cli(world, ['event', 'complete', 'a', '00'])
    const { stdout } = await subscribe(world, ['--done-only', '-o', 'ndjson'], 'true')
    expect(stdout.trim().split('\n').map(json)).toMatchObject([{ op: 'complete', done: true, outcome: 'handled' }])
  })

  test('with other filters than before is refused, with both', async () => {
    const world = await subscribed()
    const words = ['subscribe', '--as', 'billing', '--match', 'z', '--', 'true']
    const { exit, stderr } = await cli(world, words, PATH)
    expect(exit).toBe(2)
    expect(stderr).toContain('--match * --not-match x/** --op init --shards 2, not --match z --shards 8')
  })

  test.each([
    [['--as', 'a b', '--', 'true'], 2, '--as: "a b" cannot be the name of a subscription'],
    [['--', 'true'], 2, '--as is missing'],
    [['--as', 'b'], 2, 'a command to run is missing'],
    [['--as', 'b', '--', 'no-such-command'], 127, '[command-not-found]'],
    [['--as', 'b', '--shards', '8', '--partition', '0/3', '--', 'true'], 2, 'multiple of the number of partitions'],
    [['--as', 'b', '--shards', '257', '--', 'true'], 2, 'from 1 to 256'],
  ])('%j ends with %i', async (words, code, message) => {
    const { exit, stderr } = await cli(newWorld(), ['subscribe', ...words], PATH)
    expect({ exit, stderr }).toEqual({ exit: code, stderr: expect.stringContaining(message) })
  })
})

describe('subscription', () => {
  test('ls shows lag, rate, what waits and is parked, and who runs it', async () => {
    const { stdout } = await cli(await subscribed(), ['subscription', 'ls'])
    expect(stdout).toMatch(/^billing +\S+ +0\.0\/s +\d+ +1 +1 +0\/2 +nobody +\*$/m)
  })

  test('ls without one says how to make one', async () => {
    const { exit, stderr } = await cli(newWorld(), ['subscription', 'ls'])
    expect({ exit, stderr }).toMatchObject({ exit: 0, stderr: expect.stringContaining('subscribe --as NAME') })
  })

  test('show has its filters and each shard', async () => {
    const { stdout } = await cli(await subscribed(), ['subscription', 'show', 'billing'])
    expect(stdout).toContain('streams  --match * --not-match x/** --op init --shards 2')
    expect(stdout).toContain('halted   1 waiting, 1 parked')
    expect(stdout).toMatch(/^ +0 +nobody/m)
  })

  test('one of a newer leasectl is listed, and shown as what it is', async () => {
    const world = await newerSubscription()
    expect((await cli(world, ['subscription', 'ls'])).stdout).toContain('billing')
    const ended = await cli(world, ['subscription', 'show', 'billing'])
    expect(ended).toMatchObject({ exit: 12, stderr: expect.stringMatching(/newer leasectl.*\[store-incompatible\]/s) })
    expect(ended.stderr).toContain('Update leasectl on this machine.')
  })

  test('one of a newer leasectl is not removed, one that is damaged is', async () => {
    const world = await newerSubscription()
    const rm = ['subscription', 'rm', 'billing', '--yes']
    expect(await cli(world, rm)).toMatchObject({ exit: 12, stderr: expect.stringContaining('[store-incompatible]') })
    expect((await cli(world, ['subscription', 'ls'])).stdout).toContain('billing')
    const name = '.leasectl/subscriptions/billing/subscription.json'
    const summary = (await world.store.read(name))?.summary
    await world.store.remove(name, {})
    if (summary !== undefined) await world.store.create(name, Buffer.from('{'), summary)
    expect(await cli(world, rm)).toMatchObject({ exit: 0, stdout: 'billing removed\n' })
    expect((await cli(world, ['subscription', 'ls'])).stdout).not.toContain('billing')
  })

  test('parked lists those that need someone, and with --waiting the others', async () => {
    const world = await subscribed()
    const parked = ['subscription', 'parked', 'billing']
    expect((await cli(world, [...parked, '-o', 'name'])).stdout).toBe('a\n')
    expect((await cli(world, [...parked, '-o', 'name', '--waiting'])).stdout).toBe('a\nb\n')
  })

  test('retry --all retries what is parked', async () => {
    const world = await subscribed()
    const { exit, stdout } = await cli(world, ['subscription', 'retry', 'billing', '--all'])
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: 'a is tried again\n' })
    expect((await cli(world, ['subscription', 'parked', 'billing'])).stderr).toContain('no stream is parked')
  })

  test('skip names the version after which the stream goes on', async () => {
    const { stdout } = await cli(await subscribed(), ['subscription', 'skip', 'billing', 'a'])
    expect(stdout).toBe('a goes on after version 1\n')
  })

  test.each([
    [['retry', 'billing'], 2, 'nothing to retry is given'],
    [['retry', 'billing', 'a', '--all'], 2, '--all and STREAM'],
    [['retry', 'billing', 'nix'], 5, '[not-halted]'],
    [['retry', 'nix', 'a'], 3, '[subscription-not-found]'],
    [['skip', 'nix', 'a'], 3, '[subscription-not-found]'],
    [['reset', 'nix', '--from', 'start'], 3, '[subscription-not-found]'],
    [['reset', 'billing', '--from', 'start'], 2, '--yes answers yes'],
    [['reset', 'billing', '--from', '2999-01-01', '--yes'], 2, '--from is in the future'],
    [['skip', 'billing', 'a', '--to', '99'], 3, 'a has no version 99 to skip to: it is at'],
    [['rm', 'billing'], 2, '--yes answers yes'],
    [['rm', 'nix', '--yes'], 3, '[subscription-not-found]'],
    [['parked', 'nix'], 3, '[subscription-not-found]'],
    [['show', 'a/b'], 2, 'cannot be the name of a subscription'],
  ])('%j ends with %i', async (words, code, message) => {
    const { exit, stderr } = await cli(await subscribed(), ['subscription', ...words])
    expect({ exit, stderr }).toEqual({ exit: code, stderr: expect.stringContaining(message) })
  })

  test.each([
    ['reset billing --from start', 'billing gets every transaction from the start on again, in memory:. '],
    ['rm billing', 'This removes billing and where it was, in memory:. '],
  ])('the question of %s names the store', async (line, question) => {
    const ran = await cli(await subscribed(), ['subscription', ...line.split(' ')], { terminal: true, answer: 'n' })
    expect(ran).toMatchObject({ exit: 2, questions: [expect.stringContaining(question)] })
  })

  test('reset leaves out what was not handled only if asked to', async () => {
    const world = await subscribed()
    world.nowMs += 60_000
    const reset = ['subscription', 'reset', 'billing', '--from']
    const refused = await cli(world, [...reset, '1s', '--yes'])
    expect(refused).toMatchObject({ exit: 5, stdout: '' })
    expect(refused.stderr).toContain(
      'would leave out the next transaction of 2 parked or waiting streams and what came after',
    )
    expect(refused.stderr).toContain('[not-handled]')
    expect((await cli(world, ['subscription', 'parked', 'billing', '-o', 'name'])).stdout).toBe('a\n')
    const asked = await cli(world, [...reset, 'now'], { terminal: true, answer: 'n' })
    expect(asked.questions).toEqual([expect.stringContaining('on again, and never the next transaction of 2 parked')])
    expect((await cli(world, [...reset, 'now', '--yes'])).exit).toBe(0)
    expect((await cli(world, ['subscription', 'parked', 'billing'])).stderr).toContain('no stream is parked')
  })

  test('reset hands over again what was handled', async () => {
    const world = await oneStream()
    await subscribe(world, [], 'true')
    const reset = await cli(world, ['subscription', 'reset', 'b', '--from', 'start'], { terminal: true, answer: 'y' })
    expect(reset).toMatchObject({ exit: 0, stdout: 'everything is handed over again\n' })
    expect((await subscribe(world, [], 'true')).stderr).toMatch(/^handled +a v1 init/m)
  })

  test('rm removes it, but not while a process runs it', async () => {
    const world = await subscribed()
    const shard = '.leasectl/subscriptions/billing/shards/2/0'
    const holder = { by: 'ada', host: 'here', pid: 1, purpose: 'test', sinceMs: world.nowMs }
    await world.store.acquireLease(shard, { leaseId: crypto.randomUUID(), durationS: 60, holder })
    expect(await cli(world, ['subscription', 'rm', 'billing', '--yes'])).toMatchObject({
      exit: 6,
      stderr: expect.stringContaining('[subscription-running]'),
    })
    world.nowMs += 61_000
    expect(await cli(world, ['subscription', 'rm', 'billing', '--yes'])).toMatchObject({ stdout: 'billing removed\n' })
    expect((await cli(world, ['subscription', 'ls', '-o', 'name'])).exit).toBe(2)
  })

  test('completion knows the names of subscriptions', async () => {
    const world = await subscribed()
    for (const line of ['leasectl subscription show ', 'leasectl subscribe --as ']) {
      expect((await cli(world, ['__complete', 'fish', '--', line])).stdout).toContain('billing')
    }
  })

  test('completion offers the streams that do not go on to retry and skip', async () => {
    const world = await subscribed()
    const [parked] = (await parkedOf(world.store, 'billing')) ?? []
    for (const verb of ['retry', 'skip']) {
      const { stdout } = await cli(world, ['__complete', 'fish', '--', `leasectl subscription ${verb} billing `])
      expect(stdout).toContain(`${parked?.stream}\tparked: `)
    }
    const { stdout } = await cli(world, ['__complete', 'fish', '--', 'leasectl subscription retry nix '])
    expect(stdout.trim()).toBe('words')
  })

  test('check warns of parked streams and of lag, and has metrics of each subscription', async () => {
    const world = await subscribed()
    const { exit, stdout } = await cli(world, ['check'])
    expect(exit).toBe(1)
    expect(stdout).toContain('WARNING - 1 subscription in trouble (billing: 1 parked)')
    expect(stdout).toContain('subscriptions=1;1;;0')
    world.nowMs += 3_600_000
    const later = await cli(world, ['check', '-o', 'json'])
    expect(json(later.stdout)).toMatchObject({
      checks: expect.arrayContaining([
        expect.objectContaining({
          name: 'subscriptions',
          status: 'warning',
          examples: [{ stream: 'billing', since: null, message: '1 parked, 1h behind, nobody runs it' }],
        }),
      ]),
    })
    const critical = await cli(world, ['check', '--crit-subscription-lag', '30m'])
    expect(critical).toMatchObject({ exit: 2, stdout: expect.stringContaining('(billing: 1 parked, 1h behind') })
    const patient = await cli(world, ['check', '--warn-subscription-lag', '2h'])
    expect(patient.stdout).toContain('(billing: 1 parked)')
    const metrics = (await cli(world, ['check', '-o', 'prometheus'])).stdout
    expect(metrics).toContain('leasectl_check_subscription_lag_seconds{store="memory:",subscription="billing"} 3600')
    expect(metrics).toContain('leasectl_check_subscription_parked_streams{store="memory:",subscription="billing"} 1')
    expect(metrics).toContain('leasectl_check_subscription_unheld_shards{store="memory:",subscription="billing"} 2')
  })

  test('check of some names, or of a store without subscriptions, says nothing of them', async () => {
    expect((await cli(await subscribed(), ['check', '--match', '*'])).stdout).not.toContain('subscription')
    expect((await cli(await oneStream(), ['check', '-o', 'prometheus'])).stdout).not.toContain('subscription')
  })

  test('check and doctor name one that cannot be read', async () => {
    const world = await newerSubscription()
    expect((await cli(world, ['check'])).stdout).toContain('1 subscription in trouble (billing: ')
    expect((await cli(world, ['doctor'])).stdout).toContain('the subscription billing cannot be read')
  })

  test('doctor finds what nobody runs, and parked streams', async () => {
    const { stdout } = await cli(await subscribed(), ['doctor'])
    expect(stdout).toContain('nobody runs the subscription billing: its transactions wait')
    expect(stdout).toContain('1 stream is parked in the subscription billing')
    expect((await cli(await oneStream(), ['doctor'])).stdout).not.toContain('subscription')
  })

  test('text of a handler cannot reach the terminal', async () => {
    const world = await oneStream()
    await change(world.store, 'a', { op: 'settle' })
    await subscribe(world, ['--tries', '1'], "printf 'no \\033[31mcard\\033[0m\\n' >&2; exit 3")
    const { stdout } = await cli(world, ['subscription', 'parked', 'b'])
    expect(stdout).toContain('no card')
    expect(stdout).not.toContain('\u001b')
  })
})
