import { hash } from 'node:crypto'
import { unansweredDelay } from '../store/backoff.ts'
import { StoreUnreachable } from '../store/errors.ts'
import { RESERVED_PREFIX } from '../store/names.ts'
import type { StreamRow, StreamStore } from '../store/store.ts'
import {
  checkDataSize,
  type DataKind,
  type EventData,
  inlineBytes,
  isBeside,
  isDataHash,
  mismatchOf,
} from '../stream/data.ts'
import type { StreamDocument } from '../stream/document.ts'
import { StreamFault } from '../stream/errors.ts'
import { readAhead, sleep } from '../util/concurrency.ts'
import { systemSummary } from './system-documents.ts'

/**
 * Data beside documents: one blob or row per content, named `.leasectl/data/STREAM/LIFE/SHA256`. STREAM is a hash of the
 * stream's name and LIFE its incarnation, so the data of a stream is found by a prefix, and a new stream of the same name
 * shares nothing with the old one. It is written before the change that names it, and never changes.
 */
export const DATA_PREFIX = `${RESERVED_PREFIX}data/`

/** An incarnation of a stream: its data stands below its own prefix. */
export interface StreamLife {
  /** Name of the stream. */
  readonly stream: string
  /** `lc:born`. */
  readonly born: string
}

/** Prefix of the data of all incarnations of a stream. */
export function streamDataPrefix(stream: string): string {
  return `${DATA_PREFIX}${hash('sha256', stream, 'hex').slice(0, 32)}/`
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Prefix of the data of one incarnation. A foreign writer may leave any text as `lc:born`. */
export function lifeDataPrefix({ stream, born }: StreamLife): string {
  const life = UUID.test(born) ? born.toLowerCase() : `x${hash('sha256', born, 'hex').slice(0, 35)}`
  return `${streamDataPrefix(stream)}${life}/`
}

/** The name of data in the store. */
export function dataName(life: StreamLife, { sha256 }: Pick<EventData, 'sha256'>): string {
  return `${lifeDataPrefix(life)}${sha256}`
}

/** Data of an event, or of a kept signal, that is kept beside its document. */
export interface DataBeside {
  /** `''` for the data of a kept signal: it is the input of an event to come. */
  readonly event: string
  readonly kind: DataKind
  readonly data: EventData
}

/** The data that a document keeps beside it: that of its events in their order, then that of kept signals. */
export function dataBeside({ events, signals }: Pick<StreamDocument, 'events' | 'signals'>): DataBeside[] {
  const found: DataBeside[] = []
  for (const { id, input, result } of events) {
    if (input !== undefined && isBeside(input)) found.push({ event: id, kind: 'input', data: input })
    if (result !== undefined && isBeside(result)) found.push({ event: id, kind: 'result', data: result })
  }
  for (const { data } of signals) {
    if (data !== undefined && isBeside(data)) found.push({ event: '', kind: 'input', data })
  }
  return found
}

/** What is wrong with data beside a document. */
export type DataFaultCode = 'data-missing' | 'data-damaged'

/** Data that the document names is missing, or other bytes are in its place. The rest of the stream is intact. */
export class DataFault extends StreamFault {
  readonly code: DataFaultCode
  readonly stream: string

  constructor(stream: string, code: DataFaultCode, what: string) {
    super(`${stream}: ${what}`, { hint: 'Import the stream again from a copy that has its data.' })
    this.code = code
    this.stream = stream
  }
}

/**
 * The bytes of data of an event, checked against its size and hash. A foreign writer may have dropped `lc:born`: then the
 * other incarnations of the name are searched for the hash.
 *
 * @throws DataFault if they are missing or damaged; the store's faults
 */
export async function readDataBytes(
  store: StreamStore,
  life: StreamLife,
  data: EventData,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const bytes = inlineBytes(data) ?? (await bytesBeside(store, life, data, signal))
  const what = `data ${data.sha256.slice(0, 12)}…`
  if (bytes === undefined) throw new DataFault(life.stream, 'data-missing', `its ${what} is missing in the store`)
  const wrong = mismatchOf(data, bytes)
  if (wrong !== undefined) throw new DataFault(life.stream, 'data-damaged', `its ${what} is damaged: ${wrong}`)
  return bytes
}

async function bytesBeside(
  store: StreamStore,
  life: StreamLife,
  data: EventData,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const stored = await store.read(dataName(life, data), signal)
  if (stored !== undefined) return stored.body
  for await (const { name } of listData(store, streamDataPrefix(life.stream), signal)) {
    if (name.endsWith(`/${data.sha256}`)) return (await store.read(name, signal))?.body
  }
  return undefined
}

/** Lists data below a prefix. */
export async function* listData(store: StreamStore, prefix: string, signal?: AbortSignal): AsyncGenerator<StreamRow> {
  const query = { reserved: true, prefix, ...(signal === undefined ? {} : { signal }) }
  for await (const page of store.list(query)) yield* page
}

export interface WriteDataOptions {
  /** Actor, `user@host`. */
  readonly by: string
  readonly signal?: AbortSignal | undefined
}

/** Number of attempts to write one piece of data whose writes are not answered. */
const ATTEMPTS = 5

/** Data of this age, ms, that no event names may be removed: a change writes its data shortly before it names it. */
export const ORPHAN_AGE_MS = 3_600_000

/**
 * Writes data beside the document of a stream. Writing it again changes nothing, but damaged bytes are replaced, and bytes
 * so old that `doctor --repair` could remove them become new.
 *
 * @throws InvalidValue for more than 16 MiB; StoreUnreachable if no write was answered; the store's faults
 */
export async function writeDataBytes(
  store: StreamStore,
  life: StreamLife,
  data: EventData,
  bytes: Uint8Array,
  { by, signal }: WriteDataOptions,
): Promise<void> {
  checkDataSize(bytes.length)
  const name = dataName(life, data)
  WITHOUT_DATA.delete(store)
  let cause: unknown
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await sleep(unansweredDelay(attempt - 1, undefined, Math.random), signal)
    const outcome = await store.create(name, bytes, systemSummary(store, by), signal)
    if (outcome.kind === 'created') return
    if (outcome.kind === 'unknown') cause = outcome.cause
    const confirmed = isConfirmed(store, name, data, bytes, { by, signal })
    if (await (cause === undefined ? confirmed : confirmed.catch(ifUnanswered))) return
  }
  throw new StoreUnreachable(`the data of ${life.stream} could not be written: the store does not answer`, { cause })
}

/** While the store does not answer, the next attempt shows whether the bytes are in place. */
function ifUnanswered(error: unknown): false {
  if (error instanceof StoreUnreachable) return false
  throw error
}

/** Whether the bytes are in place, and young enough to stay until a change names them. */
async function isConfirmed(
  store: StreamStore,
  name: string,
  data: EventData,
  bytes: Uint8Array,
  { by, signal }: WriteDataOptions,
): Promise<boolean> {
  const stored = await store.read(name, signal)
  if (stored === undefined) return false
  const isYoung = store.nowMs() - stored.modifiedMs < ORPHAN_AGE_MS / 2
  if (isYoung && mismatchOf(data, stored.body) === undefined) return true
  const holder = { by, host: '', pid: process.pid, purpose: 'write data', sinceMs: store.nowMs() }
  const put = { kind: 'put', body: bytes, summary: systemSummary(store, by) } as const
  const outcome = await store.update(name, () => put, {
    waitMs: 2_000,
    holder,
    ...(signal === undefined ? {} : { signal }),
  })
  return outcome.kind === 'committed'
}

/** When stores without any data were last searched, monotonic ms. */
const WITHOUT_DATA = new WeakMap<StreamStore, number>()
/** How long streams are then removed without a search of their own, ms. */
const WITHOUT_DATA_MS = 5_000

/**
 * Removes the data of an incarnation that has ended. Data that cannot be removed now is left for `doctor --repair`.
 * @returns the number of removed pieces
 */
export async function removeLifeData(store: StreamStore, life: StreamLife): Promise<number> {
  const searchedAt = WITHOUT_DATA.get(store)
  if (searchedAt !== undefined && performance.now() - searchedAt < WITHOUT_DATA_MS) return 0
  const rows = listData(store, lifeDataPrefix(life))
  let removed = 0
  let any = false
  for await (const { kind } of readAhead(rows, REMOVALS_AT_ONCE, ({ name }) => store.remove(name, {}))) {
    any = true
    if (kind === 'removed') removed++
  }
  if (!any && (await isWithoutData(store))) WITHOUT_DATA.set(store, performance.now())
  return removed
}

const REMOVALS_AT_ONCE = 8

/** Whether no stream of the store has data beside it. */
export async function isWithoutData(store: StreamStore): Promise<boolean> {
  for await (const page of store.list({ reserved: true, prefix: DATA_PREFIX, limit: 1 })) {
    if (page.length > 0) return false
  }
  return true
}

/** The content of an input or a result. */
export class DataContent {
  /** Media type. */
  readonly type: string
  readonly bytes: Uint8Array

  constructor(type: string, bytes: Uint8Array) {
    this.type = type
    this.bytes = bytes
  }

  /** The content as UTF-8. @throws TypeError if it is not UTF-8 */
  text(): string {
    return new TextDecoder('utf-8', { fatal: true }).decode(this.bytes)
  }

  /** The content as JSON. @throws SyntaxError, TypeError if it is not JSON */
  json(): unknown {
    return JSON.parse(this.text())
  }
}

/** Data of an event with its content. @throws DataFault if it is missing or damaged; the store's faults */
export async function readContent(
  store: StreamStore,
  life: StreamLife,
  data: EventData,
  signal?: AbortSignal,
): Promise<DataContent> {
  return new DataContent(data.type, await readDataBytes(store, life, data, signal))
}

/** The parts of the name of data: the prefix of its stream, and its hash; `undefined` for any other name. */
export function partsOfDataName(name: string): { readonly streamPrefix: string; readonly sha256: string } | undefined {
  const [, streamPrefix, sha256] = /^(\.leasectl\/data\/[0-9a-f]{32}\/)[^/]+\/([^/]+)$/.exec(name) ?? []
  if (streamPrefix === undefined || sha256 === undefined || !isDataHash(sha256)) return undefined
  return { streamPrefix, sha256 }
}
