import type { EventStore } from '../../store/store.ts'
import type { CommitOutcome, WrittenBefore } from './commit.ts'
import type { PlannedOperation } from './plan.ts'

/** A group ends at so many operations. */
const MAX_GROUP = 100
/** And where its operations, written as JSON, exceed this: what they add to the stream grows with it. */
const MAX_GROUP_BYTES = 1024 * 1024

/** How a group is written. */
interface GroupOptions {
  /** How long to wait for a lease held by another, ms: what is left of the longest patience in the group. */
  readonly waitMs: number
  /** Ends that wait: somebody with less patience stands behind. */
  readonly stopWaiting: AbortSignal
}

interface Enqueue {
  /** Written by itself, never with others. */
  readonly alone: boolean
  /** Only operations with the same key and the same signals share a write. */
  readonly key: string
  /** How long it waits for a lease held by another, ms, the time in the queue behind such a wait included. */
  readonly waitMs: number
  /** Of the caller: takes the operation out of the queue, and ends its own wait for a lease held by another. */
  readonly signal: AbortSignal | undefined
  readonly stopWaiting: AbortSignal | undefined
  readonly commit: (group: readonly PlannedOperation[], options: GroupOptions) => Promise<CommitOutcome>
}

interface Waiting {
  readonly planned: PlannedOperation
  readonly how: Enqueue
  readonly addedAt: number
  /** Since when it waits for a lease held by another, itself or behind one that does. */
  heldSince: number | undefined
  readonly resolve: (outcome: CommitOutcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * Changes of one stream in this process, in the order in which they were asked for. While one write is under way the
 * others gather, and the next write carries them together: one round trip, one fsync. Only where another holds the
 * lease does one who does not want to wait that long pass those who do.
 */
export class CommitQueue {
  /** It goes with the queue, so that no large document outlives the changes that wait for it. */
  readonly written: WrittenBefore = { last: undefined }
  #waiting: Waiting[] = []
  readonly #whenEmpty: () => void
  #running: { readonly waitMs: number; readonly yield: AbortController } | undefined
  #isScheduled = false

  constructor(whenEmpty: () => void) {
    this.#whenEmpty = whenEmpty
  }

  add(planned: PlannedOperation, how: Enqueue): Promise<CommitOutcome> {
    let giveUp = () => {}
    const outcome = new Promise<CommitOutcome>((resolve, reject) => {
      const item = { planned, how, addedAt: performance.now(), heldSince: undefined, resolve, reject }
      this.#waiting.push(item)
      giveUp = () => this.#giveUp(item)
    })
    how.signal?.addEventListener('abort', giveUp)
    if (this.#running !== undefined && how.waitMs < this.#running.waitMs) this.#running.yield.abort()
    if (!this.#isScheduled) {
      this.#isScheduled = true
      // A moment later, so that changes asked for in one go form one group.
      queueMicrotask(() => void this.#run())
    }
    return outcome.finally(() => how.signal?.removeEventListener('abort', giveUp))
  }

  async #run(): Promise<void> {
    for (let group = this.#nextGroup(); group.length > 0; group = this.#nextGroup()) await this.#commit(group)
    this.#isScheduled = false
    this.#whenEmpty()
  }

  #nextGroup(): Waiting[] {
    const [first, ...others] = this.#waiting
    if (first === undefined) return []
    let size = 1
    let bytes = others.length === 0 ? 0 : bytesOf(first)
    for (const item of others) {
      if (!fit(first.how, item.how) || size === MAX_GROUP) break
      bytes += bytesOf(item)
      if (bytes > MAX_GROUP_BYTES) break
      size++
    }
    return this.#waiting.splice(0, size)
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const [first] = group
    if (first === undefined) return
    const { commit, stopWaiting } = first.how
    const waitMs = Math.max(0, ...group.map(patienceLeft))
    const running = { waitMs, yield: new AbortController() }
    const stop = () => running.yield.abort()
    stopWaiting?.addEventListener('abort', stop)
    if (stopWaiting?.aborted || this.#waiting.some(({ how }) => how.waitMs < waitMs)) stop()
    this.#running = running
    try {
      const planned = group.map(item => item.planned)
      const outcome = await commit(planned, { waitMs, stopWaiting: running.yield.signal })
      this.#settle(group, outcome, waitMs, running.yield.signal.aborted && !stopWaiting?.aborted)
    } catch (error) {
      for (const { reject } of group) reject(error)
    } finally {
      this.#running = undefined
      stopWaiting?.removeEventListener('abort', stop)
    }
  }

  #settle(group: readonly Waiting[], outcome: CommitOutcome, waitMs: number, yielded: boolean): void {
    if (outcome.kind === 'held') this.#held(group, outcome, waitMs, yielded)
    else {
      for (const item of this.#waiting) item.heldSince = undefined
      // What the plan had no room for is the beginning of the next group.
      const isLeft = ({ planned }: Waiting) => outcome.kind === 'settled' && planned.applied === undefined
      this.#waiting.unshift(...group.filter(isLeft))
      for (const item of group) if (!isLeft(item)) item.resolve(outcome)
    }
  }

  #held(group: readonly Waiting[], outcome: Held, waitMs: number, yielded: boolean): void {
    const nowMs = performance.now()
    for (const item of [...group, ...this.#waiting]) {
      item.heldSince ??= Math.max(item.addedAt, nowMs - outcome.waitedMs)
    }
    const goesOn = (item: Waiting) => yielded && patienceLeft(item) > 0
    const isAhead = ({ how }: Waiting) => how.waitMs < waitMs
    this.#waiting = [
      ...this.#waiting.filter(isAhead),
      ...group.filter(goesOn),
      ...this.#waiting.filter(item => !isAhead(item)),
    ]
    for (const item of group) {
      if (!goesOn(item)) item.resolve({ ...outcome, waitedMs: Math.round(nowMs - (item.heldSince ?? nowMs)) })
    }
  }

  /** Nothing of it was sent as long as it waits. */
  #giveUp(item: Waiting): void {
    const at = this.#waiting.indexOf(item)
    if (at < 0) return
    this.#waiting.splice(at, 1)
    item.reject(item.how.signal?.reason)
  }
}

/** As JSON, in characters: about what it adds to the stream. Measured only where operations could share a write. */
function bytesOf({ planned }: Waiting): number {
  return JSON.stringify([planned.operation, planned.author]).length
}

function fit(one: Enqueue, other: Enqueue): boolean {
  if (one.alone || other.alone || one.key !== other.key) return false
  return one.signal === other.signal && one.stopWaiting === other.stopWaiting
}

type Held = Extract<CommitOutcome, { readonly kind: 'held' }>

/** How much longer it would wait for a lease held by another, ms. */
function patienceLeft({ how, heldSince }: Waiting): number {
  return heldSince === undefined ? how.waitMs : how.waitMs - (performance.now() - heldSince)
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
