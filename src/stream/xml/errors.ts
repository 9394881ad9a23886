import { BadDocument } from '../errors.ts'
import { unitName } from './text.ts'

/** Line and column of an offset, 1-based; CR, LF and CRLF each end a line. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  let line = 1
  let lineStart = 0
  for (let at = 0; at < offset; at += 1) {
    const code = text.charCodeAt(at)
    if (code !== 0x0a && !(code === 0x0d && text.charCodeAt(at + 1) !== 0x0a)) continue
    line += 1
    lineStart = at + 1
  }
  return { line, column: offset - lineStart + 1 }
}

/** A fault at an offset of the text. */
export function faultAt(text: string, offset: number, message: string): BadDocument {
  return new BadDocument(message, placeOf(text, offset))
}

const CUT_OFF = 'The document may be cut off: check an earlier version or a backup.'

/** Clearer words for parser messages. */
const CLEARER: Readonly<Record<string, string>> = {
  'unexpected end': 'the text ends in the middle of markup',
  'document must contain a root element': 'there is no document element',
  'documents may contain only one root': 'there is a second document element',
  'unexpected close tag': 'the closing tag does not belong to the element that is open',
  'weird empty close tag': 'a closing tag has no name',
  'malformed character entity': 'a character reference is malformed or names a character that XML cannot hold',
  'undefined entity': 'an undefined entity is used; only amp, lt, gt, quot and apos are known',
  'version number must match /^1\\.[0-9]+$/': 'the XML version is not 1.x',
  'invalid attempt to undefine prefix in XML 1.0': 'a namespace prefix is bound to nothing',
  'disallowed character in tag name': 'a character that is not allowed in a tag name',
  'malformed comment': '"--" inside a comment',
  'incorrect syntax': 'after "<!" only a comment or CDATA may follow',
}

/** Maximum length of a message: it may quote long names from the document. */
const LONGEST = 300

const OUTSIDE = 'text data outside of root node'

/**
 * Converts a saxes error to a clear fault.
 * @param offset of the offending character; the length of the text if it ended too early
 */
export function parserFault(text: string, offset: number, raw: string): BadDocument {
  const message = raw
    .slice(0, LONGEST)
    .replace(/^\d+:\d+: |\.$/g, '')
    .toWellFormed()
  if (message === OUTSIDE) return faultAt(text, runStart(text, offset), 'there is text outside the document element')
  const place = placeOf(text, offset)
  if (offset >= text.length) return new BadDocument(endMessage(message), place, CUT_OFF)
  if (message === 'disallowed character') return new BadDocument(characterMessage(text, offset), place)
  return new BadDocument(CLEARER[message] ?? message, place)
}

/** The start of such text: the parser reports its end. */
function runStart(text: string, end: number): number {
  const start = text.lastIndexOf('>', end - 1) + 1
  return start + text.slice(start).search(/[^\t\n\r ]/)
}

function endMessage(message: string): string {
  const open = /^unclosed tag: (.*)$/s.exec(message)?.[1]
  return open === undefined ? (CLEARER[message] ?? message) : `the text ends inside the element ${open}`
}

function characterMessage(text: string, offset: number): string {
  if (text[offset] === '<') return '"<" in an attribute value'
  return `the character ${unitName(text, offset)} is not allowed in XML`
}

/**
 * Whether the blank after an instruction's name is missing: saxes accepts `<?name?more?>`.
 * @param end behind the instruction
 */
export function lacksBlank(text: string, end: number, target: string, body: string): boolean {
  if (!body.startsWith('?')) return false
  const raw = text.slice(Math.max(0, end - target.length - 2 * body.length - 4), end)
  return raw.replace(/\r\n?/g, '\n').endsWith(`<?${target}${body}?>`)
}
