import { beforeEach, describe, expect, it } from 'vitest'
import type { StreamStore } from '../../../../src/store/store.ts'
import type { ChangeResult, Operation } from '../../../../src/stream/operations/operation.ts'
import { init, intercept, memoryStore, resultOf, run } from '../support.ts'

const COMPLETE: Operation = { op: 'complete', event: '01.00' }

describe('afterWrite', () => {
  let store: StreamStore
  let seen: ChangeResult[]
  const afterWrite = (result: ChangeResult) => void seen.push(result)
  beforeEach(async () => {
    seen = []
    store = memoryStore().store
    await run(store, 's', init(['A']))
  })

  it('is called with the result', async () => {
    const result = resultOf(await run(store, 's', COMPLETE, { afterWrite }))
    expect(seen).toEqual([result])
    expect(result.outcome).toBe('done')
  })

  it('is not called for an already-so result: nothing was written', async () => {
    await run(store, 's', { op: 'cancel', event: '01.00' })
    const again = await run(store, 's', { op: 'cancel', event: '01.00' }, { afterWrite })
    expect(resultOf(again)).toMatchObject({ outcome: 'already', duplicate: false })
    expect(seen).toEqual([])
  })

  it('is not called for a command that was done before', async () => {
    await run(store, 's', COMPLETE, { commandId: 'once' })
    expect(resultOf(await run(store, 's', COMPLETE, { commandId: 'once', afterWrite })).duplicate).toBe(true)
    expect(seen).toEqual([])
  })

  it('is called once for a write that landed without an answer', async () => {
    const lossy = intercept(store, async (_, decide, go) => {
      await go(decide)
      return go(decide)
    })
    await run(lossy, 's', COMPLETE, { afterWrite })
    expect(seen).toMatchObject([{ outcome: 'done', duplicate: false, version: 2, done: true }])
  })
})
