import { InvalidValue } from '../stream/errors.ts'
import { isoTime } from '../stream/time/dates.ts'
import { isObject, wrong } from '../stream/values.ts'

/** A record to put. */
export interface NewRecord {
  /** Makes it once: another record with the same id has no second effect. */
  readonly id: string
  /** Its session: records of one key are drained in the order in which they were put. Default: the id. */
  readonly key?: string | undefined
  /** The data as JSON text, in one line. */
  readonly json: string
  /** Its size in UTF-8, bytes, where it is known. */
  readonly bytes?: number | undefined
  /** The data in UTF-8, where they are at hand. */
  readonly utf8?: Uint8Array | undefined
  /** Its place within its key, from 1. */
  readonly seq?: number | undefined
}

/** A record as kept. */
export interface InboxRecord {
  readonly id: string
  readonly key: string
  /** When it was put, ISO time. */
  readonly at: string
  readonly data: unknown
  readonly seq?: number
  /** Not to be drained before this time (ISO): a copy in the second region. */
  readonly notBefore?: string
}

/** The most partitions of an inbox. */
export const MOST_PARTITIONS = 1_024
/** How long a copy in a second region leaves the record to the first, at most, ms. */
export const LONGEST_PREFER_MS = 3_600_000
/** Maximum size of the data of a record, bytes of JSON. */
export const MAX_RECORD_BYTES = 256 * 1024
/** Maximum length of an id or key, characters. */
const MAX_ID_LENGTH = 200
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** Where the id, key and number of a record are in its data: JSON pointers. */
export interface RecordFields {
  readonly id: Pointer
  readonly key?: Pointer | undefined
  readonly seq?: Pointer | undefined
}

/** The steps of a JSON pointer. */
export type Pointer = readonly string[]

/** Parses a JSON pointer (https://www.rfc-editor.org/rfc/rfc6901): `/order/id`. @throws InvalidValue */
export function parsePointer(text: string): Pointer {
  if (!/^(\/([^~]|~[01])*)+$/.test(text))
    throw new InvalidValue(`${JSON.stringify(text)} is not a JSON pointer: write /orderId`)
  return text
    .slice(1)
    .split('/')
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The value at a pointer; `undefined` if there is none. */
export function valueAt(data: unknown, pointer: Pointer): unknown {
  let value = data
  for (const step of pointer) {
    if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(step) ? value[Number(step)] : undefined
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
  }
  return value
}

/**
 * The record in one line of JSON. Whole numbers are taken as ids and keys too.
 * @param givenId the id, if it is known otherwise
 * @throws InvalidValue with what is wrong, naming the field
 */
export function recordIn(
  { json, utf8 }: Pick<NewRecord, 'json' | 'utf8'>,
  fields: RecordFields,
  givenId?: string,
): NewRecord {
  const bytes = utf8?.length ?? Buffer.byteLength(json)
  if (bytes > MAX_RECORD_BYTES)
    throw new InvalidValue(`the record has ${bytes} bytes; the limit is ${MAX_RECORD_BYTES}`)
  const data = parsed(json)
  const found = (pointer: Pointer) => asWritten(valueAt(data, pointer), json, pointer)
  const key = fields.key && found(fields.key)
  const seq = fields.seq && valueAt(data, fields.seq)
  return {
    id: recordId(found(fields.id), fields.id, givenId),
    key: fields.key && key !== undefined ? idText(key, fields.key) : undefined,
    json,
    bytes,
    utf8,
    seq: fields.seq && seq !== undefined ? seqNumber(seq, fields.seq) : undefined,
  }
}

/** A field in errors: its name, or where it is. */
type Field = string | Pointer

function fieldText(field: Field): string {
  return typeof field === 'string' ? field : `/${field.join('/')}`
}

/** The value of an id or key. Ids that differ stay different: `1.00000000000000001` is read as 1. @throws InvalidValue */
function asWritten(value: unknown, json: string, pointer: Pointer): unknown {
  if (!Number.isSafeInteger(value) || valueAt(withSources(json), pointer) === String(value)) return value
  throw new InvalidValue(`${fieldText(pointer)} is not written as a whole number: put it as a text`)
}

/** The JSON with the texts of its numbers in place of their values. */
function withSources(json: string): unknown {
  const source = (_: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? context?.source : value
  return JSON.parse(json, source)
}

/**
 * A record of a program.
 * @param field its name in errors
 * @throws InvalidValue with what is wrong, naming the field
 */
export function recordOf(
  { id, key, seq }: { readonly id?: unknown; readonly key?: unknown; readonly seq?: unknown },
  json: string,
  field: string,
): NewRecord {
  const bytes = Buffer.byteLength(json)
  if (bytes > MAX_RECORD_BYTES)
    throw new InvalidValue(`${field}.data has ${bytes} bytes of JSON; the limit is ${MAX_RECORD_BYTES}`)
  return {
    id: idText(id, `${field}.id`),
    ...(key !== undefined && { key: idText(key, `${field}.key`) }),
    ...(seq !== undefined && { seq: seqNumber(seq, `${field}.seq`) }),
    json,
    bytes,
  }
}

/** The line that keeps a record, with its line feed. */
export function recordLine(record: NewRecord, atMs: number, notBeforeMs?: number): string {
  return recordHead(record, atMs, notBeforeMs) + record.json + RECORD_END
}

/** What is behind the data in the line of a record. */
export const RECORD_END = '}\n'

/** What is before the data in the line of a record. */
export function recordHead({ id, key = id, seq }: NewRecord, atMs: number, notBeforeMs?: number): string {
  const keyField = key === id ? '' : `,"key":${JSON.stringify(key)}`
  const seqField = seq === undefined ? '' : `,"seq":${seq}`
  const notBefore = notBeforeMs === undefined ? '' : `,"notBefore":"${isoTime(notBeforeMs)}"`
  return `{"id":${JSON.stringify(id)}${keyField}${seqField}${notBefore},"at":"${isoTime(atMs)}","data":`
}

/** A record from its line. @throws InvalidValue if it is not one, as when another program wrote into the log */
export function parseRecord(line: string): InboxRecord {
  const fields = parsed(line)
  if (!isObject(fields) || !Object.hasOwn(fields, 'data')) throw new InvalidValue('the line is not a record')
  const { id, key = id, at, data, seq, notBefore } = fields
  if (typeof at !== 'string') throw wrong('at', at, 'an ISO time')
  return {
    id: idText(id, 'id'),
    key: idText(key, 'key'),
    at,
    data,
    ...(seq !== undefined && { seq: seqNumber(seq, 'seq') }),
    ...(typeof notBefore === 'string' && { notBefore }),
  }
}

/** A record with its data as it was put: numbers keep all their digits. */
export interface ReadRecord {
  readonly record: InboxRecord
  readonly json: string
}

const DATA = ',"data":'

/** @throws InvalidValue if the line is not a record */
export function readRecord(line: string): ReadRecord {
  const at = line.indexOf(DATA)
  const json = line.slice(at + DATA.length, -1)
  const data = at >= 0 && line.endsWith('}') ? jsonOf(json) : undefined
  const head = data === undefined ? undefined : `${line.slice(0, at)}${DATA}null}`
  // The text before the data is whole JSON, and so is the data: the line is as the writer made it.
  if (head !== undefined && jsonOf(head) !== undefined) return { record: { ...parseRecord(head), data }, json }
  const record = parseRecord(line)
  return { record, json: JSON.stringify(record.data) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new InvalidValue('the record is not JSON')
  }
}

/** Ids that differ stay different: numbers that lose digits, and halves of characters, are refused. */
function idText(value: unknown, field: Field): string {
  const text = Number.isSafeInteger(value) ? String(value) : value
  if (text === undefined) throw new InvalidValue(`${fieldText(field)} is missing`)
  if (typeof text !== 'string' || text === '')
    throw wrong(fieldText(field), value, `a text that is not empty, or a whole number up to ${Number.MAX_SAFE_INTEGER}`)
  if (text.length > MAX_ID_LENGTH)
    throw new InvalidValue(`${fieldText(field)} has ${text.length} characters; the limit is ${MAX_ID_LENGTH}`)
  if (CONTROL.test(text)) throw new InvalidValue(`${fieldText(field)} has a control character`)
  if (!text.isWellFormed()) throw new InvalidValue(`${fieldText(field)} has half a surrogate pair`)
  return text
}

function recordId(found: unknown, field: Field, given: string | undefined): string {
  if (given === undefined) return idText(found, field)
  const id = idText(given, 'the id given beside the record')
  if (found === undefined || idText(found, field) === id) return id
  throw new InvalidValue(`${fieldText(field)} is not the id given beside the record`)
}

function seqNumber(value: unknown, field: Field): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value
  throw wrong(fieldText(field), value, 'a whole number from 1')
}
