import { transact } from '../../src/ops/transact/transact.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { StreamStore } from '../../src/store/store.ts'
import type { ChangeResult, Operation } from '../../src/stream/operations/operation.ts'

/** A store with a manual clock, and helpers that change it. */
export class Stage {
  readonly store: StreamStore
  nowMs: number
  #commands = 0

  constructor(nowMs: number) {
    this.nowMs = nowMs
    this.store = openMemoryStore({ clock: () => this.nowMs, random: () => 0.5 })
  }

  /** Makes a transaction. @throws if it is not done */
  async do(stream: string, by: string, operation: Operation): Promise<ChangeResult> {
    const commandId = `command-${++this.#commands}`
    const outcome = await transact(this.store, stream, operation, { commandId, by })
    if (outcome.kind !== 'done') throw new Error(`${operation.op} on ${stream}: ${JSON.stringify(outcome)}`)
    return outcome.result
  }

  /** Acquires a lease, with the details of its holder. */
  async hold(stream: string, by: string, host: string, heldMs: number): Promise<void> {
    const leaseId = uuid(++this.#commands)
    const holder = { by, host, pid: 4_242, purpose: 'lease acquire', sinceMs: this.nowMs - heldMs }
    await this.store.acquireLease(stream, { leaseId, durationS: -1, holder })
  }
}

/** Not random, so that the pictures always have the same bytes. */
export function uuid(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}
