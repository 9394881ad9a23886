import { isUtf8 } from 'node:buffer'
import { InvalidValue } from '../../stream/errors.ts'
import { MAX_RECORD_BYTES, type NewRecord, type RecordFields, recordIn } from '../record.ts'

/** The form of a body: one record or an array of them, or a record a line. */
export type BodyForm = 'json' | 'ndjson'

/** A record of a body that is not one. */
export interface BadRecord {
  /** Its place among the records of the body, from 0. */
  readonly index: number
  /** Its line, from 1, in a body of lines. */
  readonly line?: number
  readonly message: string
}

/** What is in a body: all of its records, or why it is refused whole. */
export type BodyContent =
  | { readonly kind: 'records'; readonly records: readonly NewRecord[] }
  /** `bad` has the first of the records that are none; `badCount` their number. */
  | { readonly kind: 'bad'; readonly message: string; readonly bad: readonly BadRecord[]; readonly badCount: number }
  | { readonly kind: 'too-large'; readonly message: string }

/** Records of one request, at most. */
export const MOST_RECORDS = 10_000
/** Bad records that are listed. */
const MOST_LISTED = 100

const LINE_ENDS = /[\r\n]/g

/**
 * Reads the records of a body. Each keeps its text, with every digit as it was sent.
 * @param givenId the id of the only record, if the request names it beside the record
 */
export function recordsOf(body: Buffer, form: BodyForm, fields: RecordFields, givenId?: string): BodyContent {
  if (!isUtf8(body)) return refused('the body is not UTF-8')
  const text = body.toString('utf8').replace(/^\ufeff/, '')
  const found = form === 'ndjson' ? linesOf(text) : valuesOf(partOf(text, 0, text.length))
  if (found === undefined) return refused('the body is not JSON')
  const { parts, isOne } = found
  if (parts.length > MOST_RECORDS)
    return {
      kind: 'too-large',
      message: `the body has more than ${MOST_RECORDS} records: send them in several requests`,
    }
  if (parts.length === 0 && (form === 'ndjson' || isOne)) return refused('the body is empty')
  if (givenId !== undefined && parts.length !== 1)
    return refused('Idempotency-Key is the id of one record, and the body has several')
  if (isOne && Buffer.byteLength(parts[0]?.json ?? '') > MAX_RECORD_BYTES)
    return { kind: 'too-large', message: `the record is longer than ${MAX_RECORD_BYTES} bytes` }
  return allOrNone(parts, fields, givenId)
}

function allOrNone(parts: readonly Part[], fields: RecordFields, givenId: string | undefined): BodyContent {
  const records: NewRecord[] = []
  const bad: BadRecord[] = []
  for (const [index, { json, line }] of parts.entries()) {
    try {
      records.push(inOneLine(recordIn({ json }, fields, givenId)))
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error
      bad.push({ index, ...(line !== undefined && { line }), message: error.message })
    }
  }
  if (bad.length === 0) return { kind: 'records', records }
  const are = bad.length === 1 ? 'is not a record' : 'are not records'
  const message = `${bad.length} of ${parts.length} ${are}: none was put`
  return { kind: 'bad', message, bad: bad.slice(0, MOST_LISTED), badCount: bad.length }
}

function refused(message: string): BodyContent {
  return { kind: 'bad', message, bad: [], badCount: 0 }
}

/** The JSON of a record. */
interface Part {
  readonly json: string
  readonly line?: number
}

interface Parts {
  readonly parts: readonly Part[]
  /** The body is one record, not an array. */
  readonly isOne: boolean
}

/** One more than are allowed at most. */
function linesOf(text: string): Parts {
  const parts: Part[] = []
  for (let at = 0, line = 1; at < text.length && parts.length <= MOST_RECORDS; line++) {
    const found = text.indexOf('\n', at)
    const end = found < 0 ? text.length : found
    const json = partOf(text, at, end)
    if (json !== '') parts.push({ json, line })
    at = end + 1
  }
  return { parts, isOne: false }
}

/** A part of a text without the blanks of JSON around it: a regular expression would look at all of it for those at its end. */
function partOf(text: string, from: number, to: number): string {
  let [start, end] = [from, to]
  while (start < end && BLANKS.has(text.charCodeAt(start))) start += 1
  while (end > start && BLANKS.has(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

const BLANKS = new Set([0x20, 0x09, 0x0d, 0x0a])

/** The value, or the elements of an array; `undefined` if an array does not end. Whether each is JSON is checked with it. */
function valuesOf(text: string): Parts | undefined {
  if (text === '') return { parts: [], isOne: true }
  if (text[0] !== '[') return { parts: [{ json: text }], isOne: true }
  const elements = elementsOf(text)
  return elements && { parts: elements.map(json => ({ json })), isOne: false }
}

/** Line ends in JSON are blanks between its tokens: in a string they are not allowed. */
function inOneLine(record: NewRecord): NewRecord {
  const { json } = record
  return json.includes('\n') || json.includes('\r') ? { ...record, json: json.replace(LINE_ENDS, ' ') } : record
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])

/**
 * The texts of the elements of an array, one more than are allowed at most. If each is JSON, so is the array:
 * brackets that do not match are in an element that is not.
 */
function elementsOf(text: string): string[] | undefined {
  const elements: string[] = []
  let depth = 0
  let start = 1
  const end = (at: number) => {
    elements.push(partOf(text, start, at))
    start = at + 1
  }
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) at = endOfString(text, at)
    else if (OPENING.has(unit)) depth += 1
    else if (unit === COMMA && depth === 1) end(at)
    else if (CLOSING.has(unit)) {
      depth -= 1
      if (depth > 0) continue
      if (at !== text.length - 1 || text[at] !== ']') return undefined
      if (elements.length > 0 || partOf(text, start, at) !== '') end(at)
      return elements
    }
    if (elements.length > MOST_RECORDS) return elements
  }
  return undefined
}

/** Where the string that begins here ends. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    const found = text.indexOf('"', at)
    if (found < 0) return text.length
    let slashes = 0
    while (text.charCodeAt(found - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return found
    at = found
  }
}
