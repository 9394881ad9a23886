import { describe, expect, test } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { edit } from '../../../src/ops/transact/edit.ts'
import { transact } from '../../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { ChangeResult } from '../../../src/stream/operations/operation.ts'
import { init, intercept, memoryStore, resultOf, run } from './support.ts'

const COMPLETE = { op: 'complete', event: '01.00' } as const

/** A call with a command id that others use too, and the results passed to `afterWrite`. */
async function call(store: StreamStore, how: 'transact' | 'edit') {
  const followed: ChangeResult[] = []
  const options = {
    commandId: 'shared',
    by: 'tester',
    leaseWaitMs: 0,
    afterWrite: (result: ChangeResult) => void followed.push(result),
  }
  if (how === 'transact') {
    const { duplicate } = resultOf(await transact(store, 's', COMPLETE, options))
    return { duplicate, followed: followed.length }
  }
  const outcome = await edit(store, 's', options, editing => editing.apply(COMPLETE))
  if (outcome.kind !== 'done') throw new Error(outcome.kind)
  return { duplicate: outcome.duplicate, followed: followed.length }
}

const timesInJournal = async (store: StreamStore) =>
  (await readStream(store, 's'))?.transactions().filter(({ op }) => op === 'complete').length

describe.each(['transact', 'edit'] as const)('of calls with one command id, by %s,', how => {
  const started = async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    return store
  }

  test('a call whose write was refused recognizes the entry of another as not its own, even of the same time', async () => {
    const store = await started()
    const refused = intercept(store, async (_, decide, go) => {
      // Planned and sent; the write of another came first.
      await go((current, nowMs) => {
        expect(decide(current, nowMs).kind).toBe('put')
        return { kind: 'leave' }
      })
      expect(await call(store, how)).toEqual({ duplicate: false, followed: 1 })
      return go(decide)
    })
    expect(await call(refused, how)).toEqual({ duplicate: true, followed: 1 })
    expect(await timesInJournal(store)).toBe(1)
  })

  test('a call whose write landed without an answer recognizes its own entry, whatever was written after it', async () => {
    const store = await started()
    const unanswered = intercept(store, async (_, decide, go) => {
      await go(decide)
      expect(await call(store, how)).toEqual({ duplicate: true, followed: 1 })
      await run(store, 's', { op: 'complete', event: '02.00' })
      return go(decide)
    })
    expect(await call(unanswered, how)).toEqual({ duplicate: false, followed: 1 })
    expect(await timesInJournal(store)).toBe(2)
  })

  test('one of several simultaneous callers that share a store makes the change', async () => {
    const store = await started()
    const calls = await Promise.all(Array.from({ length: 4 }, () => call(store, how)))
    expect(calls.filter(({ duplicate }) => !duplicate)).toEqual([{ duplicate: false, followed: 1 }])
    expect(calls.map(({ followed }) => followed)).toEqual([1, 1, 1, 1])
  })
})
