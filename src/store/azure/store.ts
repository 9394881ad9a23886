import { randomUUID } from 'node:crypto'
import type { Summary } from '../../stream/summary.ts'
import { type Clock, machineClock } from '../../util/clock.ts'
import { within } from '../../util/concurrency.ts'
import { accountUrl, formatAddress, type StoreAddress } from '../address.ts'
import type { AzureFacts, InspectOptions } from '../facts.ts'
import type {
  AcquireOptions,
  AcquireOutcome,
  BreakOutcome,
  ChangeOptions,
  ChangeOutcome,
  CreateOutcome,
  Decision,
  EventStore,
  LeaseOutcome,
  Listed,
  ListQuery,
  RemoveOutcome,
  Stored,
} from '../store.ts'
import type { AzureCredential } from './account.ts'
import { AzureBodies, createBlob } from './blobs.ts'
import { ChangeCourse } from './change/attempt.ts'
import { AzureTurns } from './change/fairness.ts'
import { ParkedTenures } from './change/held-lease.ts'
import { AzureChange } from './change/leased.ts'
import { AzureOptimisticChange } from './change/optimistic.ts'
import { WrittenStates } from './change/write-cache.ts'
import { type AzureContainer, distrustIdleConnections, openContainer } from './client.ts'
import { OWN_WAITS, type OwnWaits, PendingReleases, RunningChanges } from './in-flight.ts'
import { inspectAzure } from './inspect.ts'
import { AzureLeases } from './leases.ts'
import { listStreams } from './list/list.ts'
import { AzureListReader } from './list/pages.ts'
import { type RemoveOptions, removeBlob } from './remove.ts'
import { AzureCalls, TRY_LIMITS, type TryLimits } from './requests.ts'

export interface AzureBlobOptions {
  readonly address: StoreAddress & { kind: 'azure' | 'azurite' }
  readonly credential: AzureCredential
  /** For tests. */
  readonly machine?: Clock
  readonly random?: () => number
  /** A fresh UUID at each call. */
  readonly newLeaseId?: () => string
  readonly limits?: Partial<TryLimits>
  readonly waits?: Partial<OwnWaits>
  /** Blobs on a page of a listing. */
  readonly pageSize?: number
}

/** Opens a container of blobs as a store. Sends nothing yet: a wrong credential shows with the first request. */
export async function openAzureBlobStore(options: AzureBlobOptions): Promise<EventStore> {
  const { address, credential } = options
  const endpoint = accountUrl(address)
  return new AzureBlobStore(await openContainer(endpoint, address.container, credential), options)
}

/** One blob a stream, in one container. */
class AzureBlobStore implements EventStore {
  readonly address: string
  readonly #container: AzureContainer
  readonly #credential: AzureCredential
  readonly #calls: AzureCalls
  readonly #bodies: AzureBodies
  readonly #leases: AzureLeases
  readonly #pageSize: number | undefined
  /** One for all listings: its pipeline keeps a token as long as it is good. */
  #pages: AzureListReader | undefined
  readonly #running = new RunningChanges()
  readonly #waits: OwnWaits
  readonly #releases: PendingReleases
  readonly #parked = new ParkedTenures()
  readonly #written = new WrittenStates()
  readonly #turns: AzureTurns
  readonly #newLeaseId: () => string
  readonly #letConnectionsBe: () => void

  constructor(
    container: AzureContainer,
    { address, credential, machine, random, newLeaseId, limits, waits, pageSize }: AzureBlobOptions,
  ) {
    this.address = formatAddress(address)
    this.#container = container
    this.#credential = credential
    const expiry = credential.kind === 'sas' ? credential.expiresMs : undefined
    this.#calls = new AzureCalls({
      site: {
        container: address.container,
        host: new URL(accountUrl(address)).host,
        emulator: address.kind === 'azurite',
        ...(expiry === undefined ? {} : { sasExpiresMs: expiry }),
      },
      machine: machine ?? machineClock,
      random: random ?? Math.random,
      limits: { ...TRY_LIMITS, ...limits },
    })
    this.#waits = { ...OWN_WAITS, ...waits }
    this.#releases = new PendingReleases(this.#waits.releaseMs)
    this.#turns = new AzureTurns(() => this.#calls.machine.monotonicMs(), this.#calls.random)
    this.#bodies = new AzureBodies(container, this.#calls)
    this.#leases = new AzureLeases(this.#bodies, this.#calls)
    this.#pageSize = pageSize
    this.#newLeaseId = newLeaseId ?? randomUUID
    this.#letConnectionsBe = distrustIdleConnections(new URL(accountUrl(address)))
  }

  nowMs(): number {
    return this.#calls.clock.nowMs()
  }

  async learnTime(name: string, signal?: AbortSignal): Promise<void> {
    const { clock } = this.#calls
    if (clock.isKnown) return
    try {
      await this.#bodies.look(name, signal)
    } catch (error) {
      // A refusal has the time too; what it means, the change that follows tells.
      if (!clock.isKnown) throw error
    }
  }

  list(query: ListQuery): AsyncIterable<readonly Listed[]> {
    this.#parked.endAll()
    this.#pages ??= new AzureListReader(this.#container, this.#calls, this.#pageSize)
    return listStreams(this.#pages, query)
  }

  async read(name: string, signal?: AbortSignal): Promise<Stored | undefined> {
    // A lease that is only kept for what may come is not to be seen.
    this.#parked.end(name)
    return (await this.#bodies.read(name, signal))?.stored
  }

  create(name: string, body: Uint8Array, summary: Summary, signal?: AbortSignal): Promise<CreateOutcome> {
    const requests = { calls: this.#calls, bodies: this.#bodies }
    return this.#running.run(() => createBlob(requests, name, { body, summary }, signal))
  }

  changeUnderLease(
    name: string,
    decide: (current: Stored, nowMs: number) => Decision,
    options: ChangeOptions,
  ): Promise<ChangeOutcome> {
    const requests = { calls: this.#calls, bodies: this.#bodies, leases: this.#leases, newLeaseId: this.#newLeaseId }
    const kept = { releases: this.#releases, turns: this.#turns, parked: this.#parked, written: this.#written }
    const parts = { ...requests, ...kept }
    // While a lease of the change before is held anyway, the next one goes on under it.
    const isOptimistic = options.write === 'optimistic' && options.leaseId === undefined && !this.#parked.has(name)
    const course = new ChangeCourse(parts, name, decide, options)
    const change = new (isOptimistic ? AzureOptimisticChange : AzureChange)(parts, name, options, course)
    return this.#running.run(() => change.run())
  }

  remove(name: string, options: RemoveOptions): Promise<RemoveOutcome> {
    const requests = { calls: this.#calls, bodies: this.#bodies, leases: this.#leases }
    return this.#running.run(async () => {
      if (options.leaseId === undefined) await this.#ownLeaseOver(name)
      else this.#parked.end(name)
      return removeBlob(requests, name, options)
    })
  }

  acquire(name: string, options: AcquireOptions): Promise<AcquireOutcome> {
    return this.#running.run(async () => {
      await this.#ownLeaseOver(name)
      return this.#leases.acquire(name, options)
    })
  }

  renew(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#running.run(() => this.#leases.renew(name, leaseId, signal))
  }

  change(name: string, leaseId: string, proposedId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#running.run(() => this.#leases.change(name, leaseId, proposedId, signal))
  }

  release(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#running.giveBack(() => this.#leases.release(name, leaseId, signal))
  }

  break(name: string, periodS: number | undefined, signal?: AbortSignal): Promise<BreakOutcome> {
    return this.#running.run(async () => {
      await this.#ownLeaseOver(name)
      return this.#leases.break(name, periodS, signal)
    })
  }

  async createContainer(signal?: AbortSignal): Promise<void> {
    const answer = await this.#calls.repeated(abortSignal => this.#container.client.create({ abortSignal }), {
      limitMs: this.#calls.limits.leaseMs,
      signal,
    })
    if (answer.kind === 'done' || answer.error.code === 'ContainerAlreadyExists') return
    throw this.#calls.fault(answer.error)
  }

  inspect({ signal }: InspectOptions = {}): Promise<AzureFacts> {
    const { versioning } = this.#bodies
    const parts = { container: this.#container, calls: this.#calls, credential: this.#credential }
    return inspectAzure(parts, { address: this.address, ...(versioning === undefined ? {} : { versioning }) }, signal)
  }

  async close(): Promise<void> {
    await within(this.#waits.closeMs, this.#leasesOver())
    this.#calls.close()
    this.#letConnectionsBe()
  }

  /** Until this process's own change has given its lease back: it is not to be taken for another's. */
  async #ownLeaseOver(name: string): Promise<void> {
    this.#parked.end(name)
    await this.#releases.settled(name)
  }

  /** What is under way comes to its end, nothing further begins, and no lease of a change is kept. */
  async #leasesOver(): Promise<void> {
    this.#parked.endAll()
    await this.#running.end()
    // What the last of them kept for a next one.
    this.#parked.endAll()
    await this.#releases.drain()
  }
}
