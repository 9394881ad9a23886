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

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? visibleText(value) : jsonText(value, 0)
  const harmless = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
