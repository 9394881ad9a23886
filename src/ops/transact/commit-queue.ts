import type { ChangeOptions, Holder, StreamStore, WriteMode } from '../../store/store.ts'
import { type CommitOutcome, commit } from './commit.ts'
import type { OperationResult, PendingOperation } from './plan.ts'

/** Maximum number of operations in a group. */
const MAX_GROUP = 100
/** Maximum size of a group's operations as JSON, which is about what they add to the stream. */
const MAX_GROUP_BYTES = 1024 * 1024

/** How to write one operation. */
interface SubmitOptions {
  /** Write it alone, never in a group. */
  readonly alone: boolean
  /** Maximum wait for a lease held by another, ms, including the time in the queue behind such a wait. */
  readonly waitMs: number
  readonly leaseId: string | undefined
  readonly write: WriteMode | undefined
  readonly holder: Omit<Holder, 'sinceMs'>
  /** The caller's signal: removes the operation from the queue, and ends its own wait for a lease held by another. */
  readonly signal: AbortSignal | undefined
  readonly stopWaiting: AbortSignal | undefined
  readonly onLeaseAttempt: ChangeOptions['onLeaseAttempt']
}

/** The outcome of one operation of a group. */
export type SubmitOutcome = OperationResult | Exclude<CommitOutcome, { readonly kind: 'settled' }>

interface Waiting {
  readonly pending: PendingOperation
  readonly options: SubmitOptions
  readonly addedAt: number
  /** Since when it waits for a lease held by another, directly or behind an operation that does. */
  heldSince: number | undefined
  readonly resolve: (outcome: SubmitOutcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * The changes of one stream in this process, in the order of the calls. During a write the next changes queue up and
 * are then written together: one round trip, one fsync. Only while another process holds the lease, a change with a
 * shorter wait overtakes those with longer ones.
 */
export class CommitQueue {
  readonly #store: StreamStore
  readonly #name: string
  #waiting: Waiting[] = []
  readonly #whenEmpty: () => void
  #running: { readonly waitMs: number; readonly yield: AbortController } | undefined
  #isScheduled = false

  constructor(store: StreamStore, name: string, whenEmpty: () => void) {
    this.#store = store
    this.#name = name
    this.#whenEmpty = whenEmpty
  }

  submit(pending: PendingOperation, options: SubmitOptions): Promise<SubmitOutcome> {
    let withdraw = () => {}
    const outcome = new Promise<SubmitOutcome>((resolve, reject) => {
      const item = { pending, options, addedAt: performance.now(), heldSince: undefined, resolve, reject }
      this.#waiting.push(item)
      withdraw = () => this.#withdraw(item)
    })
    options.signal?.addEventListener('abort', withdraw)
    if (this.#running !== undefined && options.waitMs < this.#running.waitMs) this.#running.yield.abort()
    if (!this.#isScheduled) {
      this.#isScheduled = true
      // Deferred, so that changes from one synchronous run form one group.
      queueMicrotask(() => void this.#run())
    }
    return outcome.finally(() => options.signal?.removeEventListener('abort', withdraw))
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
    let bytes = others.length === 0 ? 0 : jsonLength(first)
    for (const item of others) {
      if (!canShareWrite(first.options, item.options) || size === MAX_GROUP) break
      bytes += jsonLength(item)
      if (bytes > MAX_GROUP_BYTES) break
      size++
    }
    return this.#waiting.splice(0, size)
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const [first] = group
    if (first === undefined) return
    const waitMs = Math.max(0, ...group.map(remainingWaitMs))
    const running = { waitMs, yield: new AbortController() }
    const stop = () => running.yield.abort()
    const stops = new Set(group.flatMap(({ options }) => options.stopWaiting ?? []))
    for (const signal of stops) signal.addEventListener('abort', stop)
    if (group.some(isStopped) || this.#waiting.some(({ options }) => options.waitMs < waitMs)) stop()
    this.#running = running
    try {
      const operations = group.map(({ pending }) => pending)
      const onLeaseAttempt = reportToAll(group)
      const options = {
        ...changeOptions(first, group.length),
        waitMs,
        stopWaiting: running.yield.signal,
        onLeaseAttempt,
      }
      const outcome = await commit(this.#store, this.#name, operations, options)
      this.#settle(group, outcome, waitMs, running.yield.signal.aborted)
    } catch (error) {
      for (const { reject } of group) reject(error)
    } finally {
      this.#running = undefined
      for (const signal of stops) signal.removeEventListener('abort', stop)
    }
  }

  #settle(group: readonly Waiting[], outcome: CommitOutcome, waitMs: number, yielded: boolean): void {
    if (outcome.kind === 'held') {
      this.#held(group, outcome, waitMs, yielded)
      return
    }
    for (const item of this.#waiting) item.heldSince = undefined
    if (outcome.kind !== 'settled') {
      for (const { resolve } of group) resolve(outcome)
      return
    }
    for (const [at, result] of outcome.results.entries()) group[at]?.resolve(result)
    // Operations that did not fit begin the next group.
    this.#waiting.unshift(...group.slice(outcome.results.length))
  }

  #held(group: readonly Waiting[], outcome: Held, waitMs: number, yielded: boolean): void {
    const nowMs = performance.now()
    for (const item of [...group, ...this.#waiting]) {
      item.heldSince ??= Math.max(item.addedAt, nowMs - outcome.waitedMs)
    }
    const continues = (item: Waiting) => yielded && !isStopped(item) && remainingWaitMs(item) > 0
    const isAhead = ({ options }: Waiting) => options.waitMs < waitMs
    this.#waiting = [
      ...this.#waiting.filter(isAhead),
      ...group.filter(continues),
      ...this.#waiting.filter(item => !isAhead(item)),
    ]
    for (const item of group) {
      if (!continues(item)) item.resolve({ ...outcome, waitedMs: Math.round(nowMs - (item.heldSince ?? nowMs)) })
    }
  }

  /** A waiting operation has not been sent. */
  #withdraw(item: Waiting): void {
    const at = this.#waiting.indexOf(item)
    if (at < 0) return
    this.#waiting.splice(at, 1)
    item.reject(item.options.signal?.reason)
  }
}

/** The size as JSON, in characters: about what it adds to the stream. Computed only if operations could share a write. */
function jsonLength({ pending }: Waiting): number {
  return JSON.stringify([pending.operation, pending.author]).length
}

/** Whether it waits no longer for a lease held by another. */
function isStopped({ options }: Waiting): boolean {
  return options.stopWaiting?.aborted === true
}

function canShareWrite(one: SubmitOptions, other: SubmitOptions): boolean {
  if (one.alone || other.alone) return false
  const shared = ['leaseId', 'write', 'waitMs', 'signal'] as const
  return shared.every(key => one[key] === other[key])
}

function changeOptions({ options }: Waiting, size: number): Omit<ChangeOptions, 'waitMs'> {
  const { leaseId, write, signal, holder } = options
  const purpose = size === 1 ? holder.purpose : `${size} changes`
  return {
    holder: { ...holder, purpose, sinceMs: Date.now() },
    ...(leaseId === undefined ? {} : { leaseId }),
    ...(write === undefined ? {} : { write }),
    ...(signal === undefined ? {} : { signal }),
  }
}

/** Each caller of a group gets the reports; absent if none wants them. */
function reportToAll(group: readonly Waiting[]): ChangeOptions['onLeaseAttempt'] {
  const reports = group.flatMap(({ options }) => options.onLeaseAttempt ?? [])
  if (reports.length === 0) return undefined
  return attempt => {
    for (const report of reports) report(attempt)
  }
}

type Held = Extract<CommitOutcome, { readonly kind: 'held' }>

/** The remaining wait for a lease held by another, ms. */
function remainingWaitMs({ options: { waitMs }, heldSince }: Waiting): number {
  return heldSince === undefined ? waitMs : waitMs - (performance.now() - heldSince)
}

const QUEUES = new WeakMap<StreamStore, Map<string, CommitQueue>>()

/** The queue of a stream in a store; it is dropped when it is empty. */
export function commitQueue(store: StreamStore, name: string): CommitQueue {
  const queues = QUEUES.get(store) ?? new Map<string, CommitQueue>()
  QUEUES.set(store, queues)
  const queue = queues.get(name) ?? new CommitQueue(store, name, () => queues.delete(name))
  queues.set(name, queue)
  return queue
}
