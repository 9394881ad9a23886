import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { setImmediate as otherWork } from 'node:timers/promises'
import { isHeld } from '../../stream/lease.ts'
import type { Summary } from '../../stream/summary.ts'
import type { InspectOptions, SqliteFacts } from '../facts.ts'
import {
  acquireStep,
  breakStep,
  changeStep,
  checkWrite,
  type LeasedStream,
  type LeaseStep,
  releaseStep,
  renewStep,
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
  LeaseOutcome,
  ListQuery,
  RemoveOutcome,
  StreamRow,
  StreamSnapshot,
  StreamStore,
} from '../store.ts'
import { changeOnceFree } from './change.ts'
import { CommitFault, type Connection } from './connection.ts'
import { SqliteFile, type SqliteFileOptions } from './file.ts'
import { inspectSqlite } from './inspect.ts'
import { type Cursor, listSkipping, PAGE_ROWS, pageQuery } from './list.ts'
import { dueOf, instant, keptOf, leaseValues, listedOf, storedOf, writtenValues } from './rows.ts'
import {
  DELETE_BODY,
  DELETE_STREAM,
  INSERT_BODY,
  INSERT_STREAM,
  SELECT_STREAM,
  SELECT_WITH_BODY,
  UPDATE_LEASE,
} from './schema.ts'

export interface SqliteStoreOptions extends Partial<SqliteFileOptions> {
  /** Epoch ms. Default `Date.now`. */
  readonly clock?: () => number
}

/**
 * A store in one SQLite file, for the programs of one machine. Nothing is opened before the first use and nothing is
 * created before the first write.
 */
export function openSqliteStore(path: string, options: SqliteStoreOptions = {}): StreamStore {
  return new SqliteStore(path, options)
}

class SqliteStore implements StreamStore {
  readonly address: string
  readonly nowMs: () => number
  readonly #file: SqliteFile
  readonly #random: () => number

  constructor(path: string, { clock = Date.now, random = Math.random, ...options }: SqliteStoreOptions) {
    // Whatever folder a later process works in: run files name the store by it.
    this.address = `sqlite:${resolve(path)}`
    this.nowMs = clock
    this.#random = random
    this.#file = new SqliteFile(path, { random, ...options })
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

  /** `last`: where the next page begins; `undefined` after the last one. */
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
    return this.#file.mark({ signal })
  }

  async read(name: string, signal?: AbortSignal): Promise<StreamSnapshot | undefined> {
    checkReadableName(name)
    return this.#file.read(
      connection => {
        const row = connection.get(SELECT_WITH_BODY, name)
        return row && storedOf(row, this.nowMs())
      },
      { signal },
    )
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
    return changeOnceFree(context, name, decide, options)
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

  inspect(options: InspectOptions = {}): Promise<SqliteFacts> {
    return inspectSqlite(this.#file, this.address, options)
  }

  async close(): Promise<void> {
    this.#file.close()
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

  /** Where there is no store yet there is no stream. */
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

/** Inside a write transaction: adds a stream unless something has its name. */
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

/** Inside a write transaction: removes a stream that is neither held by another nor written since. */
function removeInTransaction(
  connection: Connection,
  { name, etag, leaseId, nowMs }: { name: string; etag?: string; leaseId?: string; nowMs: number },
): RemoveOutcome {
  const row = connection.get(SELECT_STREAM, name)
  if (row === undefined) return { kind: 'missing' }
  const stream = keptOf(row)
  const gate = checkWrite(stream, leaseId, nowMs)
  if (gate.kind === 'held') return { kind: 'held', lease: gate.lease }
  if (gate.kind === 'lost') return gate
  if (etag !== undefined && etag !== stream.etag) return { kind: 'changed' }
  connection.run(DELETE_BODY, stream.bodyId)
  connection.run(DELETE_STREAM, name)
  return { kind: 'removed' }
}

/** Runs one lease operation inside a write transaction. It touches neither body nor etag nor the due index. */
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
