/**
 * Maps stream names to paths below a folder, and back. A segment of the name becomes a segment of the path. Characters
 * that common file systems reject or that mislead a reader are percent-encoded. So a path never leaves its folder and
 * decodes to exactly the name it was made from.
 */

/** File extensions of an export. Folders never end in one of them: their last dot is encoded. */
export const EXTENSIONS = ['.xml', '.json', '.mmd'] as const
export type Extension = (typeof EXTENSIONS)[number]

/**
 * Bytes of one path segment before its first and last characters are encoded, which may add a few. File systems allow
 * up to 255, some fewer.
 */
const MAX_SEGMENT_BYTES = 200

/** An empty segment of a name. */
const EMPTY = '%_'
/** Suffix of a folder that holds only part of a segment; the rest follows below it. */
const CONTINUED = '%-'

/** The path of a stream below the export folder, with `/` between segments. Names are well-formed Unicode. */
export function filePathOf(name: string, extension: Extension): string {
  const segments = name.split('/').flatMap(pathSegments)
  const file = segments.pop() ?? EMPTY
  return [...segments.map(withoutExtension), file + extension].join('/')
}

/** The path of data that is kept beside the document of a stream: in a folder beside its file. */
export function dataPathOf(path: string, sha256: string): string {
  return `${path.replace(/\.xml$/i, '')}.data/${sha256}`
}

/** Whether an export may have written the path for data. */
export function isDataPath(path: string): boolean {
  return /\.data\/[0-9a-f]{64}$/.test(path)
}

/**
 * Decodes a path to a stream name. Escapes are decoded anywhere, so paths written by people work too. `undefined` for a
 * path without the extension, with a dot segment or an empty one, or with an invalid escape.
 */
export function nameOfPath(path: string, extension: Extension): string | undefined {
  if (!path.toLowerCase().endsWith(extension)) return undefined
  let name = ''
  for (const [at, segment] of path.slice(0, -extension.length).split('/').entries()) {
    if (segment === '' || segment === '.' || segment === '..') return undefined
    const continued = name.endsWith(CONTINUED)
    name = `${continued ? name.slice(0, -CONTINUED.length) : name}${at === 0 || continued ? '' : '/'}${segment}`
  }
  return decoded(name)
}

/** Encodes one segment of a name as one path segment, or as several if it is too long. */
function pathSegments(segment: string): string[] {
  if (segment === '') return [EMPTY]
  const pieces = piecesOf(segment)
  return pieces.map((piece, at) => encodedSegment(piece) + (at < pieces.length - 1 ? CONTINUED : ''))
}

function piecesOf(segment: string): string[] {
  const pieces: string[] = []
  let piece = ''
  let bytes = 0
  for (const character of segment) {
    const length = encodedBytes(character)
    if (bytes + length > MAX_SEGMENT_BYTES) {
      pieces.push(piece)
      piece = ''
      bytes = 0
    }
    piece += character
    bytes += length
  }
  return [...pieces, piece]
}

/** Control characters, DEL, C1, bidirectional controls and line separators, and characters that Windows forbids. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\\:*?"<>|%]/g
const UNSAFE_ENDS = /^[. ]|[. ]$/g

/** Windows device names, with any extension: https://learn.microsoft.com/windows/win32/fileio/naming-a-file */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)/i

function encodedSegment(piece: string): string {
  const safe = piece.replace(UNSAFE, encoded).replace(UNSAFE_ENDS, encoded)
  return DEVICE.test(safe) ? encoded(safe.slice(0, 1)) + safe.slice(1) : safe
}

/** The folder `a.xml` of the stream `a.xml/b` would collide with the file of the stream `a`. */
function withoutExtension(segment: string): string {
  const at = segment.lastIndexOf('.')
  const ending = segment.slice(at).toLowerCase()
  return EXTENSIONS.some(extension => extension === ending)
    ? `${segment.slice(0, at)}${encoded('.')}${segment.slice(at + 1)}`
    : segment
}

const ENCODER = new TextEncoder()

function encoded(text: string): string {
  return Array.from(ENCODER.encode(text), byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

function encodedBytes(character: string): number {
  const bytes = ENCODER.encode(character).length
  return character.replace(UNSAFE, '') === '' ? bytes * 3 : bytes
}

function decoded(name: string): string | undefined {
  try {
    const text = name
      .split('/')
      .map(segment => (segment === EMPTY ? '' : segment))
      .join('/')
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
