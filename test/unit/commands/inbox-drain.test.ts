import { describe, expect, test } from 'vitest'
import { createInbox } from '../../../src/inbox/inbox.ts'
import { InboxWriter } from '../../../src/inbox/writer.ts'
import { readStream } from '../../../src/ops/read-stream.ts'
import { cli, newWorld, type World } from './support.ts'

const TEMPLATE =
  "root: Delivery\nkey: '{/data/customer}'\nsteps:\n  - { name: Pick, tag: '{/id}' }\n  - { name: Pack }\n"
const FILES = { files: { 'd.yaml': TEMPLATE } }
const DRAIN = ['inbox', 'drain', 'orders', '--template', 'd.yaml', '--name', 'd/{/id}', '--once']

async function world(...records: readonly (readonly [id: string, data: unknown])[]): Promise<World> {
  const made = newWorld()
  const outcome = await createInbox(made.store, 'orders', 1, { by: 'ada' })
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  const writer = new InboxWriter(made.store, outcome.inbox, { lingerMs: 0 })
  await Promise.all(records.map(([id, data]) => writer.put({ id, json: JSON.stringify(data) })))
  return made
}

describe('inbox drain', () => {
  test('fills values of the record into the data of a step, too', async () => {
    const made = await world(['o1', { customer: 'ada' }])
    const template =
      "root: D\nsteps:\n  - { name: A, data: '{/id} for {/data/customer}' }\n  - { name: B, data: plain }\n"
    expect(await cli(made, DRAIN, { files: { 'd.yaml': template } })).toMatchObject({ exit: 0 })
    const view = await readStream(made.store, 'd/o1')
    expect(view?.stream.events.slice(1).map(({ input }) => input?.text)).toEqual(['o1 for ada', 'plain'])
  })

  test('makes a stream of each record from a template, with values of the record in its texts', async () => {
    const made = await world(['o1', { customer: 'ada' }], ['o2', {}])
    const ran = await cli(made, DRAIN, FILES)
    expect(ran).toMatchObject({ exit: 7, stdout: '' })
    expect(ran.stderr).toContain('dead       o2 d/o2: invalid-value: the record has no /data/customer\n')
    expect(ran.stderr).toContain('drained 1 record, 1 dead letter\n')
    const view = await readStream(made.store, 'd/o1')
    const events = view?.stream.events.map(({ name, key, tag }) => [name, key, tag])
    expect(events).toEqual([
      ['Delivery', 'ada', ''],
      ['Pick', '', 'o1'],
      ['Pack', '', ''],
    ])
  })

  test('of an inbox in another store names that store in every way out', async () => {
    const east = 'azurite://127.0.0.1:1/east'
    const there = await world(['o1', {}])
    const argv = [...DRAIN, '--inbox-store', east]
    const setting = { ...FILES, others: { [east]: there.store } }
    const ran = await cli(newWorld(), argv, setting)
    expect(ran).toMatchObject({ exit: 7, stderr: expect.stringContaining(`inbox dead ls orders --store ${east}`) })
    const none = await cli(newWorld(), argv, { ...FILES, others: { [east]: newWorld().store } })
    expect(none).toMatchObject({ exit: 3, stderr: expect.stringContaining(`inbox create orders --store ${east}`) })
  })

  test('as ndjson writes one line for each record', async () => {
    const made = await world(['o1', { customer: 'ada' }], ['o2', {}])
    const ran = await cli(made, [...DRAIN, '-o', 'ndjson'], FILES)
    const lines = ran.stdout
      .trim()
      .split('\n')
      .sort((a, b) => a.length - b.length)
    expect(lines.map(line => JSON.parse(line))).toMatchObject([
      {
        ...{ inbox: 'orders', partition: 0, id: 'o1', key: 'o1', outcome: 'created', stream: 'd/o1' },
        ...{ code: null, message: null },
      },
      {
        ...{ inbox: 'orders', partition: 0, id: 'o2', key: 'o2', outcome: 'dead', stream: 'd/o2' },
        ...{ code: 'invalid-value', message: 'the record has no /data/customer' },
      },
    ])
  })

  test('refuses to do something else than the drains before, unless it is told to', async () => {
    const made = await world(['o1', { customer: 'ada' }])
    expect((await cli(made, DRAIN, FILES)).exit).toBe(0)
    const other = ['inbox', 'drain', 'orders', '--append', 'Move', '--name', 'cars/{/key}', '--once']
    const refused = await cli(made, other)
    expect(refused).toMatchObject({ exit: 5 })
    expect(refused.stderr).toContain('the inbox orders is drained to streams d/{/id}')
    expect((await cli(made, [...other, '--force'])).exit).toBe(0)
  })

  test.each([
    [['--name', 'd/{/id}'], 2, '--template or --append'],
    [['--append', 'A', '--template', 'd.yaml', '--name', 'd/{/id}'], 2, '--template or --append'],
    [['--append', 'A'], 2, '--name is missing'],
    [['--append', 'A', '--name', 'all'], 2, 'all would be one stream'],
    [['--append', 'A', '--name', '../{/id}'], 2, '"../x" is not a valid stream name'],
    [['--append', 'A', '--name', 'a//{/id}'], 2, 'has an empty part'],
    [['--append', 'A', '--name', '.leasectl/{/id}'], 2, 'are reserved'],
    [['--append', 'A', '--name', 'd/{/customer}'], 2, 'Did you mean {/data/customer}?'],
    [['--append', 'A', '--name', 'd/{/id}', '--concurrency', '2000'], 2, 'from 1 to 1024'],
    [['--append', 'A', '--name', 'd/{/id}', '--partition', '0/3'], 2, 'cannot be divided by 3'],
    [['--template', 'none.yaml', '--name', 'd/{/id}'], 2, '--template none.yaml cannot be read'],
  ])('refuses %j', async (flags, exit, said) => {
    const ran = await cli(await world(), ['inbox', 'drain', 'orders', '--once', ...flags], FILES)
    expect(ran).toMatchObject({ exit })
    expect(ran.stderr).toContain(said)
  })

  test('says that there is no such inbox', async () => {
    const ran = await cli(newWorld(), DRAIN, FILES)
    expect(ran).toMatchObject({ exit: 3 })
    expect(ran.stderr).toContain('there is no inbox orders')
  })
})

test('an inbox that was removed leaves nothing that binds one of its name', async () => {
  const made = await world(['o1', { customer: 'ada' }])
  await cli(made, DRAIN, FILES)
  expect((await cli(made, ['inbox', 'rm', 'orders', '--yes'])).exit).toBe(0)
  await cli(made, ['inbox', 'create', 'orders', '--partitions', '1'])
  const other = ['inbox', 'drain', 'orders', '--append', 'Move', '--name', 'cars/{/key}', '--once']
  expect((await cli(made, other)).exit).toBe(0)
})

describe('inbox drain --strict-order', () => {
  const STRICT = ['inbox', 'drain', 'orders', '--append', 'Move', '--name', 'd/{/key}', '--once', '--strict-order']

  test('blocks the key of a dead letter, which show and dead ls name, until it is retried', async () => {
    const made = newWorld()
    await cli(made, ['init', 'd/k', '--root', 'Other'])
    const outcome = await createInbox(made.store, 'orders', 1, { by: 'ada' })
    if (outcome.kind !== 'created') throw new Error(outcome.kind)
    const writer = new InboxWriter(made.store, outcome.inbox, { lingerMs: 0 })
    for (const id of ['a', 'b']) await writer.put({ id, key: 'k', json: '1' })
    expect(await cli(made, STRICT)).toMatchObject({ exit: 7 })
    const shown = await cli(made, ['inbox', 'show', 'orders'])
    expect(shown.stdout).toContain('key k is blocked by the dead letter of a; 1 record waits behind it')
    const fields = JSON.parse((await cli(made, ['inbox', 'show', 'orders', '-o', 'json'])).stdout)
    expect(fields).toMatchObject({ blocked: [{ key: 'k', id: 'a', records: 1 }] })
    expect((await cli(made, ['inbox', 'dead', 'ls', 'orders'])).stdout).toContain('; blocks its key')
    const behind = await cli(made, ['inbox', 'dead', 'retry', 'orders', 'b'])
    expect(behind).toMatchObject({ exit: 7 })
    expect(behind.stderr).toContain('waits behind a dead letter of its key')
    const told = await cli(made, ['inbox', 'dead', 'retry', 'orders', 'b', '-o', 'json'])
    expect(JSON.parse(told.stderr)).toMatchObject({ error: { applied: 'no', retryable: false } })
    await cli(made, ['rm', 'd/k', '--yes', '--force'])
    expect((await cli(made, ['inbox', 'dead', 'retry', 'orders', '--all'])).stdout).toContain('retried 1 dead letter')
    expect((await cli(made, ['inbox', 'dead', 'ls', 'orders'])).stdout).toContain('retried: waits for its drain')
    const rm = await cli(made, ['inbox', 'rm', 'orders', '--yes'])
    expect(rm).toMatchObject({ exit: 5, stderr: expect.stringContaining('has 2 records not drained') })
    const went = await cli(made, STRICT)
    expect(went).toMatchObject({ exit: 0 })
    expect(went.stderr).toContain('drained 2 records')
    expect((await cli(made, STRICT.slice(0, -1))).stderr).toContain('in strict order')
  })
})

describe('inbox dead', () => {
  test('lists, shows, retries and drops what could not be done', async () => {
    const made = await world(['o1', {}], ['o2', {}])
    await cli(made, DRAIN, FILES)
    const listed = await cli(made, ['inbox', 'dead', 'ls', 'orders', '-o', 'json'])
    expect(JSON.parse(listed.stdout)).toMatchObject({ items: [{ id: 'o1', code: 'invalid-value' }, { id: 'o2' }] })
    const shown = await cli(made, ['inbox', 'dead', 'show', 'orders', 'o1'])
    expect(shown.stdout).toContain('"data":{}}')
    expect((await cli(made, ['inbox', 'dead', 'show', 'orders', 'o3'])).exit).toBe(3)
    const dropped = await cli(made, ['inbox', 'dead', 'drop', 'orders', 'o1'])
    expect(dropped.stdout).toBe('dropped 1 dead letter of orders\n')
    const retried = await cli(made, ['inbox', 'dead', 'retry', 'orders', '--all', '-o', 'json'])
    expect(JSON.parse(retried.stdout)).toMatchObject({ outcome: 'retried', letters: [expect.any(String)] })
    expect((await cli(made, ['inbox', 'dead', 'ls', 'orders'])).stderr).toContain('has no dead letters')
    const again = await cli(made, [...DRAIN, '--force'], { files: { 'd.yaml': 'root: Delivery\n' } })
    expect(again).toMatchObject({ exit: 0 })
    expect((await readStream(made.store, 'd/o2'))?.stream.events).toHaveLength(1)
    expect((await cli(made, ['inbox', 'dead', 'retry', 'orders'])).exit).toBe(2)
  })
})
