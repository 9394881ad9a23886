import { INBOXES, readSystemDocument } from '../ops/read-system-document.ts'
import { shardOf } from '../ops/shards/quota.ts'
import { changeSystemDocument } from '../ops/system-documents.ts'
import { damaged, plainText, systemFields, systemText, wholeNumber } from '../ops/system-fields.ts'
import type { BlockLog } from '../store/block-log.ts'
import { checkFolderName } from '../store/names.ts'
import type { StreamStore } from '../store/store.ts'
import { InvalidValue } from '../stream/errors.ts'
import { MOST_PARTITIONS } from './record.ts'

const KIND = 'inbox'
export const DEFAULT_PARTITIONS = 8

/** An inbox: a durable log of records in partitions. */
export interface Inbox {
  readonly name: string
  /** Fixed at its creation: a record belongs to the partition of its key. */
  readonly partitions: number
  readonly createdMs: number
  /** Who created it. */
  readonly by: string
}

/** The outcome of creating an inbox. `exists`: with this many partitions. */
export type CreateInboxOutcome =
  | { readonly kind: 'created'; readonly inbox: Inbox }
  | { readonly kind: 'exists'; readonly inbox: Inbox }
  | { readonly kind: 'busy' | 'unknown' }

/**
 * Creates an inbox unless there is one of this name, which stays as it is.
 * @throws InvalidValue for a name or a number that cannot be; the store's faults
 */
export async function createInbox(
  store: StreamStore,
  name: string,
  partitions: number,
  { by, signal }: { readonly by: string; readonly signal?: AbortSignal },
): Promise<CreateInboxOutcome> {
  checkFolderName(name, 'an inbox')
  if (!(Number.isInteger(partitions) && partitions >= 1 && partitions <= MOST_PARTITIONS)) {
    throw new InvalidValue(`the number of partitions must be from 1 to ${MOST_PARTITIONS}, not ${partitions}`)
  }
  const created: Inbox = { name, partitions, createdMs: store.nowMs(), by }
  let found: Inbox | undefined
  // After a lost answer the document may be found as this call has written it.
  let wasWritten = false
  const change = (text: string | undefined): string | undefined => {
    found = text === undefined ? undefined : parseInbox(name, text)
    wasWritten ||= found === undefined
    return found === undefined ? inboxText(created) : undefined
  }
  const options = { by, purpose: `creating the inbox ${name}`, ...(signal && { signal }) }
  const outcome = await changeSystemDocument(store, documentOf(name), change, options)
  if (outcome === 'busy' || outcome === 'unknown') return { kind: outcome }
  const isSame = found?.createdMs === created.createdMs && found.by === by && found.partitions === partitions
  const isOurs = found === undefined || (wasWritten && isSame)
  return isOurs ? { kind: 'created', inbox: created } : { kind: 'exists', inbox: found ?? created }
}

/** The inbox of a name; `undefined` if there is none. @throws InvalidValue for a name that cannot be; the store's faults */
export async function readInbox(store: StreamStore, name: string, signal?: AbortSignal): Promise<Inbox | undefined> {
  checkFolderName(name, 'an inbox')
  const text = await readSystemDocument(store, documentOf(name), signal)
  return text === undefined ? undefined : parseInbox(name, text)
}

/** The log of a partition, from 0. */
export function partitionLog(store: StreamStore, { name }: Inbox, partition: number): BlockLog {
  return store.log(`${INBOXES}${name}/partitions/${String(partition).padStart(4, '0')}`)
}

/** The partition of a key. */
export function partitionOf(key: string, { partitions }: Inbox): number {
  return shardOf(key, partitions)
}

function documentOf(name: string): string {
  return `${INBOXES}${name}/inbox.json`
}

function inboxText({ name: _, ...fields }: Inbox): string {
  return systemText(KIND, fields)
}

function parseInbox(name: string, text: string): Inbox {
  const document = documentOf(name)
  const fields = systemFields(document, text, KIND)
  const partitions = wholeNumber(document, 'partitions', fields.partitions)
  if (partitions < 1 || partitions > MOST_PARTITIONS) throw damaged(document, 'partitions')
  const createdMs = wholeNumber(document, 'createdMs', fields.createdMs)
  return { name, partitions, createdMs, by: plainText(document, 'by', fields.by) }
}
