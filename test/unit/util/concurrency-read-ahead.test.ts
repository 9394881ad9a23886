import { expect, test } from 'vitest'
import { readAhead } from '../../../src/util/concurrency.ts'

/** Reads that end when the test says so, and the ones begun. */
function gates() {
  const begun: number[] = []
  const open = new Map<number, { resolve: (value: number) => void; reject: (error: Error) => void }>()
  const read = (item: number) => {
    begun.push(item)
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    open.set(item, { resolve, reject })
    return promise
  }
  return { begun, open, read }
}

test('several items are read in parallel, and returned in order', async () => {
  const { begun, open, read } = gates()
  const results = readAhead([1, 2, 3, 4], 3, read)
  const first = results.next()
  await new Promise(setImmediate)
  expect(begun).toEqual([1, 2, 3])
  for (const item of [3, 2, 1]) open.get(item)?.resolve(item * 10)
  expect((await first).value).toBe(10)
  const rest = Array.fromAsync(results)
  await new Promise(setImmediate)
  expect(begun).toEqual([1, 2, 3, 4])
  open.get(4)?.resolve(40)
  expect(await rest).toEqual([20, 30, 40])
})

test('an error is thrown in its position, and is not unhandled before', async () => {
  const { open, read } = gates()
  const results = readAhead([1, 2], 2, read)
  const first = results.next()
  await new Promise(setImmediate)
  open.get(2)?.reject(new Error('lost'))
  await new Promise(setImmediate)
  open.get(1)?.resolve(1)
  expect((await first).value).toBe(1)
  await expect(results.next()).rejects.toThrow('lost')
})
