import { describe, expect, test } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { edit } from '../../../src/ops/transact/edit.ts'
import { StreamReplaced } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { init, intercept, memoryStore, resultOf, run } from './support.ts'

async function anew(store: StreamStore): Promise<void> {
  await store.remove('s', {})
  resultOf(await run(store, 's', init(['A'], 'b1')))
}

/** The first write is applied but not answered; before it is looked up, the stream is removed and another one created. */
function replacedMeanwhile(store: StreamStore): StreamStore {
  let isFirst = true
  return intercept(store, async (_, decide, go) => {
    if (isFirst) {
      isFirst = false
      await go(decide)
      await anew(store)
    }
    return go(decide)
  })
}

const commandsOf = async (store: StreamStore) =>
  (await readStream(store, 's'))?.transactions().map(({ op, version }) => `${version} ${op}`)

describe('a change whose stream was removed and created again before its answer arrived', () => {
  test.each([
    ['a change that would be possible there too', { op: 'complete', event: '01.00' }],
    ['a change that would be refused there', { op: 'complete', event: '02.00' }],
  ] as const)('%s is unknown, and the other stream is unchanged', async (_, operation) => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const outcome = await run(replacedMeanwhile(store), 's', operation)
    expect(outcome).toMatchObject({ kind: 'unknown', cause: expect.any(StreamReplaced) })
    expect(await commandsOf(store)).toEqual(['1 init'])
  })

  test('in one write with others: each operation that was not sent before has its own outcome', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    let plans = 0
    const later = intercept(store, async (_, decide, go) => {
      plans += 1
      if (plans > 1) return go(decide)
      // Sent, and lost in the network.
      await go((current, nowMs) => {
        decide(current, nowMs)
        return { kind: 'leave' }
      })
      await anew(store)
      return go(decide)
    })
    const [sent, refused] = await Promise.all([
      run(later, 's', { op: 'complete', event: '01.00' }),
      run(later, 's', { op: 'complete', event: '07.00' }),
    ])
    expect(sent.kind).toBe('unknown')
    expect(refused).toMatchObject({ kind: 'refused', refusal: { code: 'event-not-found' } })
    expect(await commandsOf(store)).toEqual(['1 init'])
  })

  test('an edit is unknown too', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    const options = { commandId: 'mine', by: 'tester', leaseWaitMs: 0 }
    const outcome = await edit(replacedMeanwhile(store), 's', options, editing =>
      editing.apply({ op: 'complete', event: '01.00' }),
    )
    expect(outcome.kind).toBe('unknown')
    expect(await commandsOf(store)).toEqual(['1 init'])
  })

  test('its creation is unknown too if it had no answer', async () => {
    const { store } = memoryStore()
    const create: StreamStore['create'] = async (...given) => {
      await store.create(...given)
      await anew(store)
      return { kind: 'unknown', cause: new Error('no answer') }
    }
    const lossy = new Proxy(store, {
      get: (target, key) => (key === 'create' ? create : Reflect.get(target, key)?.bind?.(target)),
    })
    expect(await run(lossy, 's', init())).toMatchObject({ kind: 'unknown', cause: expect.any(StreamReplaced) })
    expect((await readStream(store, 's'))?.document.born).toBe('b1')
  })

  test('a change that was never sent is judged by the present stream', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const before = intercept(store, async (_, decide, go) => {
      await anew(store)
      return go(decide)
    })
    expect(resultOf(await run(before, 's', { op: 'complete', event: '01.00' })).outcome).toBe('done')
  })
})
