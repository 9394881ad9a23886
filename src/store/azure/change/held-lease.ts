import type { LeaseView } from '../../store.ts'
import type { BlobState } from '../blobs.ts'
import { isBlobMissing, isHeldByAnother } from '../errors.ts'
import type { PendingReleases } from '../in-flight.ts'
import type { AzureLeases } from '../leases.ts'
import type { AzureCalls } from '../requests.ts'
import type { LeaseWait } from './lease-wait.ts'

/** The shortest lease the service gives: a writer that dies parks the stream no longer than that. */
const LEASE_S = 15
/** A lease is trusted from before its acquire was sent until a third before its end. */
const TRUSTED_MS = (LEASE_S * 1_000 * 2) / 3
/** The wall clock may drift so far from the monotonic one before the machine is taken to have been suspended. */
const SUSPENDED_MS = 1_000

export interface TenureParts {
  readonly calls: AzureCalls
  readonly leases: AzureLeases
  readonly releases: PendingReleases
  /** A fresh UUID for each tenure: a late request of an earlier one must not pass for the present one's. */
  readonly newLeaseId: () => string
}

export type Entered =
  /** `etag`: the blob's, which the acquire returns. */
  | { readonly kind: 'entered'; readonly etag: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'held'; readonly lease: LeaseView; readonly waitedMs: number; readonly lastBy?: string }

export interface TenureOptions {
  /** The waiting for leases held by others, over all tenures. */
  readonly wait: LeaseWait
  /** Another holds the lease: told each time. */
  readonly onHeld: () => void
  /** Monotonic ms by which an acquire must have ended. */
  readonly untilMs: () => number
  readonly signal: AbortSignal | undefined
}

/** The leases one change holds, one after the other. */
export class AzureTenure {
  readonly #parts: TenureParts
  readonly #name: string
  readonly #options: TenureOptions
  #leaseId: string | undefined
  /** Monotonic ms, after which nothing more is sent under it. */
  #untilMs = 0
  /** Wall clock minus monotonic clock when the acquire was sent. */
  #gapMs = 0

  constructor(parts: TenureParts, name: string, options: TenureOptions) {
    this.#parts = parts
    this.#name = name
    this.#options = options
  }

  /** The lease that is held, as far as is known. */
  get leaseId(): string | undefined {
    return this.#leaseId
  }

  /** Whether the lease certainly lasts: its time is not up, and the machine did not sleep since. */
  get trusted(): boolean {
    const { machine } = this.#parts.calls
    const gapMs = machine.wallMs() - machine.monotonicMs()
    return machine.monotonicMs() < this.#untilMs && Math.abs(gapMs - this.#gapMs) < SUSPENDED_MS
  }

  /** Whether it is so young that another change may be made under it: what is left is for the faults that may come. */
  get isYoung(): boolean {
    return this.trusted && this.#parts.calls.machine.monotonicMs() < this.#untilMs - TRUSTED_MS / 2
  }

  /** Goes on with the lease of another tenure, which has none from then on. */
  takeOver(other: AzureTenure): void {
    this.#leaseId = other.#leaseId
    this.#untilMs = other.#untilMs
    this.#gapMs = other.#gapMs
    other.forget()
  }

  /** Acquires with a fresh id; held by another it is tried again, with back-off, until the time to wait is over. */
  async enter(): Promise<Entered> {
    const { newLeaseId } = this.#parts
    const leaseId = newLeaseId()
    const hold = { doubtful: false }
    try {
      return await this.#acquire(leaseId, hold)
    } finally {
      // An acquire that was reported as failed may have been applied, or be aborted on its way.
      if (hold.doubtful && this.#leaseId !== leaseId) this.#releaseLater(leaseId)
    }
  }

  /** Ends the tenure behind the caller's back; returns a promise only for those who must know that it is over. */
  leave(): Promise<boolean> | undefined {
    const leaseId = this.#leaseId
    if (leaseId === undefined) return undefined
    this.#leaseId = undefined
    return this.#releaseLater(leaseId)
  }

  /** The lease is over, so the service said, or another has it now. */
  forget(): void {
    this.#leaseId = undefined
  }

  async #acquire(leaseId: string, hold: { doubtful: boolean }): Promise<Entered> {
    const { calls, leases } = this.#parts
    const { wait, onHeld, untilMs, signal } = this.#options
    const { machine } = calls
    wait.entered()
    for (;;) {
      const doubted = hold.doubtful
      hold.doubtful = true
      const fromMs = machine.monotonicMs()
      const answer = await leases.tryAcquire(this.#name, leaseId, LEASE_S, signal, untilMs())
      if (answer.kind === 'done') {
        this.#leaseId = leaseId
        this.#untilMs = answer.value.sentMs + TRUSTED_MS
        this.#gapMs = answer.value.gapMs
        return { kind: 'entered', etag: answer.value.etag }
      }
      hold.doubtful = doubted || answer.silences > 0
      if (isBlobMissing(answer.error)) return { kind: 'missing' }
      if (!isHeldByAnother(answer.error)) throw calls.fault(answer.error, this.#name)
      onHeld()
      if (answer.silences === 0) wait.tried(machine.monotonicMs() - fromMs, calls.limits.leaseMs)
      if (!(await wait.next()))
        return { kind: 'held', ...(await leases.heldBy(this.#name, signal)), waitedMs: wait.waitedMs }
    }
  }

  /** Resolves to whether the service confirmed that the lease is over. */
  #releaseLater(leaseId: string): Promise<boolean> {
    const { leases, releases } = this.#parts
    return releases.start(this.#name, async () => {
      const { kind } = await leases.releaseOnly(this.#name, leaseId)
      return kind === 'ok' || kind === 'lost' || kind === 'missing'
    })
  }
}

/** A tenure whose change is written, with the state it wrote. */
export interface Parked {
  readonly tenure: AzureTenure
  readonly state: BlobState
}

/**
 * Tenures whose change was reported a moment ago. Who asks for the next change of the stream in the same turn of the
 * event loop goes on under the lease that is held anyway: one round trip instead of acquire, read, write and release.
 * With the end of that turn the lease is given back.
 */
export class ParkedTenures {
  readonly #parked = new Map<string, Parked>()

  /** Keeps the tenure until the end of this turn of the event loop. */
  park(name: string, parked: Parked): void {
    this.end(name)
    this.#parked.set(name, parked)
    setImmediate(() => {
      if (this.#parked.get(name) === parked) this.end(name)
    })
  }

  /** Whether there is one of this stream. */
  has(name: string): boolean {
    return this.#parked.has(name)
  }

  /** Hands the tenure over: who takes it must end it. */
  take(name: string): Parked | undefined {
    const parked = this.#parked.get(name)
    this.#parked.delete(name)
    return parked
  }

  /** Gives the lease back now: somebody else of this process wants it. */
  end(name: string): void {
    void this.take(name)?.tenure.leave()
  }

  endAll(): void {
    for (const name of [...this.#parked.keys()]) this.end(name)
  }
}
