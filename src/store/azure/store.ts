import { randomUUID } from 'node:crypto'
import type { Summary } from '../../stream/summary.ts'
import { type Clock, machineClock } from '../../util/clock.ts'
import { within } from '../../util/concurrency.ts'
import { defined } from '../../util/defined.ts'
import { accountUrl, formatAddress, type StoreAddress } from '../address.ts'
import type { BlockLog } from '../block-log.ts'
import type { AzureFacts, InspectOptions } from '../facts.ts'
import type {
  AcquireOptions,
  AcquireOutcome,
  BreakOutcome,
  ChangeOptions,
  ChangeOutcome,
  ContainerLease,
  CreateOutcome,
  Decision,
  LeasedReadOutcome,
  LeaseOutcome,
  ListQuery,
  RemoveOutcome,
  StreamRow,
  StreamSnapshot,
  StreamStore,
} from '../store.ts'
import { BlobIO, createBlob } from './blobs.ts'
import { AzureBlockLog, type AzureLogParts } from './block-log.ts'
import { type AttemptContext, ChangeAttempt } from './change/attempt.ts'
import { changeStream } from './change/change.ts'
import { Contention } from './change/contention.ts'
import { LeasedWrite } from './change/leased.ts'
import { OptimisticWrite } from './change/optimistic.ts'
import { type AzureContainer, dropIdleConnectionsOnError, openContainer } from './client.ts'
import { AzureContainerLease } from './container-lease.ts'
import type { AzureCredential } from './credential.ts'
import { DRAIN_TIMEOUTS, type DrainTimeouts, InFlightOperations } from './in-flight.ts'
import { inspectAzure } from './inspect.ts'
import { AzureLeases } from './leases.ts'
import { listStreams } from './list/list.ts'
import { AzureListReader } from './list/pages.ts'
import { type RemoveOptions, removeBlob } from './remove.ts'
import { AzureRequests, REQUEST_TIMEOUTS, type RequestTimeouts } from './requests.ts'

export interface AzureBlobOptions {
  readonly address: StoreAddress & { kind: 'azure' | 'azurite' }
  readonly credential: AzureCredential
  /** For tests. */
  readonly machine?: Clock
  readonly random?: () => number
  /** A fresh UUID at each call. */
  readonly newLeaseId?: () => string
  readonly limits?: Partial<RequestTimeouts>
  readonly waits?: Partial<DrainTimeouts>
  /** Number of blobs on a page of a listing. */
  readonly pageSize?: number
  /** Number of blocks in a segment of a log. */
  readonly blocksOfASegment?: number
}

/** Opens a container of blobs as a store. It sends no request: a wrong credential fails with the first one. */
export async function openAzureBlobStore(options: AzureBlobOptions): Promise<StreamStore> {
  const { address, credential } = options
  const endpoint = accountUrl(address)
  return new AzureBlobStore(await openContainer(endpoint, address.container, credential), options)
}

/** A store with one blob per stream, in one container. */
class AzureBlobStore implements StreamStore {
  readonly address: string
  readonly #container: AzureContainer
  readonly #credential: AzureCredential
  readonly #calls: AzureRequests
  readonly #bodies: BlobIO
  readonly #leases: AzureLeases
  readonly containerLease: ContainerLease
  readonly #pageSize: number | undefined
  readonly #logParts: AzureLogParts
  /** Shared by all listings, because its pipeline caches a token. */
  #pages: AzureListReader | undefined
  readonly #inFlight = new InFlightOperations()
  readonly #waits: DrainTimeouts
  readonly #contention: Contention
  readonly #attemptContext: AttemptContext
  readonly #stopDroppingConnections: () => void

  constructor(
    container: AzureContainer,
    { address, credential, machine, random, newLeaseId, limits, waits, pageSize, blocksOfASegment }: AzureBlobOptions,
  ) {
    this.address = formatAddress(address)
    this.#container = container
    this.#credential = credential
    const sasExpiresMs = credential.kind === 'sas' ? credential.expiresMs : undefined
    this.#calls = new AzureRequests({
      site: {
        container: address.container,
        host: new URL(accountUrl(address)).host,
        emulator: address.kind === 'azurite',
        ...defined({ sasExpiresMs }),
      },
      machine: machine ?? machineClock,
      random: random ?? Math.random,
      limits: { ...REQUEST_TIMEOUTS, ...limits },
    })
    this.#waits = { ...DRAIN_TIMEOUTS, ...waits }
    this.#bodies = new BlobIO(container, this.#calls)
    this.#leases = new AzureLeases(container.client, this.#bodies, this.#calls)
    this.containerLease = new AzureContainerLease(container.client, this.#calls)
    this.#contention = new Contention(this.#calls, this.#leases, this.#waits.releaseMs)
    this.#attemptContext = {
      calls: this.#calls,
      bodies: this.#bodies,
      leases: this.#leases,
      contention: this.#contention,
      newLeaseId: newLeaseId ?? randomUUID,
    }
    this.#pageSize = pageSize
    const { client } = container
    this.#logParts = {
      container: client,
      calls: this.#calls,
      inFlight: this.#inFlight,
      ...defined({ blocksOfASegment }),
    }
    this.#stopDroppingConnections = dropIdleConnectionsOnError(new URL(accountUrl(address)))
  }

  nowMs(): number {
    return this.#calls.clock.nowMs()
  }

  async learnTime(name: string, signal?: AbortSignal): Promise<void> {
    const { clock } = this.#calls
    if (clock.isKnown) return
    try {
      await this.#bodies.head(name, signal)
    } catch (error) {
      // A refusal carries the time too; the change that follows reports its meaning.
      if (!clock.isKnown) throw error
    }
  }

  list(query: ListQuery): AsyncIterable<readonly StreamRow[]> {
    this.#contention.releaseAllKept()
    this.#pages ??= new AzureListReader(this.#container, this.#calls, this.#pageSize)
    return listStreams(this.#pages, query)
  }

  async read(name: string, signal?: AbortSignal): Promise<StreamSnapshot | undefined> {
    // Readers must not see a lease that is only kept for the next change.
    this.#contention.releaseKept(name)
    return (await this.#bodies.read(name, signal))?.stored
  }

  async readLeased(name: string, leaseId: string, signal?: AbortSignal): Promise<LeasedReadOutcome> {
    const found = await this.#bodies.readLeased(name, leaseId, signal)
    return found.kind === 'read' ? { kind: 'read', stored: found.state.stored } : found
  }

  create(name: string, body: Uint8Array, summary: Summary, signal?: AbortSignal): Promise<CreateOutcome> {
    const requests = { calls: this.#calls, bodies: this.#bodies }
    return this.#inFlight.run(() => createBlob(requests, name, { body, summary }, signal))
  }

  update(
    name: string,
    decide: (current: StreamSnapshot, nowMs: number) => Decision,
    options: ChangeOptions,
  ): Promise<ChangeOutcome> {
    const attempt = new ChangeAttempt(this.#attemptContext, name, decide, options)
    // A lease kept from the previous change is reused, even by an optimistic change.
    const isOptimistic =
      options.write === 'optimistic' && options.leaseId === undefined && !this.#contention.hasKeptLease(name)
    const strategy = isOptimistic ? new OptimisticWrite(attempt) : new LeasedWrite(attempt)
    return this.#inFlight.run(() => changeStream(attempt, strategy))
  }

  remove(name: string, options: RemoveOptions): Promise<RemoveOutcome> {
    const requests = { calls: this.#calls, bodies: this.#bodies, leases: this.#leases }
    return this.#inFlight.run(async () => {
      if (options.leaseId === undefined) await this.#contention.ownLeaseReleased(name)
      else this.#contention.releaseKept(name)
      return removeBlob(requests, name, options)
    })
  }

  acquireLease(name: string, options: AcquireOptions): Promise<AcquireOutcome> {
    return this.#inFlight.run(async () => {
      await this.#contention.ownLeaseReleased(name)
      return this.#leases.acquire(name, options)
    })
  }

  renewLease(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#inFlight.run(() => this.#leases.renew(name, leaseId, signal))
  }

  changeLeaseId(name: string, leaseId: string, proposedId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#inFlight.run(() => this.#leases.change(name, leaseId, proposedId, signal))
  }

  releaseLease(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#inFlight.runRelease(() => this.#leases.release(name, leaseId, signal))
  }

  breakLease(name: string, periodS: number | undefined, signal?: AbortSignal): Promise<BreakOutcome> {
    return this.#inFlight.run(async () => {
      await this.#contention.ownLeaseReleased(name)
      return this.#leases.break(name, periodS, signal)
    })
  }

  async createContainer(signal?: AbortSignal): Promise<void> {
    const answer = await this.#calls.sendWithRetry(abortSignal => this.#container.client.create({ abortSignal }), {
      limitMs: this.#calls.limits.leaseMs,
      signal,
    })
    if (answer.kind === 'done' || answer.error.code === 'ContainerAlreadyExists') return
    throw this.#calls.fault(answer.error)
  }

  log(name: string): BlockLog {
    return new AzureBlockLog(this.#logParts, name)
  }

  inspect({ signal }: InspectOptions = {}): Promise<AzureFacts> {
    const { versioning } = this.#bodies
    const parts = { container: this.#container, calls: this.#calls, credential: this.#credential }
    return inspectAzure(parts, { address: this.address, ...defined({ versioning }) }, signal)
  }

  async close(): Promise<void> {
    await within(this.#waits.closeMs, this.#drain())
    this.#calls.close()
    this.#stopDroppingConnections()
  }

  /** Waits for all operations in flight, rejects new ones, and releases all leases of changes. */
  async #drain(): Promise<void> {
    this.#contention.releaseAllKept()
    await this.#inFlight.drain()
    // Leases that the last operations kept for the next one.
    this.#contention.releaseAllKept()
    await this.#contention.allReleased()
  }
}
