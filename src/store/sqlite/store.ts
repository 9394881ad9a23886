import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { setImmediate as otherWork } from 'node:timers/promises'
import { isHeld } from '../../stream/lease.ts'
import type { Summary } from '../../stream/summary.ts'
import type { BlockLog } from '../block-log.ts'
import type { InspectOptions, SqliteFacts } from '../facts.ts'
import {
  acquireStep,
  breakStep,
  changeStep,
  checkWrite,
  type LeasedStream,
  type LeaseStep,
  leasedRead,
  releaseStep,
  renewStep,
  retryWhileHeld,
} from '../local-lease.ts'
import { checkReadableName, checkStoredName } from '../names.ts'
import type {
  AcquireOptions,
  AcquireOutcome,
  BreakOutcome,
  ChangeOptions,
  ChangeOutcome,
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
import type { Appends } from './append/appends.ts'
import { SqliteBlockLog } from './block-log.ts'
import { changeStream } from './change.ts'
import { CommitFault, type Connection } from './connection.ts'
import { SqliteFile, type SqliteFileOptions } from './file.ts'
import { type Cursor, listSkipping, PAGE_ROWS, pageQuery } from './list.ts'
import {
  DELETE_BODY,
  DELETE_STREAM,
  dueOf,
  INSERT_BODY,
  INSERT_STREAM,
  instant,
  keptOf,
  leaseOf,
  leaseValues,
  listedOf,
  SELECT_STREAM,
  SELECT_WITH_BODY,
  snapshotOf,
  UPDATE_LEASE,
  writtenValues,
} from './schema.ts'

export interface SqliteStoreOptions extends Partial<SqliteFileOptions> {
  /** Epoch ms. Default `Date.now`. */
  readonly clock?: () => number
  /** Overrides the number of appended bytes after which a thread appends. For tests. */
  readonly threadFromBytes?: number
}

/**
 * A store in one SQLite file, for the programs of one machine. The file is opened at the first use, and created by the first
 * write.
 */
export function openSqliteStore(path: string, options: SqliteStoreOptions = {}): StreamStore {
  return new SqliteStore(path, options)
}

class SqliteStore implements StreamStore {
  readonly address: string
  readonly nowMs: () => number
  readonly #file: SqliteFile
  readonly #random: () => number
  readonly #threadFromBytes: number | undefined
  #appends: Promise<Appends> | undefined

  constructor(
    path: string,
    { clock = Date.now, random = Math.random, threadFromBytes, ...options }: SqliteStoreOptions,
  ) {
    // Absolute, because run files name the store, and a later process may run in another folder.
    this.address = `sqlite:${resolve(path)}`
    this.nowMs = clock
    this.#random = random
    this.#file = new SqliteFile(path, { random, ...options })
    this.#threadFromBytes = threadFromBytes
  }

  async *list(query: ListQuery): AsyncIterable<readonly StreamRow[]> {
    const { signal, limit = Number.POSITIVE_INFINITY, skip = () => false } = query
    if (query.skip !== undefined && query.order !== 'due') {
      yield* listSkipping(this.#file, this.nowMs, { ...query, skip })
      return
    }
    let left = limit
    let cursor: Cursor | undefined
    while (left > 0) {
      if (cursor) await otherWork()
      const rows = query.skip === undefined ? Math.min(left, PAGE_ROWS) : PAGE_ROWS
      const page = await this.#file.read(connection => this.#page(connection, query, cursor, rows), { signal })
      if (page === undefined) return
      const isWanted = ({ name, etag, lease }: StreamRow) => !skip(name, etag, () => isHeld(lease))
      const shown = page.listed.filter(isWanted).slice(0, left)
      if (shown.length > 0) yield shown
      if (page.last === undefined) return
      cursor = page.last
      left -= shown.length
    }
  }

  /** `last`: the cursor for the next page; `undefined` on the last page. */
  #page(connection: Connection, query: ListQuery, cursor: Cursor | undefined, rows: number): Page {
    const { sql, values } = pageQuery(query, cursor, rows)
    const nowMs = this.nowMs()
    const found = connection.all(sql, ...values)
    const listed = found.map(row => listedOf(row, nowMs))
    const [last, row] = [listed.at(-1), found.at(-1)]
    return {
      listed: query.order === 'due' ? listed.filter(({ summary }) => summary !== undefined) : listed,
      last:
        last === undefined || row === undefined || found.length < rows
          ? undefined
          : { name: last.name, dueMs: dueOf(row) },
    }
  }

  changeToken(signal?: AbortSignal): Promise<string | undefined> {
    return this.#file.changeToken({ signal })
  }

  async read(name: string, signal?: AbortSignal): Promise<StreamSnapshot | undefined> {
    checkReadableName(name)
    return this.#file.read(
      connection => {
        const row = connection.get(SELECT_WITH_BODY, name)
        return row && snapshotOf(row, this.nowMs())
      },
      { signal },
    )
  }

  async readLeased(name: string, leaseId: string, signal?: AbortSignal): Promise<LeasedReadOutcome> {
    checkReadableName(name)
    const outcome = await this.#file.read(
      connection => {
        const row = connection.get(SELECT_WITH_BODY, name)
        return row && leasedRead(leaseOf(row), leaseId, snapshotOf(row, this.nowMs()), this.nowMs())
      },
      { signal },
    )
    return outcome ?? { kind: 'missing' }
  }

  async create(name: string, body: Uint8Array, summary: Summary, signal?: AbortSignal): Promise<CreateOutcome> {
    checkStoredName(name)
    const stream = { name, body, summary }
    return orUnknown(this.#file.create(c => createInTransaction(c, { ...stream, nowMs: this.nowMs() }), { signal }))
  }

  async update(
    name: string,
    decide: (current: StreamSnapshot, nowMs: number) => Decision,
    options: ChangeOptions,
  ): Promise<ChangeOutcome> {
    checkReadableName(name)
    const context = { file: this.#file, clock: this.nowMs, random: this.#random }
    return retryWhileHeld(name, () => changeStream(context, name, decide, options), options, this.#random)
  }

  remove(
    name: string,
    { signal, ...options }: { readonly etag?: string; readonly leaseId?: string; readonly signal?: AbortSignal },
  ): Promise<RemoveOutcome> {
    const work = (connection: Connection): RemoveOutcome =>
      removeInTransaction(connection, { ...options, name, nowMs: this.nowMs() })
    return this.#write(work, signal)
  }

  acquireLease(name: string, options: AcquireOptions): Promise<AcquireOutcome> {
    return this.#lease(name, options.signal, (stream, nowMs) => acquireStep(stream, options, nowMs))
  }

  renewLease(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#lease(name, signal, (stream, nowMs) => renewStep(stream, leaseId, nowMs))
  }

  changeLeaseId(name: string, leaseId: string, proposedId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#lease(name, signal, (stream, nowMs) => changeStep(stream, leaseId, proposedId, nowMs))
  }

  releaseLease(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#lease(name, signal, stream => releaseStep(stream, leaseId))
  }

  breakLease(name: string, periodS: number | undefined, signal?: AbortSignal): Promise<BreakOutcome> {
    return this.#lease(name, signal, (stream, nowMs) => breakStep(stream, periodS, nowMs))
  }

  async createContainer(signal?: AbortSignal): Promise<void> {
    await this.#file.create(() => undefined, { signal })
  }

  log(name: string): BlockLog {
    return new SqliteBlockLog(this.#file, name, () => (this.#appends ??= this.#openAppends()))
  }

  async #openAppends(): Promise<Appends> {
    const { Appends } = await import('./append/appends.ts')
    return new Appends(this.#file, this.address.slice('sqlite:'.length), this.#threadFromBytes)
  }

  async inspect(options: InspectOptions = {}): Promise<SqliteFacts> {
    const { inspectSqlite } = await import('./inspect.ts')
    return inspectSqlite(this.#file, this.address, options)
  }

  async close(): Promise<void> {
    this.#file.close()
    await (await this.#appends)?.close()
  }

  #lease<T>(
    name: string,
    signal: AbortSignal | undefined,
    step: (stream: LeasedStream, nowMs: number) => LeaseStep<T>,
  ): Promise<T | Missing | Unknown> {
    const work = (connection: Connection): T | Missing =>
      leaseInTransaction(connection, name, stream => step(stream, this.nowMs()))
    return this.#write(work, signal)
  }

  /** Without a store there is no stream: `missing`. */
  async #write<T>(
    work: (connection: Connection) => T,
    signal: AbortSignal | undefined,
  ): Promise<T | Missing | Unknown> {
    return (await orUnknown(this.#file.write(work, { signal }))) ?? { kind: 'missing' }
  }
}

interface Page {
  readonly listed: readonly StreamRow[]
  readonly last: Cursor | undefined
}

type Missing = { readonly kind: 'missing' }
type Unknown = { readonly kind: 'unknown'; readonly cause: unknown }

async function orUnknown<T>(write: Promise<T>): Promise<T | Unknown> {
  try {
    return await write
  } catch (error) {
    if (error instanceof CommitFault) return { kind: 'unknown', cause: error.cause }
    throw error
  }
}

/** Inside a write transaction: adds a stream if its name is free. */
function createInTransaction(
  connection: Connection,
  { name, body, summary, nowMs }: { name: string; body: Uint8Array; summary: Summary; nowMs: number },
): CreateOutcome {
  if (connection.get(SELECT_STREAM, name) !== undefined) return { kind: 'exists' }
  const etag = randomUUID()
  const bodyId = connection.run(INSERT_BODY, body)
  connection.run(INSERT_STREAM, ...writtenValues(etag, body, summary, nowMs), name, bodyId, instant(summary.dueMs))
  return { kind: 'created', etag }
}

/** Inside a write transaction: removes a stream if no other holds it and it was not written since. */
function removeInTransaction(
  connection: Connection,
  { name, etag, leaseId, nowMs }: { name: string; etag?: string; leaseId?: string; nowMs: number },
): RemoveOutcome {
  const row = connection.get(SELECT_STREAM, name)
  if (row === undefined) return { kind: 'missing' }
  const stream = keptOf(row)
  const check = checkWrite(stream, leaseId, nowMs)
  if (check.kind === 'held') return { kind: 'held', lease: check.lease }
  if (check.kind === 'lost') return check
  if (etag !== undefined && etag !== stream.etag) return { kind: 'changed' }
  connection.run(DELETE_BODY, stream.bodyId)
  connection.run(DELETE_STREAM, name)
  return { kind: 'removed' }
}

/** Inside a write transaction: runs one lease operation. It changes neither body nor ETag nor the due index. */
function leaseInTransaction<T>(
  connection: Connection,
  name: string,
  step: (stream: LeasedStream) => LeaseStep<T>,
): T | { readonly kind: 'missing' } {
  const row = connection.get(SELECT_STREAM, name)
  if (row === undefined) return { kind: 'missing' }
  const { outcome, keep } = step(keptOf(row))
  if (keep) connection.run(UPDATE_LEASE, ...leaseValues(keep), name)
  return outcome
}
