import { afterEach, expect, test, vi } from 'vitest'
import { cli, newWorld, statuses } from '../support.ts'
import { given, linesOf, runFileOf } from './support.ts'

afterEach(() => vi.restoreAllMocks())

/** Runs a command line; its timers end at once. Returns their delays in seconds, rounded up. */
async function delaysOf(line: string) {
  const delays: number[] = []
  const { setTimeout: real } = globalThis
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((act: () => void, ms = 0) => {
    delays.push(Math.ceil(ms / 1_000))
    return real(act, 0)
  }) as typeof setTimeout)
  const world = newWorld()
  await given(world, ['a', 'b', 'c'])
  const ran = await cli(world, line.split(' '))
  return { world, ran, delays }
}

test('--rate begins so many streams in a second, and all of them in the end', async () => {
  const { world, ran, delays } = await delaysOf('cancel --all --yes --rate 1')
  expect(ran.exit).toBe(0)
  expect(delays).toEqual(expect.arrayContaining([1, 2]))
  for (const name of ['a', 'b', 'c']) expect((await statuses(world, name))['00']).toBe('canceled')
  expect(linesOf(runFileOf(ran))[0]).toMatchObject({ rate: 1 })
})

test('without it no stream waits', async () => {
  const { ran, delays } = await delaysOf('cancel --all --yes')
  expect(ran.exit).toBe(0)
  expect(delays.filter(delay => delay > 0)).toEqual([])
})
