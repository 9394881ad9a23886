import { describe, expect, test } from 'vitest'
import { runBatch, sleep, sleepUntilAborted } from '../../../src/util/concurrency.ts'

const items = Array.from({ length: 20 }, (_, at) => at)

describe('runBatch', () => {
  test('begins items in order, at most the given number at a time, and each once', async () => {
    const begun: number[] = []
    let inFlight = 0
    let most = 0
    const count = await runBatch(items, { concurrency: 4 }, async item => {
      begun.push(item)
      most = Math.max(most, ++inFlight)
      for (let turns = item % 3; turns >= 0; turns--) await new Promise(setImmediate)
      inFlight--
    })
    expect({ begun, most, count }).toEqual({ begun: items, most: 4, count: 20 })
  })

  test('accepts fewer items than lanes, or none', async () => {
    const done: number[] = []
    const work = async (item: number) => void done.push(item)
    expect(await runBatch([1], { concurrency: 64 }, work)).toBe(1)
    expect(await runBatch([], { concurrency: 64 }, work)).toBe(0)
    expect(done).toEqual([1])
  })

  test('begins no further item once it is stopped, and items in flight complete', async () => {
    const stop = new AbortController()
    const ended: number[] = []
    const count = await runBatch(items, { concurrency: 3, stop: stop.signal }, async item => {
      if (item === 4) stop.abort()
      await new Promise(setImmediate)
      ended.push(item)
    })
    expect(count).toBeLessThanOrEqual(6)
    expect(ended.sort((a, b) => a - b)).toEqual(items.slice(0, count))
  })

  test('begins no item if it is stopped before the beginning', async () => {
    expect(await runBatch(items, { concurrency: 3, stop: AbortSignal.abort() }, async () => {})).toBe(0)
  })

  test('rethrows the error of an item after the others in flight have ended, and ends the batch', async () => {
    const ended: number[] = []
    const batch = runBatch(items, { concurrency: 3 }, async item => {
      if (item === 2) throw new Error('no')
      await new Promise(setImmediate)
      ended.push(item)
    })
    await expect(batch).rejects.toThrow('no')
    expect(ended).toEqual([0, 1])
  })

  test('lets timers and signals run between items that only use promises', async () => {
    let isHeard = false
    setImmediate(() => {
      isHeard = true
    })
    const endless = { length: 1, values: () => until(() => isHeard) } as unknown as readonly number[]
    await runBatch(endless, { concurrency: 2 }, async () => {})
    expect(isHeard).toBe(true)
  })
})

function* until(ends: () => boolean): Generator<number> {
  for (let at = 0; at < 3_000_000 && !ends(); at++) yield at
}

describe('sleep', () => {
  test('rejects with the reason of its signal, before and during the sleep', async () => {
    const reason = new Error('stop')
    await expect(sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason)
    const stop = new AbortController()
    const sleeping = sleep(60_000, stop.signal)
    stop.abort(reason)
    await expect(sleeping).rejects.toBe(reason)
  })
})

describe('sleepUntilAborted', () => {
  test('resolves as soon as one of its signals aborts, before and during the sleep', async () => {
    await sleepUntilAborted(60_000, undefined, AbortSignal.abort())
    const stop = new AbortController()
    const sleeping = sleepUntilAborted(60_000, new AbortController().signal, stop.signal)
    stop.abort()
    await sleeping
  })
})
