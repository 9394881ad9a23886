import type { StreamSnapshot, StreamStore } from '../store/store.ts'
import { type EventData, mismatchOf } from '../stream/data.ts'
import type { StreamDocument } from '../stream/document.ts'
import { BadDocument } from '../stream/errors.ts'
import { type CopyOptions, type CopyOutcome, copyInto, sameBytes } from './copy.ts'
import {
  type DataBeside,
  DataFault,
  dataBeside,
  readDataBytes,
  removeLifeData,
  type StreamLife,
  writeDataBytes,
} from './event-data.ts'
import { parseBody } from './transact/plan.ts'

/** Reads data of the source of a copy. @param born the incarnation of the stream, from its document. @throws DataFault */
export type ReadSourceData = (data: EventData, born: string) => Promise<Uint8Array>

/** `restored`: pieces of data that the stored stream names and had lost, if it was left as it is. */
export type CopyWithDataOutcome = CopyOutcome & { readonly restored?: number }

/**
 * Copies a document and the data that is kept beside it: the data first. The data of a stream that is replaced by another
 * incarnation is removed. Data that is missing or damaged in the target is restored, also if the stored stream is a later
 * state of the same incarnation, which stays.
 *
 * @param readData without it only the document is copied
 * @throws DataFault if the source lacks data that the target has not either: no document was written; errors of `copyInto`
 */
export async function copyWithData(
  store: StreamStore,
  name: string,
  body: Uint8Array,
  options: CopyOptions,
  readData: ReadSourceData | undefined,
): Promise<CopyWithDataOutcome> {
  const document = parseBody(body, name)
  const beside = readData === undefined ? [] : dataBeside(document)
  const isReplacing = typeof options.existing === 'object'
  if (readData === undefined || (beside.length === 0 && !isReplacing)) return copyInto(store, name, body, options)
  const before = await store.read(name)
  const life = { stream: name, born: document.born }
  const isWanted = before === undefined || isReplacing || sameBytes(before.body, body)
  if (isWanted) {
    for (const { data } of beside) await copyData(store, life, data, options.holder.by, readData)
  }
  const outcome = await copyInto(store, name, body, options)
  await removeEnded(store, life, bornOf(before), outcome)
  if (isWanted || (outcome.kind !== 'exists' && outcome.kind !== 'skipped')) return outcome
  const stored = before && readable(before)
  if (stored === undefined || document.born === '' || stored.born !== document.born) return outcome
  return { ...outcome, restored: await restoreData(store, life, stored, beside, options.holder.by, readData) }
}

/** Restores what a later state of the same incarnation still names and has lost. @returns the number of pieces */
async function restoreData(
  store: StreamStore,
  life: StreamLife,
  stored: StreamDocument,
  beside: readonly DataBeside[],
  by: string,
  readData: ReadSourceData,
): Promise<number> {
  const named = new Set(dataBeside(stored).map(({ data }) => data.sha256))
  let restored = 0
  for (const { data } of beside) {
    if (!named.has(data.sha256) || (await isIntact(readDataBytes(store, life, data)))) continue
    // The source may have lost it too.
    if (await isIntact(copyData(store, life, data, by, readData))) restored += 1
  }
  return restored
}

async function isIntact(found: Promise<unknown>): Promise<boolean> {
  try {
    await found
    return true
  } catch (error) {
    if (error instanceof DataFault) return false
    throw error
  }
}

/** Copies the data beside a document to another incarnation. @throws DataFault if the source lacks data that the target has not either */
export async function copyDataOf(
  document: StreamDocument,
  store: StreamStore,
  life: StreamLife,
  by: string,
  readData: ReadSourceData,
): Promise<void> {
  for (const { data } of dataBeside(document))
    await copyData(store, life, data, by, wanted => readData(wanted, document.born))
}

async function copyData(
  store: StreamStore,
  life: StreamLife,
  data: EventData,
  by: string,
  readData: ReadSourceData,
): Promise<void> {
  try {
    const bytes = await readData(data, life.born)
    const wrong = mismatchOf(data, bytes)
    if (wrong !== undefined)
      throw new DataFault(life.stream, 'data-damaged', `its data is damaged in the source: ${wrong}`)
    await writeDataBytes(store, life, data, bytes, { by })
  } catch (error) {
    if (!(error instanceof DataFault)) throw error
    await readDataBytes(store, life, data).catch(() => {
      throw error
    })
  }
}

/** Removes the data of the incarnation that was replaced, or of the one that was not written. */
async function removeEnded(
  store: StreamStore,
  life: StreamLife,
  bornBefore: string | undefined,
  { kind }: CopyOutcome,
): Promise<void> {
  if (kind === 'created' || kind === 'already' || kind === 'unknown' || bornBefore === life.born) return
  const ended = kind === 'replaced' ? bornBefore : life.born
  if (ended) await removeLifeData(store, { ...life, born: ended }).catch(() => 0)
}

function bornOf(before: StreamSnapshot | undefined): string | undefined {
  return before && readable(before)?.born
}

function readable({ body, name }: StreamSnapshot): StreamDocument | undefined {
  try {
    return parseBody(body, name)
  } catch (error) {
    if (error instanceof BadDocument) return undefined
    throw error
  }
}
