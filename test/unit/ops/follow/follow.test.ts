import { describe, expect, it } from 'vitest'
import { type FollowItem, follow } from '../../../../src/ops/follow/follow.ts'
import { ContainerMissing, StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamSnapshot, StreamStore } from '../../../../src/store/store.ts'
import { BadDocument } from '../../../../src/stream/errors.ts'
import { HOLDER, init, memoryStore, run } from '../support.ts'

/** Follows until `enough` returns true; before each poll the next step is taken. */
async function collect(store: StreamStore, steps: (() => unknown)[], fromVersion = 0): Promise<FollowItem[]> {
  const controller = new AbortController()
  const stepping: StreamStore = new Proxy(store, {
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
  it.each([
    ['a document half written', new BadDocument('it ends too early')],
    ['a file moved away', new ContainerMissing('there is no store')],
  ])('goes on after %s, and ends with it if nothing was read before', async (_, fault) => {
    const { store } = memoryStore()
    const broken = () => {
      throw fault
    }
    const add = () => run(store, 's', { op: 'complete', event: '01.00' })
    await run(store, 's', init(['A', 'B']))
    const items = await collect(store, [() => undefined, broken, broken, add])
    expect(told(items)).toEqual(['1 init', 'interrupted', 'resumed', '2 complete'])
    await expect(collect(store, [broken])).rejects.toThrow(fault)
  })

  it('reports every transaction once and in order, however many happen between two polls', async () => {
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

  it('survives an outage without a gap and reports it', async () => {
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

  it('reports that the stream was removed, and begins again with its next incarnation', async () => {
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

  /** Overwrites the text as a writer without leases and versions does. */
  async function overwrite(store: StreamStore, change: (text: string) => string): Promise<void> {
    const decide = ({ body, summary }: StreamSnapshot) => {
      if (summary === undefined) throw new Error('a stream of ours has a summary')
      return { kind: 'put', body: Buffer.from(change(Buffer.from(body).toString())), summary } as const
    }
    await store.update('s', decide, { waitMs: 0, holder: HOLDER })
  }

  it('continues if a foreign writer only dropped the identity of the stream', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const items = await collect(store, [
      () => undefined,
      () => overwrite(store, text => text.replace(/ lc:born="[^"]*"/, '')),
      () => run(store, 's', { op: 'complete', event: '01.00' }),
      () => undefined,
    ])
    expect(told(items)).toEqual(['1 init', '2 complete'])
  })

  it('reports the transactions after an older copy was restored', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const old = await store.read('s')
    const putBack = async () => {
      await store.remove('s', {})
      if (old?.summary !== undefined) await store.create('s', old.body, old.summary)
    }
    const items = await collect(store, [
      async () => {
        await run(store, 's', { op: 'complete', event: '01.00' })
        await run(store, 's', { op: 'set', event: '00', attributes: { tag: 'a' } })
      },
      putBack,
      () => run(store, 's', { op: 'complete', event: '02.00' }),
      () => undefined,
    ])
    expect(told(items)).toEqual(['1 init', '2 complete', '3 set', '2 complete'])
  })

  it('reports a foreign write each time', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const end = () => overwrite(store, text => text.replace('name="A" status="init"', 'name="A" status="completed"'))
    const undo = () => overwrite(store, text => text.replace('name="A" status="completed"', 'name="A" status="init"'))
    const items = await collect(store, [
      () => undefined,
      end,
      undo,
      end,
      () => run(store, 's', { op: 'complete', event: '02.00' }),
      () => undefined,
    ])
    expect(told(items)).toEqual(['1 init', '? foreign', '? foreign', '2 foreign', '3 complete', 'done'])
  })

  it('does not report a removed stream as created again', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    const items = await collect(store, [
      () => undefined,
      async () => {
        await store.remove('s', {})
        throw new StoreUnreachable('nobody answers')
      },
      () => undefined,
    ])
    expect(items).toContainEqual({ kind: 'resumed', missed: false })
    expect(told(items)).toEqual(['1 init', 'interrupted', 'resumed', 'gone'])
  })
})
