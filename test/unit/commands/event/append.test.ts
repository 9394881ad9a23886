import { describe, expect, test } from 'vitest'
import { registerAppend } from '../../../../src/commands/event/append.ts'
import { append, createStream, mustReadStream, newData, openStore, readData } from '../../../../src/index.ts'
import { withoutContainer } from '../store-with.ts'
import { cli, json, newWorld, optionsFrom } from '../support.ts'

test('argv → options', async () => {
  const argv = ['append', 's', '--name', 'A', '--command-id', 'c', '--create', '--root', 'Car', '--last']
  expect(await optionsFrom(registerAppend, argv)).toEqual({
    ...{ stream: 's', name: 'A', commandId: 'c', create: true, root: 'Car', last: true },
  })
})

describe('event append', () => {
  test('makes the session if it is absent, and appends once for an id', async () => {
    const world = newWorld()
    const argv = ['event', 'append', 's', '--name', 'Move', '--data', '3,4', '--command-id', 'm1', '--create']
    const first = await cli(world, argv)
    expect(first).toMatchObject({ exit: 0, stderr: '' })
    expect(first.stdout).toContain('✓ s  appended Move  v2')
    expect(first.stdout).toContain('02.00  ○ init')
    expect((await cli(world, argv)).stdout).toContain('done before')
    const next = await cli(world, [
      'event',
      'append',
      's',
      '--name',
      'Park',
      '--command-id',
      'm2',
      '--last',
      '-o',
      'json',
    ])
    expect(json(next.stdout)).toMatchObject({ added: ['02.01'], done: false })
    await cli(world, ['event', 'complete', 's', '02.00'])
    await cli(world, ['event', 'complete', 's', '02.01'])
    expect(json((await cli(world, ['show', 's', '-o', 'json'])).stdout)).toMatchObject({
      done: true,
      status: 'completed',
    })
  })

  test('creates a missing container where init would', async () => {
    const world = newWorld()
    const argv = ['event', 'append', 's', '--name', 'A', '--command-id', 'm1']
    const azure = withoutContainer(world.store, 'azure:acc/streams')
    expect((await cli(world, [...argv, '--create-container'], { store: azure.store })).exit).toBe(2)
    expect((await cli(world, [...argv, '--create'], { store: azure.store })).exit).toBe(3)
    expect(azure.created()).toBe(0)
    const emulator = withoutContainer(world.store, 'azurite:streams')
    expect((await cli(world, argv, { store: emulator.store })).exit).toBe(3)
    expect((await cli(world, [...argv, '--create'], { store: emulator.store })).exit).toBe(0)
    const next = ['event', 'append', 't', '--name', 'A', '--command-id', 'm1', '--create', '--create-container']
    expect((await cli(world, next, { store: azure.store })).exit).toBe(0)
    expect([emulator.created(), azure.created()]).toEqual([1, 1])
  })

  test('ends by the signal end', async () => {
    const world = newWorld()
    await cli(world, ['event', 'append', 's', '--name', 'A', '--command-id', 'm1', '--create'])
    await cli(world, ['event', 'complete', 's', '02.00'])
    expect((await cli(world, ['signal', 's', 'end'])).stdout).toContain('the stream is done')
  })

  test('with --seq appends a step that waits for the one before it, which every listing names', async () => {
    const world = newWorld()
    const argv = (seq: number) => [
      'event',
      'append',
      's',
      '--name',
      `M${seq}`,
      '--seq',
      `${seq}`,
      '--command-id',
      `m${seq}`,
    ]
    expect(await cli(world, [...argv(7), '--create'])).toMatchObject({ exit: 0 })
    expect((await cli(world, ['show', 's'])).stdout).toMatch(/M7 .*for step 6, which has not come/)
    expect((await cli(world, ['ls', '-o', 'wide'])).stdout).toContain('01.07.00 M7 for step 6, which has not come')
    expect((await cli(world, ['ls', '--state', 'blocked', '-o', 'name'])).stdout).toBe('s\n')
    expect((await cli(world, ['events', '--waiting-for', 'step'])).stdout).toContain('for step 6')
    expect(json((await cli(world, ['show', 's', '-o', 'json'])).stdout)).toMatchObject({
      events: expect.arrayContaining([expect.objectContaining({ waitsFor: expect.objectContaining({ step: 6 }) })]),
    })
    expect((await cli(world, ['doctor', 's'])).stdout).not.toContain('gate-broken')
    expect((await cli(world, argv(7))).stdout).toContain('done before')
    const other = await cli(world, [...argv(7).slice(0, -1), 'other'])
    expect(other).toMatchObject({ exit: 5 })
    expect(other.stderr).toContain('[step-taken]')
    expect((await cli(world, [...argv(6), '--auto'])).stdout).not.toContain('step 6')
    expect(await cli(world, [...argv(6).slice(0, 5), '--command-id', 'none'])).toMatchObject({ exit: 5 })
  })

  test('is shown in the log with its step', async () => {
    const world = newWorld()
    await cli(world, ['event', 'append', 's', '--name', 'A', '--command-id', 'm1', '--create', '--by', 'ana'])
    expect((await cli(world, ['log', 's', '--op', 'append'])).stdout).toMatch(/ana +append 02\.00 A/)
  })

  test('refuses a stream that is no session, an absent one without --create, and a command without name or id', async () => {
    const world = newWorld()
    await cli(world, ['init', 'plain', '--root', 'Order'])
    const argv = (stream: string) => ['event', 'append', stream, '--name', 'A', '--command-id', 'm1']
    const refused = await cli(world, argv('plain'))
    expect(refused.exit).toBe(5)
    expect(refused.stderr).toContain('[no-session]')
    expect(await cli(world, [...argv('plain'), '--create'])).toMatchObject({ exit: 5 })
    expect(await cli(world, argv('absent'))).toMatchObject({ exit: 3 })
    expect(await cli(world, ['event', 'append', 's', '--command-id', 'm1'])).toMatchObject({ exit: 2 })
    expect(await cli(world, ['event', 'append', 's', '--name', 'A', '--create'])).toMatchObject({ exit: 2 })
    expect(await cli(world, [...argv('s'), '--root', 'Car'])).toMatchObject({ exit: 2 })
  })
})

test('a program appends steps with data of any size', async () => {
  await using store = await openStore('memory:')
  const data = newData('x'.repeat(10_000))
  const options = { by: 'test', commandId: 'm1', create: { root: 'Car' } }
  for (const duplicate of [false, true]) {
    expect(await append(store, 's', { name: 'Move', data }, options)).toMatchObject({
      ...{ kind: 'done', result: { duplicate } },
    })
  }
  const stream = await mustReadStream(store, 's')
  const { input } = stream.mustFind('02.00')
  expect(input && (await readData(store, stream, input)).text()).toBe('x'.repeat(10_000))
  expect(stream.root.name).toBe('Car')
  await createStream(store, 'plain', { by: 'test' }, { root: { name: 'Order' } })
  expect(await append(store, 'plain', 'A', options)).toMatchObject({ kind: 'refused', refusal: { code: 'no-session' } })
})

test('programs that append to an absent stream at the same time make one session', async () => {
  await using store = await openStore('memory:')
  const ids = Array.from({ length: 10 }, (_, at) => `m${at}`)
  const sends = [...ids, ...ids].map(commandId => append(store, 's', 'A', { by: 'test', commandId, create: true }))
  expect((await Promise.all(sends)).map(({ kind }) => kind)).toEqual(sends.map(() => 'done'))
  const stream = await mustReadStream(store, 's')
  expect(stream.events).toHaveLength(12)
  expect(stream.ready.map(({ id }) => id)).toEqual(['02.00'])
})
