import { expect, test } from 'vitest'
import { register } from '../../../src/commands/abort.ts'
import { cli, json, newWorld, optionsFrom, statuses } from './support.ts'

test('argv → options', async () => {
  expect(await optionsFrom(register, ['abort', 'a', '-e', '01.00', '-q'])).toEqual({
    names: ['a'],
    event: ['01.00'],
    quiet: true,
  })
})

test('the target is aborted, open events below it are canceled', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B'])
  const ran = await cli(world, ['abort', 's', '-m', 'stuck'])
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  expect(ran.stdout).toContain('✓ s  aborted  v2')
  expect(await statuses(world, 's')).toEqual({ '00': 'aborted', '01.00': 'canceled', '02.00': 'canceled' })
})

test('several events, one transaction each', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B,C'])
  const ran = await cli(world, ['abort', 's', '-e', '01.00', '-e', '03.00', '-o', 'json'])
  expect(json(ran.stdout)).toMatchObject({
    items: [
      { event: '01.00', version: 2 },
      { event: '03.00', version: 3 },
    ],
  })
  expect(await statuses(world, 's')).toEqual({
    '00': 'inprocess',
    '01.00': 'aborted',
    '02.00': 'init',
    '03.00': 'aborted',
  })
})

test('-q prints nothing', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  expect(await cli(world, ['abort', 's', '-q'])).toMatchObject({ exit: 0, stdout: '', stderr: '' })
})
