import { answeredWithin } from '../../store/no-answer.ts'
import type { StreamStore } from '../../store/store.ts'
import { LeasectlError } from '../../stream/errors.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { type Inbox, readInbox } from '../inbox.ts'
import type { NewRecord } from '../record.ts'
import { passes } from '../regions/region.ts'
import type { PutPlace } from '../regions/writer.ts'
import { PutUnknown, type RecordWriter } from '../writer.ts'

/** What became of the records of a request. */
export type PutOutcome =
  /** With two regions also how many are where. */
  | { readonly kind: 'put'; readonly regions?: Readonly<Record<PutPlace, number>> }
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

/** The store fails. */
interface Outage {
  readonly sinceMs: number
  readonly code: string
  /** Otherwise, as with a full disk or without the right to write, only a put shows that it is over. */
  endsByItself: boolean
  /** Requests are let in again, to find out. */
  mayBeOver: boolean
}

/** The stores of the inboxes: one, or that of each region. */
export type InboxStores = readonly [StreamStore, ...StreamStore[]]

/** An inbox as it is served. */
export interface ServedInbox {
  readonly inbox: Inbox
  readonly writer: RecordWriter
}

/** The inboxes that are served, each with its writer, and whether their store is there. */
export class ServedInboxes {
  readonly #stores: InboxStores
  readonly #open: (inbox: Inbox) => RecordWriter
  readonly #observer: StoreObserver
  readonly #names: readonly string[]
  readonly #served = new Map<string, ServedInbox>()
  #outage: Outage | undefined
  #failedMs = 0
  /** The store did not answer the last time. */
  #isAway = false
  /** Ends the pause between two looks. */
  #hurry = new AbortController()

  constructor(
    stores: InboxStores,
    inboxes: readonly ServedInbox[],
    { open, observer }: { readonly open: (inbox: Inbox) => RecordWriter; readonly observer: StoreObserver },
  ) {
    this.#stores = stores
    this.#open = open
    this.#observer = observer
    this.#names = inboxes.map(({ inbox }) => inbox.name)
    for (const each of inboxes) this.#served.set(each.inbox.name, each)
  }

  /** The code of the fault if the store takes nothing now: a put would have to wait for it. */
  get fault(): string | undefined {
    return this.#isAway ? this.#outage?.code : undefined
  }

  /** Why the inboxes cannot be put into; `undefined` if they can. */
  get trouble(): string | undefined {
    if (this.#outage !== undefined && !this.#outage.mayBeOver) return `the store fails: ${this.#outage.code}`
    const gone = this.#names.filter(name => !this.#served.has(name))
    return gone.length === 0 ? undefined : `removed: ${gone.join(', ')}`
  }

  has(name: string): boolean {
    return this.#served.has(name)
  }

  /** Too much of an inbox waits. */
  isFull(name: string): boolean {
    return this.#served.get(name)?.writer.isFull === true
  }

  /** Puts all records, and resolves once they are durable. Never rejects. */
  async put(name: string, records: readonly NewRecord[]): Promise<PutOutcome> {
    const served = this.#served.get(name)
    if (served === undefined) return { kind: 'failed', code: 'inbox-not-found' }
    let places: readonly unknown[]
    try {
      const [first] = records
      if (records.length === 1 && first !== undefined) places = [await served.writer.put(first)]
      else places = await Promise.all(records.map(record => served.writer.put(record)))
    } catch (error) {
      this.#failed(error, passes(error))
      return { kind: 'failed', code: codeOf(error) }
    }
    if (this.#outage !== undefined) this.#recovered()
    return this.#stores.length === 1 ? { kind: 'put' } : { kind: 'put', regions: countsOf(places) }
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
    try {
      await answeredWithin(LOOK_LIMIT_MS, signal, async limited => {
        for (const name of this.#names) this.#found(name, await this.#read(name, limited))
      })
      this.#isAway = false
      if (this.#outage === undefined || performance.now() - this.#failedMs < BACK_AFTER_MS) return
      if (this.#outage.endsByItself) this.#recovered()
      else this.#outage.mayBeOver = true
    } catch (error) {
      if (!signal.aborted) this.#failed(error, true)
    }
  }

  /** The inbox in one of the stores that answer. @throws the fault of the first if none does */
  async #read(name: string, signal: AbortSignal): Promise<Inbox | undefined> {
    const reads = await Promise.allSettled(this.#stores.map(store => readInbox(store, name, signal)))
    const answers = reads.flatMap(read => (read.status === 'fulfilled' ? [read.value] : []))
    const [first] = reads
    if (answers.length === 0 && first?.status === 'rejected') throw first.reason
    return answers.find(inbox => inbox !== undefined)
  }

  #found(name: string, inbox: Inbox | undefined): void {
    const before = this.#served.get(name)
    if (inbox === undefined) {
      if (this.#served.delete(name)) this.#observer.gone(name)
      return
    }
    const { partitions, createdMs } = inbox
    // Of two regions each has its own time; their writer reads again what was away.
    const isSame = before?.inbox.createdMs === createdMs || (before !== undefined && this.#stores.length > 1)
    if (isSame && before?.inbox.partitions === partitions) return
    this.#served.set(name, { inbox, writer: this.#open(inbox) })
    this.#observer.back(name)
  }

  /** @param endsByItself a store that answers is well again */
  #failed(error: unknown, endsByItself: boolean): void {
    this.#failedMs = performance.now()
    // With two regions: neither takes them. A look finds out when one does.
    this.#isAway = true
    if (this.#outage !== undefined) {
      this.#outage.mayBeOver = false
      this.#outage.endsByItself &&= endsByItself
      return
    }
    this.#outage = { sinceMs: this.#failedMs, code: codeOf(error), endsByItself, mayBeOver: false }
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

function countsOf(places: readonly unknown[]): Record<PutPlace, number> {
  const of = (wanted: PutPlace) => places.filter(place => place === wanted).length
  return { both: of('both'), first: of('first'), second: of('second') }
}

function codeOf(error: unknown): string {
  if (error instanceof PutUnknown) return 'unknown'
  return error instanceof LeasectlError ? error.code : 'unexpected'
}
