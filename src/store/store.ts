import type { Summary } from '../stream/summary.ts'
import type { InspectOptions, StoreFacts } from './facts.ts'

/** Who holds a lease, as far as the store knows. */
export interface Holder {
  /** Actor, as `--by` gives it. */
  readonly by: string
  readonly host: string
  readonly pid: number
  /** What the lease is for: the command, in words. */
  readonly purpose: string
  readonly sinceMs: number
}

/** The lease of a stream as any reader may see it. Its id is never shown to others. */
export interface LeaseView {
  readonly state: 'available' | 'leased' | 'breaking' | 'broken' | 'expired'
  /** `fixed` or `infinite` while leased. */
  readonly duration?: 'fixed' | 'infinite'
  /** Known on SQLite and in memory; on Azure only if an explicit `lease acquire` recorded it. */
  readonly holder?: Holder
  /** When the lease ends, epoch ms, where the store knows. */
  readonly untilMs?: number
}

/** A stream as a listing shows it. */
export interface StreamRow {
  readonly name: string
  readonly etag: string
  /** Bytes of the body. */
  readonly size: number
  /** Last write by the store's clock, epoch ms. */
  readonly modifiedMs: number
  readonly lease: LeaseView
  /** Absent when there is none or when it does not belong to the body (a foreign write): then read the document. */
  readonly summary?: Summary
}

/** A stream with its body. */
export interface StreamSnapshot extends StreamRow {
  readonly body: Uint8Array
  /** The highest version that any summary beside the body names, even a stale one; versions never go back below it. */
  readonly versionFloor: number
}

/** What a listing is asked for. Without anything: all streams, by name. */
export interface ListQuery {
  /** Only names that begin with this. */
  readonly prefix?: string
  /** Only names after this one (code unit order on UTF-8, as Azure lists). */
  readonly after?: string
  /**
   * `due`: soonest first, only streams that have a due time. Drivers without an index for it collect first.
   * `any`: each stream once, in whatever order they are to be had soonest, some pages read ahead: for whoever looks at all
   * of them. Drivers that gain nothing by it list by name, and so do all where there is a limit. Default `name`.
   */
  readonly order?: 'name' | 'due' | 'any'
  /** At most so many. Default: all. */
  readonly limit?: number
  /**
   * Leaves out the rows of which it says true. It is asked once of each, before the rest of the row is made. A lease that
   * is taken or given back moves no ETag: `isLeased` tells whether it is held or breaking now. It costs something only
   * where it is called, and can be called only while `skip` is.
   */
  readonly skip?: (name: string, etag: string, isLeased: () => boolean) => boolean
  readonly signal?: AbortSignal
}

/** Who wrote the stream in the last seconds. */
export interface OthersLately {
  /** How many, beside those who write now. */
  readonly count: number
  /** How long it took on average from one writer's turn to the next one's, ms; `undefined` where there were too few. */
  readonly turnMs: number | undefined
}

/** What `decide` wants after it has seen the current state: one write of the whole body, or none. */
export type Decision =
  | {
      readonly kind: 'put'
      readonly body: Uint8Array
      readonly summary: Summary
      /** Told to who decided: this was not written and never will be, another decision on a fresh state follows. */
      readonly discard?: () => void
      /** It costs something only where it is called. */
      readonly othersLately?: () => OthersLately
    }
  | { readonly kind: 'leave' }

/**
 * How a change keeps others away. `lease`: it holds the lease from before it reads until after it has written. `optimistic`: it
 * writes on the ETag it has read or written itself, takes no lease, and does it again where somebody was faster; a lease that
 * another holds keeps it out all the same. Equally safe; under a lease those who wait cause no writes in vain. SQLite has one
 * way only: its transaction.
 */
export type WriteMode = 'lease' | 'optimistic'

/** How one change is made. */
export interface ChangeOptions {
  /** Write under this lease, which the caller holds; it is neither acquired nor released. */
  readonly leaseId?: string
  /** Default `lease`. With `leaseId` it says nothing. */
  readonly write?: WriteMode
  /** How long to wait for a lease held by another, ms; 0 = one try. */
  readonly waitMs: number
  /** Shown to others while the lease is held. */
  readonly holder: Holder
  /** Overall limit for one change, ms from the call, waiting for the lease excluded; afterwards the outcome is `unknown` if a write is unanswered. Default 30 000. */
  readonly deadlineMs?: number
  /** Ends the wait for a lease held by another within half a second: `held`. What is under way goes on to its end. */
  readonly stopWaiting?: AbortSignal
  readonly signal?: AbortSignal
}

/** What became of a change under the lease. */
export type ChangeOutcome =
  /** The last decision's write is the stream's current or a former state: durable. */
  | { readonly kind: 'committed'; readonly etag: string }
  /** The last decision was `leave`: nothing of this change is in flight any more, or an earlier try of it is in the document that `decide` saw. */
  | { readonly kind: 'left' }
  /** There is no such stream. */
  | { readonly kind: 'missing' }
  /** Leased by another for longer than `waitMs`. Nothing was written. */
  | { readonly kind: 'held'; readonly lease: LeaseView; readonly waitedMs: number; readonly lastBy?: string }
  /** The given lease is not (any longer) the stream's. Nothing was written. */
  | { readonly kind: 'lost'; readonly code: string }
  /** A write was sent, its answer never came, and no read could tell. It may or may not be applied, now or later. */
  | { readonly kind: 'unknown'; readonly cause: unknown }

/** What became of one try to create a stream. */
export type CreateOutcome =
  | { readonly kind: 'created'; readonly etag: string }
  /** A blob of that name is there, whatever it holds. */
  | { readonly kind: 'exists' }
  | { readonly kind: 'unknown'; readonly cause: unknown }

/** The lease that is asked for. */
export interface AcquireOptions {
  /** The proposed lease id, a UUID. Repeating with the same id is safe: it resets the clock. */
  readonly leaseId: string
  /** 15–60, or -1 for an infinite lease. Other values throw `InvalidValue`. */
  readonly durationS: number
  readonly holder: Holder
  /** Also record the holder where the store needs a write for it (Azure: metadata, a new ETag). */
  readonly record?: boolean
  readonly signal?: AbortSignal
}

/** The answer to acquire. */
export type AcquireOutcome =
  | { readonly kind: 'acquired'; readonly leaseId: string; readonly etag: string }
  | { readonly kind: 'held'; readonly lease: LeaseView; readonly lastBy?: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unknown'; readonly cause: unknown }

/** The answer to renew, change and release. */
export type LeaseOutcome =
  | { readonly kind: 'ok'; readonly leaseId: string }
  /** The id is not the blob's lease (any longer). `code` is the service's, or its equivalent. */
  | { readonly kind: 'lost'; readonly code: string }
  | { readonly kind: 'missing' }
  /** No answer: neither held nor lost. */
  | { readonly kind: 'unknown'; readonly cause: unknown }

/** The answer to break. */
export type BreakOutcome =
  /** Seconds until the lease ends; 0 = now. */
  | { readonly kind: 'broken'; readonly remainingS: number }
  | { readonly kind: 'not-leased' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unknown'; readonly cause: unknown }

/** What became of removing a stream. */
export type RemoveOutcome =
  | { readonly kind: 'removed' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'held'; readonly lease: LeaseView }
  /** Written since the given ETag. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'lost'; readonly code: string }
  | { readonly kind: 'unknown'; readonly cause: unknown }

/**
 * Where streams are kept. Three drivers: memory, SQLite, Azure Blob; one contract suite.
 * Methods throw the errors of `store/errors.ts` for faults (no rights, unreachable, damaged) and return the rest as outcomes.
 */
export interface StreamStore {
  /** The address in the form in which `--store` takes it, free of secrets. */
  readonly address: string
  /** Epoch ms by the store's clock: the local one, on Azure corrected by the service's `Date` header. */
  nowMs(): number
  /**
   * Learns the time of a store that has a clock of its own, before anything is stamped with `nowMs`: one small request, and
   * none once any answer was seen. Others do not have it.
   */
  learnTime?(name: string, signal?: AbortSignal): Promise<void>
  /** All streams in pages; names under `.leasectl/` are left out. A page is bounded (≤ 5 000 rows), so memory is too. */
  list(query: ListQuery): AsyncIterable<readonly StreamRow[]>
  /**
   * A mark of all that is written: two that are equal mean that nothing was, by whomever, in between. Marks of different
   * states differ; those of the same state may. Leases that run out by time move none. Where it costs as much as a listing
   * it is not there, and where it cannot be told it is `undefined`, which is equal to nothing.
   */
  changeToken?(signal?: AbortSignal): Promise<string | undefined>
  /** The stream as it stands, `undefined` if there is none. Takes no lease. */
  read(name: string, signal?: AbortSignal): Promise<StreamSnapshot | undefined>
  /** The one write without a lease: succeeds only if nothing has that name. One try; the caller resolves `unknown`. */
  create(name: string, body: Uint8Array, summary: Summary, signal?: AbortSignal): Promise<CreateOutcome>
  /**
   * Acquire, read, write, release, as this store does it cheapest. `decide` is synchronous and pure; it is called with
   * the state read under the lease, and again with a fresh one whenever a write was refused or its answer was lost:
   * it recognises its own earlier try by its command id and then says `leave`. What it wants to know of that state it has
   * to look at while it decides: a body nobody looks at need not be fetched.
   */
  update(
    name: string,
    decide: (current: StreamSnapshot, nowMs: number) => Decision,
    options: ChangeOptions,
  ): Promise<ChangeOutcome>
  /** Removes the stream if its ETag is still the given one, under the lease if one is given or held. */
  remove(
    name: string,
    options: { readonly etag?: string; readonly leaseId?: string; readonly signal?: AbortSignal },
  ): Promise<RemoveOutcome>
  acquireLease(name: string, options: AcquireOptions): Promise<AcquireOutcome>
  renewLease(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome>
  changeLeaseId(name: string, leaseId: string, proposedId: string, signal?: AbortSignal): Promise<LeaseOutcome>
  releaseLease(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome>
  /** Ends another's lease, at once (0) or after `periodS` (0–60); without one a finite lease runs out, an infinite one ends at once. */
  breakLease(name: string, periodS: number | undefined, signal?: AbortSignal): Promise<BreakOutcome>
  /** Creates the container or folder if it is missing. */
  createContainer(signal?: AbortSignal): Promise<void>
  /**
   * What the driver knows of its place, for `doctor`: nothing secret, nothing changed. Faults do not throw: what could not
   * be learned is named with the reason. Throws the signal's reason.
   */
  inspect(options?: InspectOptions): Promise<StoreFacts>
  /** Waits at most 2 s for what is under way and writes, removes or leases, then lets go of files and sockets. */
  close(): Promise<void>
}
