import type { EventStore } from '../store/store.ts'
import type { CommitOutcome } from './commit.ts'
import type { PlannedOperation } from './plan.ts'

/** A group ends at so many operations. */
const MAX_GROUP = 100

interface Waiting {
  readonly planned: PlannedOperation
  readonly how: Enqueue
  readonly resolve: (outcome: CommitOutcome) => void
  readonly reject: (error: unknown) => void
}

interface Enqueue {
  /** Written by itself, never with others. */
  readonly alone: boolean
  /** Only operations with the same key share a write. */
  readonly key: string
  readonly commit: (group: readonly PlannedOperation[]) => Promise<CommitOutcome>
}

/**
 * Changes of one stream in this process, in the order in which they were asked for. While one write is under way the
 * others gather, and the next write carries them together: one round trip, one fsync.
 */
export class CommitQueue {
  readonly #waiting: Waiting[] = []
  readonly #whenEmpty: () => void
  #running = false

  constructor(whenEmpty: () => void) {
    this.#whenEmpty = whenEmpty
  }

  add(planned: PlannedOperation, how: Enqueue): Promise<CommitOutcome> {
    const outcome = new Promise<CommitOutcome>((resolve, reject) =>
      this.#waiting.push({ planned, how, resolve, reject }),
    )
    if (!this.#running) {
      this.#running = true
      // A moment later, so that changes asked for in one go form one group.
      queueMicrotask(() => void this.#run())
    }
    return outcome
  }

  async #run(): Promise<void> {
    for (let group = this.#nextGroup(); group.length > 0; group = this.#nextGroup()) await commitGroup(group)
    this.#running = false
    this.#whenEmpty()
  }

  #nextGroup(): Waiting[] {
    const first = this.#waiting[0]
    if (first === undefined) return []
    const fits = ({ how }: Waiting) => !first.how.alone && !how.alone && how.key === first.how.key
    let size = 1
    for (
      let next = this.#waiting[size];
      size < MAX_GROUP && next !== undefined && fits(next);
      next = this.#waiting[size]
    )
      size++
    return this.#waiting.splice(0, size)
  }
}

async function commitGroup(group: readonly Waiting[]): Promise<void> {
  const first = group[0]
  if (first === undefined) return
  try {
    const outcome = await first.how.commit(group.map(({ planned }) => planned))
    for (const { resolve } of group) resolve(outcome)
  } catch (error) {
    for (const { reject } of group) reject(error)
  }
}

const QUEUES = new WeakMap<EventStore, Map<string, CommitQueue>>()

/** The queue of a stream in a store; it goes when it is empty. */
export function commitQueue(store: EventStore, name: string): CommitQueue {
  const queues = QUEUES.get(store) ?? new Map<string, CommitQueue>()
  QUEUES.set(store, queues)
  const queue = queues.get(name) ?? new CommitQueue(() => queues.delete(name))
  queues.set(name, queue)
  return queue
}
