import type { StreamStore } from '../../store/store.ts'
import { LeasectlError } from '../../stream/errors.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { type Inbox, readInbox } from '../inbox.ts'
import type { NewRecord } from '../record.ts'
import { type InboxWriter, PutUnknown } from '../writer.ts'

/** What became of the records of a request. */
export type PutOutcome =
  | { readonly kind: 'put' }
  /** None was put, as far as the store says; some may be there. `code` says why. */
  | { readonly kind: 'failed'; readonly code: string }

/** What happens to the inboxes while they are served. */
export interface StoreObserver {
  /** The store refuses or does not answer. */
  outage(error: unknown): void
  recovered(lastedMs: number): void
  /** The inbox was removed. */
  gone(name: string): void
  /** It is there again. */
  back(name: string): void
}

/** Looks at the inboxes, ms; while the store is away more often. */
const LOOK_MS = 5_000
const AWAY_LOOK_MS = 1_000
const LOOK_LIMIT_MS = 10_000
/** A store that answers reads, but fails puts again within this time, was not back, ms. */
const BACK_AFTER_MS = 5_000

interface Served {
  readonly inbox: Inbox
  readonly writer: InboxWriter
}

/** The inboxes that are served, each with its writer, and whether their store is there. */
export class ServedInboxes {
  readonly #store: StreamStore
  readonly #open: (inbox: Inbox) => InboxWriter
  readonly #observer: StoreObserver
  readonly #names: readonly string[]
  readonly #served = new Map<string, Served>()
  #outage: { readonly sinceMs: number; readonly code: string } | undefined
  #failedMs = 0
  /** The store did not answer the last time. */
  #isAway = false
  /** Ends the pause between two looks. */
  #hurry = new AbortController()

  constructor(
    store: StreamStore,
    inboxes: readonly Inbox[],
    { open, observer }: { readonly open: (inbox: Inbox) => InboxWriter; readonly observer: StoreObserver },
  ) {
    this.#store = store
    this.#open = open
    this.#observer = observer
    this.#names = inboxes.map(({ name }) => name)
    for (const inbox of inboxes) this.#served.set(inbox.name, { inbox, writer: open(inbox) })
  }

  /** The store did not answer: a put would have to wait for it. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** Why the inboxes cannot be put into; `undefined` if they can. */
  get trouble(): string | undefined {
    if (this.#outage !== undefined) return `the store fails: ${this.#outage.code}`
    const gone = this.#names.filter(name => !this.#served.has(name))
    return gone.length === 0 ? undefined : `removed: ${gone.join(', ')}`
  }

  has(name: string): boolean {
    return this.#served.has(name)
  }

  /** Puts all records, and resolves once they are durable. Never rejects. */
  async put(name: string, records: readonly NewRecord[]): Promise<PutOutcome> {
    const served = this.#served.get(name)
    if (served === undefined) return { kind: 'failed', code: 'inbox-not-found' }
    try {
      const [first] = records
      if (records.length === 1 && first !== undefined) await served.writer.put(first)
      else await Promise.all(records.map(record => served.writer.put(record)))
    } catch (error) {
      this.#failed(error)
      return { kind: 'failed', code: codeOf(error) }
    }
    if (this.#outage !== undefined) this.#recovered()
    return { kind: 'put' }
  }

  /** Looks at the store and the inboxes until the signal aborts: also without a request it has to be known whether they are there. */
  async watch(signal: AbortSignal): Promise<void> {
    for (;;) {
      this.#hurry = new AbortController()
      await sleepUntilAborted(this.#outage === undefined ? LOOK_MS : AWAY_LOOK_MS, signal, this.#hurry.signal)
      if (signal.aborted) return
      await this.look(signal)
    }
  }

  /** Looks once. Never rejects. */
  async look(signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.timeout(LOOK_LIMIT_MS)
    try {
      const either = AbortSignal.any([signal, limit])
      for (const name of this.#names) this.#found(name, await readInbox(this.#store, name, either))
      this.#isAway = false
      if (this.#outage !== undefined && performance.now() - this.#failedMs >= BACK_AFTER_MS) this.#recovered()
    } catch (error) {
      if (!signal.aborted) this.#failed(error)
    }
  }

  #found(name: string, inbox: Inbox | undefined): void {
    const before = this.#served.get(name)
    if (inbox === undefined) {
      if (this.#served.delete(name)) this.#observer.gone(name)
      return
    }
    const { partitions, createdMs } = inbox
    if (before?.inbox.partitions === partitions && before.inbox.createdMs === createdMs) return
    this.#served.set(name, { inbox, writer: this.#open(inbox) })
    this.#observer.back(name)
  }

  #failed(error: unknown): void {
    this.#failedMs = performance.now()
    this.#isAway = true
    if (this.#outage !== undefined) return
    this.#outage = { sinceMs: this.#failedMs, code: codeOf(error) }
    this.#observer.outage(error)
    this.#hurry.abort()
  }

  #recovered(): void {
    const { sinceMs = 0 } = this.#outage ?? {}
    this.#outage = undefined
    this.#isAway = false
    this.#observer.recovered(performance.now() - sinceMs)
  }
}

function codeOf(error: unknown): string {
  if (error instanceof PutUnknown) return 'unknown'
  if (error instanceof LeasectlError) return error.code
  return error instanceof DOMException && error.name === 'TimeoutError' ? 'store-unreachable' : 'unexpected'
}
