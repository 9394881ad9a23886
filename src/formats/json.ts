import { readTime } from '../stream/time/dates.ts'

/** Carried by every JSON document and every line of ndjson. */
export const API_VERSION = 'leasectl/v1'

/** Characters that JSON may hold raw but that a terminal obeys or that reorder a line: DEL, C1, bidi controls, separators. */
const HOSTILE =
  /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

/** True for a text with a character that must not reach a terminal raw. */
export function hasHostile(text: string): boolean {
  return /[\u0000-\u001f]/.test(text) || text.search(HOSTILE) >= 0
}

/** Every dangerous character that stands raw in a JSON (or double-quoted YAML) text as its `\u` escape. */
export function escapeHostile(json: string): string {
  return json.replace(HOSTILE, character =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

/** JSON that is safe to show on a terminal. `indent` 0 is one line. */
export function jsonText(value: unknown, indent = 2): string {
  return escapeHostile(JSON.stringify(value, null, indent))
}

/** A top-level document: the version of the API first. */
export function jsonDocument(fields: object): string {
  return `${jsonText({ apiVersion: API_VERSION, ...fields })}\n`
}

/** One line of ndjson. */
export function jsonLine(fields: object): string {
  return `${jsonText({ apiVersion: API_VERSION, ...fields }, 0)}\n`
}

/** The first and the last moment that RFC 3339 can write: years have four digits. */
const FIRST_MS = Date.parse('0000-01-01T00:00:00Z')
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * RFC 3339 in UTC, `null` for none. What lies beyond the year 9999, as some limits do, becomes its last moment; what lies before
 * the year 0 its first.
 */
export function jsonTime(ms: number | undefined): string | null {
  return ms === undefined || Number.isNaN(ms) ? null : new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS)).toISOString()
}

/** The same from a text of a document; `null` where it cannot be read as a time. */
export function jsonTimeOf(text: string | undefined): string | null {
  return text === undefined ? null : jsonTime(readTime(text))
}

/** `null` for an absent text. */
export function orNull(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text
}
