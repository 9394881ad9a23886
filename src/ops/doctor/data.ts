import type { StreamRow, StreamStore } from '../../store/store.ts'
import { DATA_KINDS, type DataKind, type EventData, inlineBytes, mismatchOf } from '../../stream/data.ts'
import { StreamFault } from '../../stream/errors.ts'
import {
  DATA_PREFIX,
  type DataBeside,
  DataFault,
  type DataFaultCode,
  dataBeside,
  isWithoutData,
  listData,
  ORPHAN_AGE_MS,
  partsOfDataName,
  readDataBytes,
  streamDataPrefix,
} from '../event-data.ts'
import { readStream, type StreamView } from '../read-stream.ts'
import { type Finding, sizeText } from './finding.ts'

export interface DataExamination {
  /** Also read the data and compare its hash. */
  readonly deep: boolean
  readonly signal?: AbortSignal | undefined
}

/** The findings about the data of a stream. Without data beside the document nothing is read. */
export async function dataFindings(
  store: StreamStore,
  view: StreamView,
  { deep, signal }: DataExamination,
): Promise<Finding[]> {
  const found = [...inlineFindings(view)]
  const beside = dataBeside(view.document)
  if (beside.length === 0) return found
  const sizes = new Map<string, number>()
  for await (const { name, size } of listData(store, streamDataPrefix(view.name), signal)) {
    const parts = partsOfDataName(name)
    if (parts !== undefined) sizes.set(parts.sha256, size)
  }
  for (const one of beside) {
    const size = sizes.get(one.data.sha256)
    if (size === undefined) found.push(finding('data-missing', one, 'is missing in the store'))
    else if (size !== one.data.size) found.push(finding('data-damaged', one, `is damaged: it has ${size} bytes`))
    else if (deep) found.push(...(await contentFindings(store, view, one, signal)))
  }
  return found
}

function* inlineFindings({ document }: StreamView): Generator<Finding> {
  for (const event of document.events) {
    for (const kind of DATA_KINDS) yield* inlineFinding(event.id, kind, event[kind])
  }
  for (const { data } of document.signals) yield* inlineFinding('', 'input', data)
}

function* inlineFinding(event: string, kind: DataKind, data: EventData | undefined): Generator<Finding> {
  const bytes = data && inlineBytes(data)
  const wrong = data && bytes && mismatchOf(data, bytes)
  if (data && wrong) yield finding('data-damaged', { event, kind, data }, `is damaged: ${wrong}`)
}

async function contentFindings(
  store: StreamStore,
  { name, document }: StreamView,
  one: DataBeside,
  signal: AbortSignal | undefined,
): Promise<Finding[]> {
  try {
    await readDataBytes(store, { stream: name, born: document.born }, one.data, signal)
    return []
  } catch (error) {
    if (!(error instanceof DataFault)) throw error
    return [finding(error.code, one, 'is damaged: its SHA-256 is another')]
  }
}

function finding(code: DataFaultCode, { event, kind, data }: DataBeside, what: string): Finding {
  return {
    severity: 'error',
    code,
    subject: event,
    message: `${event === '' ? 'the data of a kept signal' : `its ${kind}`} (${data.type}, ${data.size} bytes) ${what}`,
    hint: 'Import the stream again from a copy that has its data.',
  }
}

/** Data that no event names: its stream or incarnation is gone, or the change that it was written for was not made. */
export interface OrphanedData {
  readonly count: number
  readonly bytes: number
  /** How many of them were removed. */
  readonly removed: number
}

/**
 * Finds data that no event names, an hour after its last write at the earliest: until then a change may be about to name
 * it. Reads the documents of the streams with data.
 *
 * @param options - `remove`: removes it, unless it was written again meanwhile
 * @throws the store's faults, the signal's reason
 */
export async function orphanedData(
  store: StreamStore,
  { remove, signal }: { readonly remove: boolean; readonly signal?: AbortSignal },
): Promise<OrphanedData> {
  const total = { count: 0, bytes: 0, removed: 0 }
  if (await isWithoutData(store)) return total
  const streams = await streamsByPrefix(store, signal)
  let current: { readonly prefix: string; readonly named: ReadonlySet<string> | undefined } | undefined
  for await (const row of listData(store, DATA_PREFIX, signal)) {
    const parts = partsOfDataName(row.name)
    if (parts === undefined || store.nowMs() - row.modifiedMs < ORPHAN_AGE_MS) continue
    if (current?.prefix !== parts.streamPrefix) {
      const named = await namedData(store, streams.get(parts.streamPrefix), signal)
      current = { prefix: parts.streamPrefix, named }
    }
    if (current.named === undefined || current.named.has(parts.sha256)) continue
    total.count += 1
    total.bytes += row.size
    if (remove && (await isRemoved(store, row))) total.removed += 1
  }
  return total
}

async function streamsByPrefix(store: StreamStore, signal: AbortSignal | undefined): Promise<Map<string, string>> {
  const streams = new Map<string, string>()
  for await (const page of store.list({ order: 'any', ...(signal === undefined ? {} : { signal }) })) {
    for (const { name } of page) streams.set(streamDataPrefix(name), name)
  }
  return streams
}

/** The hashes of the data that a stream names; none for a stream that is gone, `undefined` if it cannot be read. */
async function namedData(
  store: StreamStore,
  stream: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string> | undefined> {
  if (stream === undefined) return new Set()
  try {
    const view = await readStream(store, stream, signal)
    return new Set(view === undefined ? [] : dataBeside(view.document).map(({ data }) => data.sha256))
  } catch (error) {
    if (error instanceof StreamFault) return undefined
    throw error
  }
}

async function isRemoved(store: StreamStore, { name, etag }: StreamRow): Promise<boolean> {
  return (await store.remove(name, { etag })).kind === 'removed'
}

/** The finding about orphaned data; `undefined` if there is none. */
export function orphanFinding({ count, bytes, removed }: OrphanedData, isRepair: boolean): Finding | undefined {
  if (count === 0) return undefined
  const what = `${count} ${count === 1 ? 'piece' : 'pieces'} of data (${sizeText(bytes)}) that no event names`
  const common = { code: 'orphaned-data', subject: '' } as const
  if (isRepair && removed === count) return { ...common, severity: 'info', message: `removed ${what}` }
  if (isRepair) return { ...common, severity: 'warning', message: `removed ${removed} of ${what}; repeat the command` }
  return { ...common, severity: 'warning', message: what, hint: 'doctor --repair removes it.' }
}
