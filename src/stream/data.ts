import { hash } from 'node:crypto'
import { InvalidValue } from './errors.ts'
import { checkMediaType } from './media-type.ts'
import { findForbidden } from './xml/text.ts'

/** The most bytes of one input or result. */
export const MAX_DATA_BYTES = 16 * 1024 * 1024

/** Longer data is kept beside the document: every heartbeat rewrites the document. */
export const MAX_INLINE_BYTES = 4 * 1024

/**
 * Data of an event, its input or its result: bytes with a media type. Up to 4 KiB stand in the document, as `text` or as
 * `base64`; longer data is kept beside the document, and found by its hash.
 */
export interface EventData {
  /** Media type, such as `application/json`. */
  readonly type: string
  /** Number of bytes. */
  readonly size: number
  /** SHA-256 of the bytes, 64 lower-case hex digits. */
  readonly sha256: string
  /** The content, if it stands in the document and XML can hold it. */
  readonly text?: string
  /** The content in Base64, if it stands in the document and XML cannot hold it. */
  readonly base64?: string
  /** The content of new data that is kept beside the document. It is written before the change that names it. */
  readonly bytes?: Uint8Array
}

/** The two kinds of data of an event. */
export const DATA_KINDS = ['input', 'result'] as const
/** Whether data is what an event works on, or what it produced. */
export type DataKind = (typeof DATA_KINDS)[number]

/**
 * Makes data of bytes.
 * @param type media type; without one it is guessed from the content
 * @throws InvalidValue for more than 16 MiB, and for an invalid media type
 */
export function dataOf(bytes: Uint8Array, type?: string): EventData {
  checkDataSize(bytes.length)
  const known = type === undefined ? mediaTypeOf(bytes) : checkMediaType(type)
  const common = { type: known, size: bytes.length, sha256: hash('sha256', bytes, 'hex') }
  const data = { ...common, ...contentOf(bytes) }
  SOUND.add(data)
  return data
}

/** Data that was made here, so that its content need not be hashed again. */
const SOUND = new WeakSet<EventData>()

/** @throws InvalidValue for more than 16 MiB */
export function checkDataSize(size: number): void {
  if (size <= MAX_DATA_BYTES) return
  throw new InvalidValue(`data has at most ${MAX_DATA_BYTES / 1024 / 1024} MiB (${MAX_DATA_BYTES} bytes)`, {
    hint: 'Store it elsewhere and give its address.',
  })
}

function contentOf(bytes: Uint8Array): Pick<EventData, 'text' | 'base64' | 'bytes'> {
  if (bytes.length > MAX_INLINE_BYTES) return { bytes }
  const text = storableText(bytes)
  return text === undefined ? { base64: Buffer.from(bytes).toString('base64') } : { text }
}

/**
 * The media type of bytes without one: `application/json` for a JSON object or list, `text/plain` for other UTF-8 text,
 * `application/octet-stream` for everything else.
 */
export function mediaTypeOf(bytes: Uint8Array): string {
  const text = storableText(bytes)
  if (text === undefined) return 'application/octet-stream'
  return isJson(text) ? 'application/json' : 'text/plain'
}

function isJson(text: string): boolean {
  if (!/^[ \t\r\n]*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The bytes as text; `undefined` if they are not UTF-8, or have characters that XML cannot hold. */
function storableText(bytes: Uint8Array): string | undefined {
  try {
    const text = UTF8.decode(bytes)
    return findForbidden(text) === -1 ? text : undefined
  } catch {
    return undefined
  }
}

/** The content that stands in the document; `undefined` for data beside it. */
export function inlineBytes({ text, base64 }: EventData): Uint8Array | undefined {
  if (text !== undefined) return Buffer.from(text)
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64')
}

/** Whether the content is kept beside the document. */
export function isBeside({ text, base64 }: EventData): boolean {
  return text === undefined && base64 === undefined
}

/** Why these bytes are not the data: a clause. `undefined` if they are. */
export function mismatchOf({ size, sha256 }: EventData, bytes: Uint8Array): string | undefined {
  if (bytes.length !== size) return `it has ${bytes.length} bytes, not ${size}`
  const found = hash('sha256', bytes, 'hex')
  return found === sha256 ? undefined : `its SHA-256 is ${found}, not ${sha256}`
}

const SHA256 = /^[0-9a-f]{64}$/

/** Whether the text is a hash of data. */
export function isDataHash(text: string): boolean {
  return SHA256.test(text)
}

/** The data as it stands in the document: without the bytes that are kept beside it. */
export function withoutBytes({ bytes: _, ...data }: EventData): EventData {
  return data
}

/**
 * Checks data that a caller gives.
 * @throws InvalidValue unless type, size and hash are valid, and those of the content
 */
export function checkData(data: EventData): void {
  if (SOUND.has(data)) return
  checkMediaType(data.type)
  checkDataSize(data.size)
  const content = data.bytes ?? inlineBytes(data)
  if (!Number.isSafeInteger(data.size) || data.size < 0 || !isDataHash(data.sha256)) {
    throw new InvalidValue('data needs its size and its SHA-256 in lower-case hex digits')
  }
  if (content === undefined) throw new InvalidValue('data needs its content')
  if (data.bytes === undefined && content.length > MAX_INLINE_BYTES) {
    throw new InvalidValue(`a document holds at most ${MAX_INLINE_BYTES} bytes of data; longer data needs its bytes`)
  }
  if (data.text !== undefined && findForbidden(data.text) !== -1) {
    throw new InvalidValue('data has a character that XML cannot hold; give it in Base64')
  }
  const wrong = mismatchOf(data, content)
  if (wrong !== undefined) throw new InvalidValue(`data does not match: ${wrong}`)
}
