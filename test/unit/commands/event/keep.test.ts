import { expect, test } from 'vitest'
import { append } from '../../../../src/library/session.ts'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { cli, newWorld, type World } from '../support.ts'

async function worked(world: World, steps: number, ...flags: readonly string[]): Promise<void> {
  for (let at = 0; at < steps; at++) {
    const ran = await cli(world, [
      'event',
      'append',
      's',
      '--name',
      'Move',
      '--command-id',
      `m${at}`,
      '--create',
      ...flags,
    ])
    if (ran.exit !== 0) throw new Error(ran.stderr)
    const view = await readStream(world.store, 's')
    const id = view?.stream.root?.lc.appended ?? ''
    await cli(world, ['event', 'complete', 's', id])
  }
}

test('a session with --keep stays as small after 60 steps as after 20', async () => {
  const world = newWorld()
  await worked(world, 20, '--keep', '5')
  const before = (await world.store.read('s'))?.size ?? 0
  await worked(newWorld(), 0)
  for (let round = 0; round < 2; round++)
    for (let at = 0; at < 20; at++) {
      await cli(world, ['event', 'append', 's', '--name', 'Move', '--command-id', `r${round}-${at}`, '--keep', '5'])
      const view = await readStream(world.store, 's')
      await cli(world, ['event', 'complete', 's', view?.stream.root?.lc.appended ?? ''])
    }
  const view = await readStream(world.store, 's')
  expect(view?.stream.events.length).toBeLessThan(10)
  expect(view?.stored.size).toBeLessThan(before * 1.2)
  expect((await cli(world, ['log', 's'])).stdout).toMatch(/trim +\d+ steps dropped so far/)
  expect((await cli(world, ['doctor', 's'])).exit).toBe(0)
})

test('the library keeps as many steps as the command line', async () => {
  const world = newWorld()
  for (let at = 0; at < 6; at++) {
    const options = { by: 'gps', commandId: `m${at}`, create: true, keep: 2 }
    expect(await append(world.store, 's', { name: 'Move' }, options)).toMatchObject({ kind: 'done' })
    const view = await readStream(world.store, 's')
    await cli(world, ['event', 'complete', 's', view?.stream.root?.lc.appended ?? ''])
  }
  expect((await readStream(world.store, 's'))?.stream.events.map(({ id }) => id)).toEqual([
    '00',
    '01.00',
    '02.03',
    '02.04',
    '02.05',
  ])
  await expect(append(world.store, 's', { name: 'Move' }, { by: 'gps', commandId: 'x', keep: 0 })).rejects.toThrow(
    'keep',
  )
})

test('a repetition with another --keep is the same step', async () => {
  const world = newWorld()
  await worked(world, 1, '--keep', '5')
  const again = await cli(world, ['event', 'append', 's', '--name', 'Move', '--command-id', 'm0', '--keep', '9'])
  expect(again).toMatchObject({ exit: 0 })
  expect((await readStream(world.store, 's'))?.stream.events).toHaveLength(3)
})
