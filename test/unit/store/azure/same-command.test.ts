import { describe, expect, onTestFinished, test } from 'vitest'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { transact } from '../../../../src/ops/transact/transact.ts'
import type { StreamStore, WriteMode } from '../../../../src/store/store.ts'
import { behindProxy } from './support.ts'

const INIT = { op: 'init', root: { name: 'Start' }, forks: [{ name: 'A' }], hold: false, born: 'b' } as const
const SET = { op: 'set', event: '01.00', attributes: { tag: 'x' } } as const

const once = async (store: StreamStore, write: WriteMode) => {
  const outcome = await transact(store, 's', SET, { commandId: 'shared', by: 'ada', write })
  if (outcome.kind !== 'done') throw new Error(`not done but ${outcome.kind}`)
  return outcome.result.duplicate ? 'duplicate' : 'done'
}

async function scene() {
  const found = await behindProxy()
  onTestFinished(found.end)
  expect(await transact(found.direct, 's', INIT, { commandId: 'init', by: 'ada' })).toMatchObject({ kind: 'done' })
  const entries = async () =>
    ((await readStream(found.direct, 's'))?.transactions() ?? []).filter(({ commandId }) => commandId === 'shared')
      .length
  return { ...found, entries }
}

describe('of two processes with one command id,', () => {
  test.each([
    ['is refused', { kind: 'delay' }],
    ['is lost', { kind: 'lose-request' }],
    ['is delayed by the network', { kind: 'late' }],
    ['gets a forged 500', { kind: 'error-before' }],
  ] as const)('the one whose write %s while the other’s lands is the duplicate', async (_, fault) => {
    const { direct, proxy, store, entries } = await scene()
    const others: string[] = []
    const before = async () => void others.push(await once(direct, 'optimistic'))
    proxy.add({ ...fault, on: 'put', nth: 1, before })
    expect(await once(store, 'optimistic')).toBe('duplicate')
    await proxy.deliverLate()
    expect(others).toEqual(['done'])
    expect(await entries()).toBe(1)
  })

  test.each(['lease', 'optimistic'] as const)(
    'the one whose write landed without an answer made the change (%s)',
    async write => {
      for (const kind of ['lose-answer', 'error-after', 'duplicate', 'truncate'] as const) {
        const { direct, proxy, store, entries } = await scene()
        proxy.add({ kind, on: 'put', nth: 1 })
        const meanwhile: Promise<string>[] = []
        // Before the read that looks it up.
        const isLook = () => proxy.count('put') > 0 && meanwhile.length === 0
        proxy.add({
          kind: 'delay',
          on: 'get',
          when: isLook,
          before: async () => {
            meanwhile.push(once(direct, 'optimistic'))
            // Under the lease the other one waits for its end.
            if (write === 'optimistic') await meanwhile[0]
          },
        })
        expect(await once(store, write)).toBe('done')
        await store.close()
        expect(await Promise.all(meanwhile)).toEqual(['duplicate'])
        expect(await entries()).toBe(1)
      }
    },
  )
})
