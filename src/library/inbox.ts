import { createInbox as create, DEFAULT_PARTITIONS, type Inbox, readInbox } from '../inbox/inbox.ts'
import { LONGEST_PREFER_MS, type NewRecord, recordOf } from '../inbox/record.ts'
import { openRegions } from '../inbox/regions/open.ts'
import { DEFAULT_PREFER_MS, type PutPlace, type RegionEvent } from '../inbox/regions/writer.ts'
import { InboxWriter, PutUnknown, type RecordWriter } from '../inbox/writer.ts'
import { ContainerMissing } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import { InvalidValue } from '../stream/errors.ts'
import {
  callback,
  isObject,
  milliseconds,
  objectOf,
  required,
  requiredText,
  signal,
  text,
  whole,
  wrong,
} from '../stream/values.ts'
import { defined } from '../util/defined.ts'
import { checkStore } from './checks.ts'
import { InboxNotFound } from './errors.ts'
import { readSignal, type SignalOption } from './signal.ts'

/** A record for an inbox. */
export interface RecordInput {
  /** Makes it once: another record with the same id has no second effect. At most 200 characters. */
  readonly id: string
  /** Its session: records of one key are drained in the order in which they were put. Default: the id. */
  readonly key?: string
  /** Its place within its key, from 1. */
  readonly seq?: number
  /** Anything that JSON can say, at most 256 KiB of it. */
  readonly data: unknown
}

/** Options of `createInbox`. */
export interface CreateInboxOptions extends SignalOption {
  /** Who creates it. */
  readonly by: string
  /** Number of partitions, 1 to 1024; fixed from then on. Default 8. */
  readonly partitions?: number
}

/** Options of `openInbox`. */
export interface OpenInboxOptions extends SignalOption {
  /** How long a record waits for others to share its block, ms. Default 5. */
  readonly lingerMs?: number
  /**
   * The store of a second region, with an inbox of the same name and number of partitions. Each record goes to both; durable in
   * one is success, and a region that is away delays nothing.
   */
  readonly also?: StreamStore
  /** With `also`: how long a drain of the second region leaves a record to the first, ms, at most an hour. Default 15 000. */
  readonly preferMs?: number
  /** With `also`: called when a region is away, and when it takes records again. Must not throw. */
  readonly onRegion?: (event: RegionEvent) => void
}

/** Where the records of a `put` were durable when it resolved. */
export interface PutReport {
  /** Number of records. */
  readonly put: number
  /** Of these, only in the first region: that of `also` was away. Without `also` 0. */
  readonly onlyFirst: number
  /** Of these, only in the region of `also`. */
  readonly onlySecond: number
}

const readCreate = objectOf<CreateInboxOptions>({ by: required(requiredText), partitions: whole(1, 1_024), signal })
const readOpen = objectOf<OpenInboxOptions>({
  lingerMs: milliseconds(0),
  also: given => {
    checkStore(given)
    return given
  },
  preferMs: milliseconds(0, LONGEST_PREFER_MS),
  onRegion: callback,
  signal,
})
const FIELDS = ['id', 'key', 'seq', 'data']

/** An inbox that records can be put into. */
export class OpenedInbox {
  readonly name: string
  /** Number of partitions. */
  readonly partitions: number
  readonly #writer: RecordWriter

  /** @internal */
  constructor({ name, partitions }: Inbox, writer: RecordWriter) {
    this.name = name
    this.partitions = partitions
    this.#writer = writer
  }

  /**
   * Puts a record, or several; resolves once all are durable, with where: of two regions one is enough. Calls need not wait for one another: their records share
   * blocks. If it rejects, some records may be there: put all of them again, under the same ids. Memory is bounded: while
   * 16 MiB wait, it waits too.
   *
   * @param options - with a signal, the wait ends and the call rejects with its reason
   * @throws InvalidValue if one of them is not a record: none was put; PutUnknown; the store's faults
   */
  async put(records: RecordInput | readonly RecordInput[], options: SignalOption = {}): Promise<PutReport> {
    const { signal: stop } = readSignal(options, 'options')
    const read = Array.isArray(records)
      ? records.map((record, at) => recordIn(record, `records[${at}]`))
      : [recordIn(records, 'record')]
    stop?.throwIfAborted()
    const all = this.#putAll(read, stop)
    if (stop === undefined) return all
    const aborted = Promise.withResolvers<never>()
    const onAbort = () => aborted.reject(stop.reason)
    stop.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([all, aborted.promise])
    } finally {
      stop.removeEventListener('abort', onAbort)
      // What is in flight ends by itself.
      all.catch(() => {})
    }
  }

  async #putAll(records: readonly NewRecord[], stop: AbortSignal | undefined): Promise<PutReport> {
    const puts: Promise<unknown>[] = []
    for (const record of records) {
      if (this.#writer.isFull) await this.#writer.room()
      if (stop?.aborted) break
      const put = this.#writer.put(record)
      put.catch(() => {})
      puts.push(put)
    }
    const places = await Promise.all(puts)
    const only = (place: PutPlace) => places.filter(one => one === place).length
    return { put: places.length, onlyFirst: only('first'), onlySecond: only('second') }
  }
}

/**
 * Creates an inbox, or opens the one of this name.
 * @throws InvalidValue, also if it is there with another number of partitions; PutUnknown without an answer: call it
 *   again; the store's faults
 */
export async function createInbox(store: StreamStore, name: string, options: CreateInboxOptions): Promise<OpenedInbox> {
  checkStore(store)
  const { by, partitions, signal: stop } = readCreate(options, 'options')
  const attempt = () =>
    create(store, text(name, 'name'), partitions ?? DEFAULT_PARTITIONS, { by, ...defined({ signal: stop }) })
  const outcome = await attempt().catch(async error => {
    // It creates the file of an embedded store, as a stream does.
    if (!(error instanceof ContainerMissing && store.address.startsWith('sqlite:'))) throw error
    await store.createContainer(stop)
    return attempt()
  })
  if (!('inbox' in outcome)) throw new PutUnknown(`whether the inbox ${name} was created is not known`)
  const { inbox } = outcome
  if (partitions !== undefined && inbox.partitions !== partitions)
    throw new InvalidValue(`the inbox ${name} has ${inbox.partitions} partitions, not ${partitions}`)
  return new OpenedInbox(inbox, new InboxWriter(store, inbox))
}

/**
 * Opens an inbox, to put records into it. There is nothing to close: a record is durable when its `put` resolves. With `also`
 * one of the two stores may be away, also while it is opened.
 * @throws InboxNotFound; InvalidValue, also for a second inbox with another number of partitions; the store's faults
 */
export async function openInbox(
  store: StreamStore,
  name: string,
  options: OpenInboxOptions = {},
): Promise<OpenedInbox> {
  checkStore(store)
  const { signal: stop, lingerMs, also, preferMs, onRegion } = readOpen(options, 'options')
  text(name, 'name')
  if (also !== undefined) return openBoth([store, also], name, defined({ lingerMs, preferMs, onRegion }))
  if (preferMs !== undefined || onRegion !== undefined)
    throw new InvalidValue(`options.${preferMs === undefined ? 'onRegion' : 'preferMs'} goes with also`)
  const inbox = await readInbox(store, name, stop)
  if (inbox === undefined) throw new InboxNotFound(name, store.address)
  return new OpenedInbox(inbox, new InboxWriter(store, inbox, defined({ lingerMs })))
}

async function openBoth(
  stores: readonly [StreamStore, StreamStore],
  name: string,
  {
    lingerMs,
    preferMs = DEFAULT_PREFER_MS,
    onRegion: observe,
  }: Pick<OpenInboxOptions, 'lingerMs' | 'preferMs' | 'onRegion'>,
): Promise<OpenedInbox> {
  const [first, second] = stores
  if (first === second || (first.address === second.address && first.address !== 'memory:'))
    throw new InvalidValue('options.also is the store itself: name the store of the second region')
  const opened = await openRegions(stores, name, { preferMs, ...defined({ lingerMs, observe }) })
  switch (opened.kind) {
    case 'opened':
      return new OpenedInbox(opened.inbox, opened.writer)
    case 'missing':
      throw opened.fault ?? new InboxNotFound(name, (opened.place === 'first' ? first : second).address)
    case 'different': {
      const [one, two] = opened.partitions
      throw new InvalidValue(`the inbox ${name} has ${one} partitions in the first store and ${two} in that of also`)
    }
    default:
      return opened satisfies never
  }
}

function recordIn(given: unknown, field: string): NewRecord {
  if (!isObject(given) || Array.isArray(given)) throw wrong(field, given, 'a record: {id, data}')
  const unknown = Object.keys(given).find(name => !FIELDS.includes(name))
  if (unknown !== undefined)
    throw new InvalidValue(`${field}.${unknown} is no field of a record`, {
      hint: `Its fields are ${FIELDS.join(', ')}.`,
    })
  const json = jsonOf(given.data)
  if (json === undefined) throw wrong(`${field}.data`, given.data, 'a value that JSON can say')
  return recordOf(given, json, field)
}

function jsonOf(data: unknown): string | undefined {
  try {
    return JSON.stringify(data)
  } catch {
    return undefined
  }
}
