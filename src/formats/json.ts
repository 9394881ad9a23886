import { isoTime, readTime } from '../stream/time/dates.ts'

/** Part of every JSON document and every ndjson line. */
export const API_VERSION = 'leasectl/v1'

/** Characters that are valid in JSON but control a terminal or reorder a line: DEL, C1, bidi controls, separators. */
const HOSTILE =
  /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

/** True for a text with a character that must not reach a terminal unescaped. */
export function hasHostile(text: string): boolean {
  return /[\u0000-\u001f]/.test(text) || text.search(HOSTILE) >= 0
}

/** Replaces each dangerous raw character of a JSON (or double-quoted YAML) text by its `\u` escape. */
export function escapeHostile(json: string): string {
  return json.replace(HOSTILE, character =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

/** JSON that is safe to print on a terminal. `indent` 0 gives one line. */
export function jsonText(value: unknown, indent = 2): string {
  return escapeHostile(JSON.stringify(value, null, indent))
}

/** A top-level document, the API version first. */
export function jsonDocument(fields: object): string {
  return `${jsonText({ apiVersion: API_VERSION, ...fields })}\n`
}

const LINE_HEAD = `{"apiVersion":${JSON.stringify(API_VERSION)}`

/** One line of ndjson. The version is put before the text: a copy of the fields would double the garbage of a listing. */
export function jsonLine(fields: object): string {
  const text = jsonText(fields, 0)
  return `${LINE_HEAD}${text === '{}' ? '' : ','}${text.slice(1)}\n`
}

/** The first and the last time that RFC 3339 can represent: years have four digits. */
const FIRST_MS = Date.parse('0000-01-01T00:00:00Z')
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * RFC 3339 in UTC, `null` for `undefined`. Later times than the year 9999, as some limits have, become its last
 * millisecond; earlier ones than the year 0 its first.
 */
export function jsonTime(ms: number | undefined): string | null {
  return ms === undefined || Number.isNaN(ms) ? null : isoTime(Math.min(Math.max(ms, FIRST_MS), LAST_MS))
}

/** The same from the text of a document; `null` where it is not a readable time. */
export function jsonTimeOf(text: string | undefined): string | null {
  return text === undefined ? null : jsonTime(readTime(text))
}

/** `null` for an absent or empty text. */
export function orNull(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text
}
