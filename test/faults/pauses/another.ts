import { expect } from 'vitest'
import { transact } from '../../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { ChangeResult, Operation } from '../../../src/stream/operations/operation.ts'
import { eventually } from '../../e2e/watchdog/poll.ts'
import { OWNER } from './orders.ts'

/** Longer than leases and claims, ms. */
const PATIENCE_MS = 90_000
const CLAIM_MS = 600_000

/** The other worker: it claims the event as soon as possible, or the next one if it has ended. */
export class Another {
  readonly acknowledged = new Map<string, number>()
  readonly #store: StreamStore
  readonly #stream: string

  constructor(store: StreamStore, stream: string) {
    this.#store = store
    this.#stream = stream
  }

  /** @returns the event and the fence of its claim */
  async takes(event: string, next: string): Promise<{ readonly event: string; readonly fence: number }> {
    const start = (id: string): Operation => ({ op: 'start', event: id, owner: OWNER, claimMs: CLAIM_MS })
    const look = async () => {
      const result = await this.#does(`take-${event}`, start(event))
      return typeof result !== 'string' || result === 'already-final' ? result : undefined
    }
    const taken = await eventually(`${event} can be taken`, look, { withinMs: PATIENCE_MS, everyMs: 200 })
    const had = typeof taken === 'string' ? await this.#does(`take-${next}`, start(next)) : taken
    if (typeof had === 'string' || had.claim === undefined) throw new Error(`${next}: ${JSON.stringify(had)}`)
    return { event: typeof taken === 'string' ? next : event, fence: had.claim.fence }
  }

  /** Without interference: it ends the event that it took. */
  async ends({ event, fence }: { readonly event: string; readonly fence: number }): Promise<void> {
    expect(await this.#does(`end-${event}`, { op: 'complete', event, fence })).toMatchObject({ outcome: 'done' })
  }

  /** @returns the outcome, or the code of a refusal */
  async #does(commandId: string, operation: Operation): Promise<ChangeResult | string> {
    const outcome = await transact(this.#store, this.#stream, operation, {
      commandId,
      by: 'other',
      leaseWaitMs: PATIENCE_MS,
    })
    if (outcome.kind === 'refused') return outcome.refusal.code
    if (outcome.kind !== 'done') return outcome.kind
    this.acknowledged.set(commandId, outcome.result.version)
    return outcome.result
  }
}
