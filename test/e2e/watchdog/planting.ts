import { randomUUID } from 'node:crypto'
import { runBatch } from '../../../src/ops/batch.ts'
import { transact } from '../../../src/ops/transact.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { EventStore } from '../../../src/store/store.ts'
import { timeoutFromInput } from '../../../src/stream/due.ts'
import { CLAIM_MS, EVENT, FENCE, OWNER } from './lives.ts'

const AT_ONCE = 16

export interface Plant {
  readonly stream: string
  /** Of the event that is worked on. */
  readonly timeoutMs: number
}

/**
 * Puts streams into a store, each with one event that was claimed just now and one that nobody begins: so a stream stays
 * open when the first one is ended. They are made in memory, so each costs the store one request.
 *
 * @returns when the event of each was claimed, as the document has it, epoch ms
 */
export async function plant(store: EventStore, plants: readonly Plant[]): Promise<ReadonlyMap<string, number>> {
  const memory = openMemoryStore()
  const claimed = new Map<string, number>()
  await runBatch(plants, { concurrency: AT_ONCE }, async ({ stream, timeoutMs }) => {
    const forks = [{ name: 'Search', timeout: timeoutFromInput(`${timeoutMs}ms`) }, { name: 'Other' }]
    const init = { op: 'init', root: { name: 'Order' }, forks, hold: false, born: randomUUID() } as const
    await transact(memory, stream, init, { commandId: 'init', by: OWNER })
    const start = { op: 'start', event: EVENT, owner: OWNER, claimMs: CLAIM_MS } as const
    const outcome = await transact(memory, stream, start, { commandId: 'start', by: OWNER })
    const claim = outcome.kind === 'done' ? outcome.result.claim : undefined
    const stored = await memory.read(stream)
    if (claim?.fence !== FENCE || stored?.summary === undefined)
      throw new Error(`${stream}: ${JSON.stringify(outcome)}`)
    const created = await store.create(stream, stored.body, stored.summary)
    if (created.kind !== 'created') throw new Error(`${stream}: ${created.kind}`)
    claimed.set(stream, Date.parse(claim.until) - CLAIM_MS)
  })
  return claimed
}
