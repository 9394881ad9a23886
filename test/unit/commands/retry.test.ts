import { expect, test } from 'vitest'
import { register } from '../../../src/commands/retry.ts'
import { cli, json, newWorld, optionsFrom, statuses } from './support.ts'

test('argv → options', async () => {
  expect(await optionsFrom(register, ['retry', 'a', '-e', '01.00', '-m', 'again'])).toEqual({
    names: ['a'],
    event: ['01.00'],
    reason: 'again',
  })
})

test('without -e all failed leaves are retried in one transaction', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B,C'])
  for (const id of ['01.00', '02.00']) await cli(world, ['event', 'fail', 's', id])
  const ran = await cli(world, ['retry', 's', '-o', 'json'])
  expect(ran.exit).toBe(0)
  expect(json(ran.stdout)).toMatchObject({ event: null, version: 4, outcome: 'done' })
  expect(await statuses(world, 's')).toEqual({ '00': 'inprocess', '01.00': 'init', '02.00': 'init', '03.00': 'init' })
})

test('a stream without a failure is refused, exit 5, and unchanged', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A'])
  const ran = await cli(world, ['retry', 's', '-e', '01.00'])
  expect(ran).toMatchObject({ exit: 5, stdout: '' })
  expect(ran.stderr).toContain('[not-failed]')
})
