import { describe, expect, it } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { init, intercept, memoryStore, resultOf, run } from './support.ts'

const TOUCH = { op: 'touch', event: '01.00', claimMs: 5_000 } as const

/** A stream whose event is claimed; with the fence of the claim. */
async function claimed(): Promise<{ store: StreamStore; fence: number }> {
  const { store } = memoryStore()
  await run(store, 's', init(['A']))
  const start = { op: 'start', event: '01.00', owner: 'w', claimMs: 1_000 } as const
  return { store, fence: resultOf(await run(store, 's', start)).claim?.fence ?? 0 }
}

/** A heartbeat of the same claim that asks for more time. */
const touchLonger = (store: StreamStore, fence: number, msg?: string) =>
  run(store, 's', { ...TOUCH, claimMs: 9_000, fence, ...(msg === undefined ? {} : { msg }) })

const messageIn = async (store: StreamStore) => (await readStream(store, 's'))?.stream.find('01.00')?.msg

/** A store on which the first write is lost, or its answer; `between` runs before the next read. */
function lossy(store: StreamStore, isLost: boolean, between: () => Promise<unknown>) {
  const counted = { writes: 0 }
  const faulty = intercept(store, async (_, decide, go) => {
    await go((current, nowMs) => {
      const decision = decide(current, nowMs)
      return isLost ? { kind: 'leave' } : decision
    })
    await between()
    return go((current, nowMs) => {
      const decision = decide(current, nowMs)
      if (decision.kind === 'put') counted.writes++
      return decision
    })
  })
  return { faulty, counted }
}

describe('a heartbeat with a text whose answer was lost', () => {
  it.each([
    ['is retried if its write was lost', true, undefined, '', '40 of 100', 1],
    ['is retried over the earlier text', true, undefined, '30 of 100', '40 of 100', 1],
    ['is not retried if its write landed', false, undefined, '30 of 100', '40 of 100', 0],
    ['does not overwrite a later text if its write landed', false, '50 of 100', '30 of 100', '50 of 100', 0],
    ['does not overwrite a later text if its write was lost', true, '50 of 100', '30 of 100', '50 of 100', 0],
  ] as const)('%s', async (_, isLost, later, before, msg, writes) => {
    const { store, fence } = await claimed()
    if (before !== '') await touchLonger(store, fence, before)
    const { faulty, counted } = lossy(store, isLost, () => touchLonger(store, fence, later))
    const outcome = await run(faulty, 's', { ...TOUCH, fence, msg: '40 of 100' })
    expect(resultOf(outcome).claim?.fence).toBe(fence)
    expect({ msg: await messageIn(store), writes: counted.writes }).toEqual({ msg, writes })
  })

  it('is retried with the other operations of its write', async () => {
    const { store, fence } = await claimed()
    const { faulty } = lossy(store, true, () => touchLonger(store, fence))
    const texts = ['40 of 100', '50 of 100']
    await Promise.all(texts.map(msg => run(faulty, 's', { ...TOUCH, fence, msg })))
    expect(await messageIn(store)).toBe('50 of 100')
  })
})
