import { randomUUID } from 'node:crypto'
import { transact } from '../../../src/ops/transact/transact.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamSnapshot, StreamStore } from '../../../src/store/store.ts'
import type { Summary } from '../../../src/stream/summary.ts'
import { timeoutFromInput } from '../../../src/stream/time/deadlines.ts'
import { runBatch } from '../../../src/util/concurrency.ts'
import { CLAIM_MS, EVENT, FENCE, OWNER } from './lives.ts'

const AT_ONCE = 16

export interface Plant {
  readonly stream: string
  /** Of the event in progress. */
  readonly timeoutMs: number
  /** There is no other event: the stream is done when this one is ended. */
  readonly isAlone?: boolean
}

/**
 * Creates streams in a store, each with one event that was claimed just now and one that is never started: so a stream
 * stays open when the first one is ended. They are created in memory, so each costs the store one request.
 *
 * @returns the time of the claim of each event, as in the document, epoch ms
 */
export async function plant(store: StreamStore, plants: readonly Plant[]): Promise<ReadonlyMap<string, number>> {
  const memory = openMemoryStore()
  const claimed = new Map<string, number>()
  await runBatch(plants, { concurrency: AT_ONCE }, async ({ stream, timeoutMs, isAlone }) => {
    const worked = { name: 'Search', timeout: timeoutFromInput(`${timeoutMs}ms`) }
    const forks = isAlone ? [worked] : [worked, { name: 'Other' }]
    const init = { op: 'init', root: { name: 'Order' }, forks, hold: false, born: randomUUID() } as const
    await transact(memory, stream, init, { commandId: 'init', by: OWNER })
    const start = { op: 'start', event: EVENT, owner: OWNER, claimMs: CLAIM_MS } as const
    const outcome = await transact(memory, stream, start, { commandId: 'start', by: OWNER })
    const claim = outcome.kind === 'done' ? outcome.result.claim : undefined
    const stored = await memory.read(stream)
    if (claim?.fence !== FENCE || stored?.summary === undefined)
      throw new Error(`${stream}: ${JSON.stringify(outcome)}`)
    await create(store, stored, stored.summary)
    claimed.set(stream, Date.parse(claim.until) - CLAIM_MS)
  })
  return claimed
}

/** A create has one attempt, and an idle connection may be dead. */
async function create(store: StreamStore, { name, body }: StreamSnapshot, summary: Summary): Promise<void> {
  for (let tries = 0; tries < 3; tries++) {
    const { kind } = await store.create(name, body, summary)
    if (kind === 'created' || (kind === 'exists' && tries > 0)) return
    if (kind === 'exists') break
  }
  throw new Error(`${name} could not be created`)
}
