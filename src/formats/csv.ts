import { visibleText } from '../util/visible-text.ts'
import { jsonText } from './json.ts'

/** What a spreadsheet takes for a formula if a cell begins with it (OWASP, CSV injection). */
const FORMULA = /^[=+\-@＝＋－＠]/

/**
 * A record of CSV as RFC 4180 has it. Nothing is an empty cell, and a list or an object its JSON on one line. A text
 * that a spreadsheet would run as a formula gets an apostrophe in front, and control characters are made visible.
 */
export function csvRecord(values: readonly unknown[]): string {
  return `${values.map(cell).join(',')}\r\n`
}

/** The value of a field; `ran.p95Ms` is that of a field of an object in the item. */
export function fieldOf(item: object, field: string): unknown {
  const dot = field.indexOf('.')
  if (dot === -1) return Reflect.get(item, field)
  const inner: unknown = Reflect.get(item, field.slice(0, dot))
  return typeof inner === 'object' && inner !== null ? Reflect.get(inner, field.slice(dot + 1)) : undefined
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? visibleText(value) : jsonText(value, 0)
  const harmless = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
