import type { Summary } from '../stream/summary.ts'
import type { BlockLog } from './block-log.ts'
import type { InspectOptions, StoreFacts } from './facts.ts'

/** The holder of a lease, as recorded when the lease was acquired. */
export interface Holder {
  /** Actor, as `--by` gives it. */
  readonly by: string
  readonly host: string
  readonly pid: number
  /** Purpose of the lease: the command, in words. */
  readonly purpose: string
  /** Time of the acquire, epoch ms by the store's clock. */
  readonly sinceMs: number
}

/** The lease of a stream as any reader sees it, without its id: the id is known to the holder only. */
export interface LeaseView {
  readonly state: 'available' | 'leased' | 'breaking' | 'broken' | 'expired'
  /** `fixed` or `infinite` while leased. */
  readonly duration?: 'fixed' | 'infinite'
  /** Known on SQLite and in memory; on Azure only if an explicit `lease acquire` recorded it. */
  readonly holder?: Holder
  /** End of the lease, epoch ms; absent where the store does not know it. */
  readonly untilMs?: number
}

/** One row of a listing: a stream without its body. */
export interface StreamRow {
  readonly name: string
  /** Identifies this state of the stream; every write sets a new one. Lease operations keep it. */
  readonly etag: string
  /** Size of the body, bytes. */
  readonly size: number
  /** Time of the last write, epoch ms by the store's clock. */
  readonly modifiedMs: number
  readonly lease: LeaseView
  /** Absent if the stream has none, or if another program wrote the body without updating it: then read the document. */
  readonly summary?: Summary
}

/** One state of a stream, with its body. */
export interface StreamSnapshot extends StreamRow {
  readonly body: Uint8Array
  /** The highest version in any summary stored with the body, even a stale one. The next version is higher. */
  readonly versionFloor: number
}

/** Selection and order of a listing. The empty query lists all streams by name. */
export interface ListQuery {
  /** Only names that begin with this. */
  readonly prefix?: string
  /** Only names after this one, in the order of their UTF-8 bytes, as Azure lists. */
  readonly after?: string
  /**
   * `name`: by name. `due`: streams with a due time only, soonest first; a driver without an index on it sorts in memory.
   * `any`: each stream once in the order that is fastest, reading some pages ahead, for callers that read all of them.
   * Drivers that gain nothing from `any` list by name, and so does every driver if there is a limit. Default `name`.
   */
  readonly order?: 'name' | 'due' | 'any'
  /** Maximum number of rows. Default: no limit. */
  readonly limit?: number
  /** Lists leasectl's own documents, below `.leasectl/`, instead of streams. Default false. */
  readonly reserved?: boolean
  /**
   * Filter: rows for which it returns true are left out. It is called once per row, before the rest of the row is built.
   * Lease operations do not change the ETag, so `isLeased` reads separately whether the lease is held or breaking now. A
   * call of `isLeased` costs extra, and is valid only while `skip` runs.
   */
  readonly skip?: (name: string, etag: string, isLeased: () => boolean) => boolean
  readonly signal?: AbortSignal
}

/** Other writers of the stream in the last seconds. */
export interface OthersLately {
  /** Number of other writers, those that write now excluded. */
  readonly count: number
  /** Mean time from one writer's turn to the next writer's, ms; `undefined` if there were too few turns. */
  readonly turnMs: number | undefined
}

/** Result of `decide`, given the current state: `put` writes the whole body once, `leave` writes nothing. */
export type Decision =
  | {
      readonly kind: 'put'
      readonly body: Uint8Array
      readonly summary: Summary
      /** Called if this body was not written and never will be: `decide` is then called again with a fresh state. */
      readonly discard?: () => void
      /** Other writers of the stream, computed when called. */
      readonly othersLately?: () => OthersLately
    }
  | { readonly kind: 'leave' }

/**
 * Concurrency control of a change. `lease`: holds the lease from before the read until after the write. `optimistic`: takes no
 * lease, writes with `If-Match` on the ETag that it read or wrote itself, and retries if another writer was faster; a
 * lease held by another still blocks it. Both are equally safe; with leases, waiting writers cause no rejected writes.
 * SQLite ignores the mode and always uses a transaction.
 */
export type WriteMode = 'lease' | 'optimistic'

/** One attempt of a change to get at a stream that another may have leased, or the end of these attempts. */
export type LeaseAttempt = {
  readonly stream: string
  /** The number of the attempt, from 1. */
  readonly attempt: number
  /** How long the change has waited so far, ms. */
  readonly waitedMs: number
} & (
  | { readonly kind: 'held'; readonly lease: LeaseView; readonly lastBy?: string }
  /** The change has the lease, or no lease is in its way. */
  | { readonly kind: 'acquired' }
  /** The wait is over, the lease is still held. */
  | { readonly kind: 'given-up' }
)

/** Options of one change. */
export interface ChangeOptions {
  /** Writes under this lease, which the caller holds; the change neither acquires nor releases it. */
  readonly leaseId?: string
  /** Default `lease`. Ignored with `leaseId`. */
  readonly write?: WriteMode
  /** How long to wait for a lease held by another, ms; 0 = one attempt. */
  readonly waitMs: number
  /** Shown to others while the lease is held. */
  readonly holder: Holder
  /** Called for each attempt to get the lease, or to write beside it. On Azure the holder then costs a request for each attempt. */
  readonly onLeaseAttempt?: ((attempt: LeaseAttempt) => void) | undefined
  /**
   * Overall limit for one change, ms from the call, without the wait for the lease. After it, the outcome is `unknown` if a
   * write is unanswered. Default 30 000.
   */
  readonly deadlineMs?: number
  /** Stops the wait for a lease held by another within half a second: `held`. A write that has begun is completed. */
  readonly stopWaiting?: AbortSignal
  readonly signal?: AbortSignal
}

/** Outcome of a change. */
export type ChangeOutcome =
  /** The last decision was written. It is durable, and the current or a former state of the stream. */
  | { readonly kind: 'committed'; readonly etag: string }
  /**
   * The last decision was `leave`. No write of this change is in flight any more, or an earlier attempt is in the document that
   * `decide` saw.
   */
  | { readonly kind: 'left' }
  /** The stream does not exist. */
  | { readonly kind: 'missing' }
  /** Another holder kept the lease for longer than `waitMs`. Nothing was written. */
  | { readonly kind: 'held'; readonly lease: LeaseView; readonly waitedMs: number; readonly lastBy?: string }
  /** The given lease is not, or no longer, the lease of the stream. Nothing was written. */
  | { readonly kind: 'lost'; readonly code: string }
  /** A write was sent and not answered, and no read could settle it. It may be applied, now or later, or never. */
  | { readonly kind: 'unknown'; readonly cause: unknown }

/** Outcome of one attempt to create a stream. */
export type CreateOutcome =
  | { readonly kind: 'created'; readonly etag: string }
  /** A blob of that name exists, whatever its content. */
  | { readonly kind: 'exists' }
  /** No answer: the stream may exist, now or later, or never. */
  | { readonly kind: 'unknown'; readonly cause: unknown }

/** Options of `StreamStore.acquireLease`. */
export interface AcquireOptions {
  /** The proposed lease id, a UUID. Repeating with the same id is safe: it restarts the duration. */
  readonly leaseId: string
  /** Duration in seconds: 15–60, or -1 for an infinite lease. Other values throw `InvalidValue`. */
  readonly durationS: number
  readonly holder: Holder
  /** Also records the holder where that needs a write (Azure: metadata, a new ETag). */
  readonly record?: boolean
  readonly signal?: AbortSignal
}

/** Outcome of acquiring a lease. */
export type AcquireOutcome =
  | { readonly kind: 'acquired'; readonly leaseId: string; readonly etag: string }
  /** Another holds the lease. `lastBy`: the actor of the last write, if known. */
  | { readonly kind: 'held'; readonly lease: LeaseView; readonly lastBy?: string }
  | { readonly kind: 'missing' }
  /** No answer: the lease may be acquired or not. */
  | { readonly kind: 'unknown'; readonly cause: unknown }

/** Outcome of renewing, changing or releasing a lease. */
export type LeaseOutcome =
  | { readonly kind: 'ok'; readonly leaseId: string }
  /** The id is not, or no longer, the lease of the blob. `code` is the service's error code or its equivalent. */
  | { readonly kind: 'lost'; readonly code: string }
  | { readonly kind: 'missing' }
  /** No answer: neither held nor lost. */
  | { readonly kind: 'unknown'; readonly cause: unknown }

/** Outcome of reading under a lease. */
export type LeasedReadOutcome =
  | { readonly kind: 'read'; readonly stored: StreamSnapshot }
  | Extract<LeaseOutcome, { readonly kind: 'lost' | 'missing' }>

/** Outcome of breaking a lease. */
export type BreakOutcome =
  /** `remainingS`: seconds until the lease ends; 0 = now. */
  | { readonly kind: 'broken'; readonly remainingS: number }
  | { readonly kind: 'not-leased' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unknown'; readonly cause: unknown }

/**
 * The lease of the container that holds a store. It keeps others from deleting the container, and nothing else: streams are
 * written beside it. The service records no holder. Methods throw `ContainerMissing` if there is no container.
 */
export interface ContainerLease {
  /** Name of the container. */
  readonly container: string
  view(signal?: AbortSignal): Promise<LeaseView>
  /** @throws InvalidValue for another duration than 15–60 s or -1 */
  acquire(options: Pick<AcquireOptions, 'leaseId' | 'durationS' | 'signal'>): Promise<AcquireOutcome>
  renew(leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome>
  change(leaseId: string, proposedId: string, signal?: AbortSignal): Promise<LeaseOutcome>
  release(leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome>
  /** As `StreamStore.breakLease`. */
  break(periodS: number | undefined, signal?: AbortSignal): Promise<BreakOutcome>
}

/** Outcome of removing a stream. */
export type RemoveOutcome =
  | { readonly kind: 'removed' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'held'; readonly lease: LeaseView }
  /** The stream was written since the given ETag. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'lost'; readonly code: string }
  | { readonly kind: 'unknown'; readonly cause: unknown }

/**
 * A store of streams. There are three drivers, memory, SQLite and Azure Blob, and one contract suite for all of them.
 * Methods throw the errors of `store/errors.ts` for faults (no rights, unreachable, damaged) and return everything else as
 * outcomes. A `signal` that aborts rejects the call with its reason.
 */
export interface StreamStore {
  /** The address in the form that `--store` takes, without secrets. */
  readonly address: string
  /** The time by the store's clock, epoch ms: the local clock, on Azure corrected by the service's `Date` header. */
  nowMs(): number
  /**
   * Synchronizes `nowMs` with a store that has its own clock, before anything is stamped with it: one small request, or none
   * after any answer of the service. Absent on other stores.
   */
  learnTime?(name: string, signal?: AbortSignal): Promise<void>
  /** Lists streams in pages, without names under `.leasectl/`, or with `reserved` only those. A page has at most 5 000 rows, which bounds memory. */
  list(query: ListQuery): AsyncIterable<readonly StreamRow[]>
  /**
   * A token of everything written to the store. Equal tokens mean that no program wrote anything in between; different tokens
   * may still stand for the same state. A lease that expires does not change the token. The method is absent where it
   * would cost as much as a listing. `undefined` means that the state is not known: treat it as changed.
   */
  changeToken?(signal?: AbortSignal): Promise<string | undefined>
  /** Reads the current state of a stream without a lease; `undefined` if it does not exist. */
  read(name: string, signal?: AbortSignal): Promise<StreamSnapshot | undefined>
  /** Reads only while this lease, which the caller holds, is the stream's: nobody else can write meanwhile. */
  readLeased(name: string, leaseId: string, signal?: AbortSignal): Promise<LeasedReadOutcome>
  /** Writes a new stream, without a lease; succeeds only if the name is free. One attempt; the caller resolves `unknown`. */
  create(name: string, body: Uint8Array, summary: Summary, signal?: AbortSignal): Promise<CreateOutcome>
  /**
   * Changes a stream: acquire, read, write, release, in the cheapest way of this store. `decide` is synchronous and pure. It
   * is called with the state read under the lease, and again with a fresh state whenever a write was rejected or not
   * answered: it recognizes its own earlier attempt by its command id and then returns `leave`. `decide` must read
   * everything it needs from the state before it returns: drivers fetch a body only if it is read.
   */
  update(
    name: string,
    decide: (current: StreamSnapshot, nowMs: number) => Decision,
    options: ChangeOptions,
  ): Promise<ChangeOutcome>
  /** Removes a stream: with `etag`, only if it is unchanged; with `leaseId`, under that lease. Without `leaseId` a leased stream is `held`. */
  remove(
    name: string,
    options: { readonly etag?: string; readonly leaseId?: string; readonly signal?: AbortSignal },
  ): Promise<RemoveOutcome>
  acquireLease(name: string, options: AcquireOptions): Promise<AcquireOutcome>
  renewLease(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome>
  changeLeaseId(name: string, leaseId: string, proposedId: string, signal?: AbortSignal): Promise<LeaseOutcome>
  releaseLease(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome>
  /**
   * Ends the lease of another holder after `periodS` seconds, 0–60; 0 = at once. With `undefined` a finite lease runs to its
   * end and an infinite one ends at once.
   */
  breakLease(name: string, periodS: number | undefined, signal?: AbortSignal): Promise<BreakOutcome>
  /**
   * A log of lines with one of leasectl's own names, below `.leasectl/`. Sends no request.
   * @throws InvalidValue for any other name
   */
  log(name: string): BlockLog
  /** The lease of the container; absent on a store that is not a container. */
  readonly containerLease?: ContainerLease
  /** Creates the container or folder if it is missing. */
  createContainer(signal?: AbortSignal): Promise<void>
  /**
   * Collects facts about the store for `doctor`, without secrets and without changing anything. A fact that cannot be learned
   * is in `unknown` with the reason. Throws nothing but the signal's reason.
   */
  inspect(options?: InspectOptions): Promise<StoreFacts>
  /** Waits at most 2 s for writes, removals and lease operations in flight, then closes files and sockets. */
  close(): Promise<void>
}
