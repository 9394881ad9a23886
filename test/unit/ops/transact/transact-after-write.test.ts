import { beforeEach, describe, expect, it } from 'vitest'
import { onDone, onJoined } from '../../../../src/library/worker.ts'
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

  it('is called for a duplicate too, marked as such: the first call may have died before it', async () => {
    const diedBeforeIt = { afterWrite: () => Promise.reject(new Error('killed')) }
    await expect(run(store, 's', COMPLETE, { commandId: 'once', ...diedBeforeIt })).rejects.toThrow('killed')
    const again = resultOf(await run(store, 's', COMPLETE, { commandId: 'once', afterWrite }))
    expect(again).toMatchObject({ outcome: 'already', duplicate: true, version: 2, done: true })
    expect(seen).toEqual([again])
  })

  it('of a duplicate passes what the first call did to onJoined and onDone, whatever was written since', async () => {
    await run(store, 'j', { ...init(['A', 'B']), join: { name: 'Sum' } } as Operation)
    await run(store, 'j', COMPLETE)
    const last: Operation = { op: 'complete', event: '02.00' }
    const end: Operation = { op: 'complete', event: '01' }
    await run(store, 'j', last, { commandId: 'last' })
    const calls: string[] = []
    const followUp = async (result: ChangeResult) => {
      await onJoined((join, { duplicate }) => void calls.push(`${join} ${duplicate}`))(result)
      await onDone(({ duplicate }) => void calls.push(`end ${duplicate}`))(result)
    }
    await run(store, 'j', end, { commandId: 'end', afterWrite: followUp })
    expect(calls).toEqual(['end false'])
    await run(store, 'j', last, { commandId: 'last', afterWrite: followUp })
    await run(store, 'j', end, { commandId: 'end', afterWrite: followUp })
    expect(calls).toEqual(['end false', '01 true', 'end true'])
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
