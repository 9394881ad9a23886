import type { StreamRow, StreamSnapshot, StreamStore } from '../store/store.ts'
import type { StreamDocument } from '../stream/document.ts'
import { StreamFault } from '../stream/errors.ts'
import { sumOf } from '../stream/fingerprint.ts'
import type { Precondition } from '../stream/operations/apply.ts'
import { settledDocument } from '../stream/operations/transaction.ts'
import { summarize } from '../stream/summarize.ts'
import type { Summary } from '../stream/summary.ts'
import { viewOf } from './read-stream.ts'

/** Why a stream cannot be read. */
export interface Unreadable {
  readonly code: string
  readonly message: string
  /** How to fix it. */
  readonly hint?: string
}

/** A stream of a listing with its summary, which is made from the document if the listing has no valid one. */
export interface SummarizedStream {
  readonly listed: StreamRow
  /** Absent for a document without events and for an unreadable one. */
  readonly summary: Summary | undefined
  /** Why it is unreadable; absent for a readable one. */
  readonly fault: Unreadable | undefined
  /** The state that was read: a change with this precondition is refused (`changed`) if the stream has changed since. */
  readonly pin: Precondition
  /** Foreign writers left events to close or joins to release. Known only if the document was read. */
  readonly isUnsettled?: true
}

/**
 * The summary of one stream from its document: after a foreign write the stored summary is missing or stale.
 * `undefined` if there is no such stream. An unreadable stream is a result, not an error.
 *
 * @param row a row of a listing, or only the name
 */
export async function summaryOf(
  store: StreamStore,
  row: Pick<StreamRow, 'name'> | StreamRow,
  signal?: AbortSignal,
): Promise<SummarizedStream | undefined> {
  let stored: StreamSnapshot | undefined
  try {
    stored = await store.read(row.name, signal)
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error
    const listed = 'etag' in row ? row : await rowOf(store, row.name, signal)
    return listed && unreadable(listed, error)
  }
  return stored && summarizeStored(stored, store.nowMs())
}

/** The summary of a stored body. */
export function summarizeStored(stored: StreamSnapshot, nowMs: number): SummarizedStream {
  try {
    const { document } = viewOf(stored, nowMs)
    const options = { lastModifiedMs: stored.modifiedMs, nowMs, lastBy: stored.summary?.lastBy ?? '', whole: true }
    const summary = document.events.length === 0 ? undefined : summarize(document, options)
    const pin = { ifVersion: document.version, ifBorn: document.born, ifSum: sumOf(document.events) }
    const unsettled = isUnsettled(document, stored, nowMs) ? ({ isUnsettled: true } as const) : {}
    return { listed: withoutBody(stored), summary, fault: undefined, pin, ...unsettled }
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error
    return unreadable(withoutBody(stored), error)
  }
}

/** Our transactions leave a settled document, so only foreign writes are checked. */
function isUnsettled(document: StreamDocument, stored: StreamSnapshot, nowMs: number): boolean {
  if (stored.summary !== undefined) return false
  const { versionFloor, modifiedMs: lastModifiedMs } = stored
  return settledDocument(document, { nowMs, versionFloor, lastModifiedMs, born: document.born }).moves
}

function unreadable(listed: StreamRow, error: StreamFault): SummarizedStream {
  return { listed, summary: undefined, fault: unreadableOf(error), pin: {} }
}

/** The code, message and hint of a fault of one stream. */
export function unreadableOf({ code, message, hint }: StreamFault): Unreadable {
  return { code, message, ...(hint === undefined ? {} : { hint }) }
}

/** The row without the body, so that the body is not kept in memory with the row. */
function withoutBody({ name, etag, size, modifiedMs, lease, summary }: StreamSnapshot): StreamRow {
  return { name, etag, size, modifiedMs, lease, ...(summary === undefined ? {} : { summary }) }
}

/** The row of one stream, if it exists. The first name with that prefix is the name itself. */
export async function rowOf(
  store: StreamStore,
  name: string,
  signal: AbortSignal | undefined,
): Promise<StreamRow | undefined> {
  for await (const [row] of store.list({ prefix: name, limit: 1, ...(signal && { signal }) })) {
    return row?.name === name ? row : undefined
  }
  return undefined
}
