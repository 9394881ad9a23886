/**
 * Names of streams as paths below a folder, and back. A segment of the name is a segment of the path; what a common
 * file system cannot hold, or a reader could mistake for something else, is percent-encoded, so a path never leaves its
 * folder and gives back the very name it was made from.
 */

/** What files of an export end with. A folder of the name never ends so: its last dot is encoded. */
export const EXTENSIONS = ['.xml', '.json', '.mmd'] as const
export type Extension = (typeof EXTENSIONS)[number]

/**
 * Bytes of one segment of a path before its ends are looked at, which may add a few: 255 are what file systems take,
 * some less.
 */
const MAX_SEGMENT_BYTES = 200

/** Stands for an empty segment of a name. */
const EMPTY = '%_'
/** Ends a folder that holds only a part of a segment; the rest follows below it. */
const CONTINUED = '%-'

/** The path of a stream below the folder of an export, with `/` between segments. Names are well-formed Unicode. */
export function filePathOf(name: string, extension: Extension): string {
  const segments = name.split('/').flatMap(pathSegments)
  const file = segments.pop() ?? EMPTY
  return [...segments.map(withoutExtension), file + extension].join('/')
}

/**
 * The name that a path stands for, also one that a person chose: escapes are read wherever they stand. `undefined` for
 * a path without the extension, with a dot or empty segment, or with an escape that is none.
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

/** One segment of a name as one segment of a path, or as several where it is too long. */
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

/** Control characters, DEL, C1, what reorders or breaks a line, and what Windows does not take. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\\:*?"<>|%]/g
const UNSAFE_ENDS = /^[. ]|[. ]$/g

/** Devices of Windows, whatever stands behind a dot: https://learn.microsoft.com/windows/win32/fileio/naming-a-file */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)/i

function encodedSegment(piece: string): string {
  const safe = piece.replace(UNSAFE, encoded).replace(UNSAFE_ENDS, encoded)
  return DEVICE.test(safe) ? encoded(safe.slice(0, 1)) + safe.slice(1) : safe
}

/** `a.xml` as a folder, from the stream `a.xml/b`, would stand where the file of the stream `a` stands. */
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
