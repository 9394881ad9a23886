/** Escaping and slicing of XML text, for reader, writer and journal. */

import { InvalidValue } from '../errors.ts'

/** The namespace of namespace declarations, as in https://www.w3.org/TR/xml-names/#ns-decl. */
export const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/'

const SPECIAL = /[&<>"\t\n\r]/
const EVERY_SPECIAL = /[&<>"\t\n\r]/g

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
}

/**
 * Escapes a value for double quotes. Tab, LF and CR become character references: an XML reader would turn them into
 * blanks. `>` is escaped too, so that a tag ends at its first `>`. The escaped text is valid element content too.
 */
export function escapeAttribute(value: string): string {
  return SPECIAL.test(value) ? value.replace(EVERY_SPECIAL, character => ESCAPES[character] ?? character) : value
}

/** Between two entries of the journal: each stands on a line of its own. */
export const BETWEEN_ENTRIES = '\n    '

/** The characters that XML 1.0 excludes, except lone surrogates, which are searched separately. */
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/
const LONE_SURROGATE = /\p{Surrogate}/u

/**
 * The offset of the first UTF-16 unit that XML 1.0 cannot hold, even escaped (https://www.w3.org/TR/xml/#charsets); -1
 * for none.
 */
export function findForbidden(text: string): number {
  const control = text.search(FORBIDDEN)
  if (text.isWellFormed()) return control
  const surrogate = text.search(LONE_SURROGATE)
  return control === -1 ? surrogate : Math.min(control, surrogate)
}

/** @throws InvalidValue if a text of a document holds a character that XML cannot hold */
export function refuseForbidden(text: string): void {
  const at = findForbidden(text)
  if (at === -1) return
  const lineStart = text.lastIndexOf('\n', at) + 1
  const id = / id="([^"]*)"/.exec(text.slice(lineStart, at))?.[1]
  const where = id === undefined ? '' : ` (event ${id})`
  throw new InvalidValue(`a text holds ${unitName(text, at)}, a character that XML cannot hold${where}`)
}

/** `U+0007` for the unit at an offset. */
export function unitName(text: string, offset: number): string {
  return `U+${text.charCodeAt(offset).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Whether the text from `start` to before `end` is only XML white space. */
export function isBlank(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!isSpace(text.charCodeAt(at))) return false
  return true
}

/** The text from `start` to before `end`, trimmed of XML white space: a no-break space is data. */
export function trimmed(text: string, start = 0, end = text.length): string {
  let first = start
  let last = end
  while (first < last && isSpace(text.charCodeAt(first))) first += 1
  while (last > first && isSpace(text.charCodeAt(last - 1))) last -= 1
  return text.slice(first, last)
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** Joins the non-empty raw slices, each on its own line, indented as a child of the document element. */
export function joinRaw(parts: readonly string[]): string {
  return parts.filter(part => part !== '').join('\n  ')
}
