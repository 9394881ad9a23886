import { BadDocument } from '../errors.ts'
import { MAX_READ_BYTES } from '../limits.ts'
import { placeOf } from './errors.ts'

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be'

/** Valid encoding names of a declaration. `utf-16` in UTF-8 text is refused, as in .NET and libxml2. */
const NAMES: Readonly<Record<Encoding, readonly string[]>> = {
  'utf-8': ['utf-8', 'utf8'],
  'utf-16le': ['utf-16', 'utf-16le'],
  'utf-16be': ['utf-16', 'utf-16be'],
}

/**
 * Decodes a document: UTF-8 with or without byte order mark, UTF-16 with one. The mark is removed.
 * @throws BadDocument for more than 32 MiB, for bytes that are invalid in the encoding, and for a declaration that
 * names another encoding (`us-ascii` is valid for pure ASCII)
 */
export function decodeDocument(bytes: Uint8Array): string {
  checkLength(bytes)
  const encoding = encodingOf(bytes)
  const text = decode(bytes, encoding)
  checkDeclaration(text, encoding)
  return text
}

/**
 * Refuses larger documents. A store does not return them, not even as raw bytes.
 * @throws BadDocument for more than 32 MiB
 */
export function checkLength(bytes: Uint8Array): void {
  if (bytes.length <= MAX_READ_BYTES) return
  const message = `the document has more than ${MAX_READ_BYTES} bytes, the most that can be read`
  throw new BadDocument(message, undefined, 'Download it with a tool of the store, such as a storage browser.')
}

function encodingOf(bytes: Uint8Array): Encoding {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (bytes.length > 1 && (first === 0) !== (second === 0)) {
    throw new BadDocument('the document looks like UTF-16 but has no byte order mark', { line: 1, column: 1 })
  }
  return 'utf-8'
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array, encoding: Encoding): string {
  try {
    return encoding === 'utf-8' ? UTF8.decode(bytes) : new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    const good = longestDecodable(bytes, encoding)
    throw new BadDocument(`the bytes are not valid ${encoding.toUpperCase()}`, placeOf(good, good.length))
  }
}

/** The text before the first invalid byte, by bisection: decoders do not report its offset. */
function longestDecodable(bytes: Uint8Array, encoding: Encoding): string {
  let good = 0
  let bad = bytes.length + 1
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (decodeStart(bytes, middle, encoding) === undefined) bad = middle
    else good = middle
  }
  return decodeStart(bytes, good, encoding) ?? ''
}

function decodeStart(bytes: Uint8Array, end: number, encoding: Encoding): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes.subarray(0, end), { stream: true })
  } catch {
    return undefined
  }
}

const USUAL = '<?xml version="1.0" encoding="utf-8"?>'
const NAMED = /[\t\n\r ]encoding[\t\n\r ]*=[\t\n\r ]*["']([^"']*)["']/

function checkDeclaration(text: string, encoding: Encoding): void {
  if (text.startsWith(USUAL) && encoding === 'utf-8') return
  const end = /^<\?xml[\t\n\r ]/.test(text) ? text.indexOf('?>') : -1
  const name = NAMED.exec(text.slice(0, Math.max(end, 0)))?.[1]?.toLowerCase()
  if (name === undefined || NAMES[encoding].includes(name)) return
  const ascii = name === 'us-ascii' || name === 'ascii'
  if (ascii && encoding === 'utf-8' && !/[^\u0000-\u007f]/.test(text)) return
  throw new BadDocument(
    `the XML declaration names the encoding ${name.slice(0, 40)}, but the bytes are read as ${encoding.toUpperCase()}`,
    { line: 1, column: 1 },
    'Save the document as UTF-8.',
  )
}
