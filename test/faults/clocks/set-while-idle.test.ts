import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { transact } from '../../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import { trustRow } from '../../guarantees/record.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'

const row = trustRow('clocks')
const HOUR = 3_600_000

test.each(['lease', 'optimistic'] as const)(
  'a writer whose clock is set after its last write does not take the running claim of another: %s',
  async write => {
    const { port } = await sharedAzurite()
    const container = `t${randomUUID()}`
    let setMs = 0
    const machine = { wallMs: () => Date.now() + setMs, monotonicMs: () => performance.now() }
    const [liar, other] = [
      await openAzuriteStore(port, { container, machine }),
      await openAzuriteStore(port, { container }),
    ]
    await liar.createContainer()
    const outcome = (store: StreamStore, operation: Operation) =>
      transact(store, 's', operation, { commandId: randomUUID(), by: 'test', write })
    const start = (owner: string) => ({ op: 'start', event: '01.00', owner, claimMs: 600_000 }) as const
    const init = { op: 'init', root: { name: 'S' }, forks: [{ name: 'A' }], hold: false, born: randomUUID() } as const
    expect((await outcome(liar, init)).kind).toBe('done')
    expect((await outcome(other, start('other'))).kind).toBe('done')
    // Now it has the current stream in its cache, and would need no request before its next write.
    expect((await outcome(liar, { op: 'set', event: '00', attributes: { tag: 'a' } })).kind).toBe('done')
    setMs = HOUR
    expect(await outcome(liar, start('liar'))).toMatchObject({ kind: 'refused', refusal: { code: 'claimed' } })
    row.injected(`set while idle, ${write}`, 1)
    await liar.close()
    await other.close()
  },
)
