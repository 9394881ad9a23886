import { describe, expect, it } from 'vitest'
import { type FollowItem, follow } from '../../src/ops/follow.ts'
import { StoreUnreachable } from '../../src/store/errors.ts'
import type { EventStore } from '../../src/store/store.ts'
import { init, memoryStore, run } from './support.ts'

/** Follows until `enough` says so; before each look the next step is taken. */
async function collect(store: EventStore, steps: (() => unknown)[], fromVersion = 0): Promise<FollowItem[]> {
  const controller = new AbortController()
  const stepping: EventStore = new Proxy(store, {
    get(target, key) {
      if (key !== 'read') return Reflect.get(target, key).bind?.(target)
      return async (name: string) => {
        const step = steps.shift()
        if (step === undefined) controller.abort()
        else await step()
        return target.read(name)
      }
    },
  })
  const items: FollowItem[] = []
  for await (const item of follow(stepping, 's', { fromVersion, intervalMs: 0, signal: controller.signal }))
    items.push(item)
  return items
}

function told(items: readonly FollowItem[]): string[] {
  return items.map(item => {
    if (item.kind !== 'transaction') return item.kind
    return item.tx.provisional ? `? ${item.tx.op}` : `${item.tx.version} ${item.tx.op}`
  })
}

describe('follow', () => {
  it('tells every transaction once and in order, however many happened between two looks', async () => {
    const { store } = memoryStore()
    const items = await collect(store, [
      () => run(store, 's', init(['A', 'B'])),
      async () => {
        await run(store, 's', { op: 'complete', event: '01.00' })
        await run(store, 's', { op: 'fail', event: '02.00', msg: 'no' })
      },
      () => undefined,
    ])
    expect(told(items)).toEqual(['1 init', '2 complete', '3 fail', 'done'])
  })

  it('starts after a version', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    await run(store, 's', { op: 'complete', event: '01.00' })
    expect(told(await collect(store, [() => undefined], 1))).toEqual(['2 complete'])
  })

  it('survives an outage without a gap and says so', async () => {
    const { store } = memoryStore()
    const fails = () => {
      throw new StoreUnreachable('nobody answers')
    }
    await run(store, 's', init(['A']))
    const items = await collect(store, [
      () => undefined,
      fails,
      async () => {
        await run(store, 's', { op: 'complete', event: '01.00' })
        fails()
      },
      () => undefined,
    ])
    expect(told(items)).toEqual(['1 init', 'interrupted', 'resumed', '2 complete', 'done'])
    expect(items).toContainEqual({ kind: 'resumed', missed: false })
  })

  it('tells that the stream was removed and begins anew with its next life', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    const items = await collect(store, [
      () => undefined,
      () => store.remove('s', {}),
      () => run(store, 's', { ...init(), born: 'another life' } as never),
      () => undefined,
    ])
    expect(told(items)).toEqual(['1 init', 'gone', '1 init'])
  })
})
