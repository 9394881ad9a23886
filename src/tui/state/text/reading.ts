import type { KeyPress } from '../state.ts'
import { clamp } from '../transition.ts'
import { textLayout } from './layout.ts'
import { matchingLines } from './search.ts'
import type { ReadableText, Reading } from './text.ts'

/** A text, and the room that it is shown in. */
export interface TextArea {
  readonly text: ReadableText
  readonly columns: number
  readonly rows: number
}

/** The reading after a key; `undefined` for a key that does nothing in a text. */
export function readingAfterKey(reading: Reading, area: TextArea, { key }: KeyPress): Reading | undefined {
  const page = Math.max(1, area.rows - 1)
  const rows = ROWS.get(key) ?? (PAGES.has(key) ? (PAGES.get(key) ?? 0) * page : undefined)
  if (rows !== undefined) return movedBy(reading, area, rows)
  const columns = COLUMNS.get(key)
  if (columns !== undefined) return sidewaysBy(reading, area, columns)
  switch (key) {
    case 'w':
      return settled({ ...reading, wraps: !reading.wraps, left: 0 }, area)
    case 'space':
      return area.text.outline === undefined ? movedBy(reading, area, page) : toggled(reading, area)
    case 'enter':
      return area.text.outline === undefined ? undefined : toggled(reading, area)
    case '-':
      return area.text.outline === undefined ? undefined : allFolded(reading, area)
    case '=':
      return area.text.outline === undefined ? undefined : settled({ ...reading, toggled: new Set() }, area)
    default:
      return undefined
  }
}

const ROWS: ReadonlyMap<string, number> = new Map([
  ['j', 1],
  ['down', 1],
  ['k', -1],
  ['up', -1],
  ['g', -Infinity],
  ['home', -Infinity],
  ['G', Infinity],
  ['end', Infinity],
])

/** Steps of a page. */
const PAGES: ReadonlyMap<string, number> = new Map([
  ['pagedown', 1],
  ['ctrl-f', 1],
  ['pageup', -1],
  ['ctrl-b', -1],
  ['ctrl-d', 0.5],
  ['ctrl-u', -0.5],
])

const STEP = 16
const COLUMNS: ReadonlyMap<string, number> = new Map([
  ['l', STEP],
  ['right', STEP],
  ['h', -STEP],
  ['left', -STEP],
])

/** Moves the cursor of a document, else scrolls. */
function movedBy(reading: Reading, area: TextArea, by: number): Reading {
  const rows = Number.isFinite(by) ? Math.trunc(by) || Math.sign(by) : by
  const { text } = area
  if (text.outline === undefined) return settled({ ...reading, top: reading.top + rows, at: undefined }, area)
  const layout = layoutOf(reading, area)
  const at = placeOf(reading, text)
  let row = clamp(layout.rowOf(at?.line ?? 0) + rows, 0, layout.total - 1)
  // A step down leaves a line of several rows.
  while (rows === 1 && row < layout.total - 1 && layout.row(row).line === at?.line) row++
  const { line } = layout.row(row)
  return settled(withLine(reading, text, line), area)
}

function sidewaysBy(reading: Reading, area: TextArea, by: number): Reading {
  if (reading.wraps) return reading
  const { width } = layoutOf(reading, area)
  const longest = area.text.lines.reduce((most, line) => Math.max(most, line.length * (ASCII.test(line) ? 1 : 2)), 0)
  return { ...reading, left: clamp(reading.left + by, 0, Math.max(0, longest - width + 1)) }
}

const ASCII = /^[ -~]*$/

/** Folds or unfolds the element that begins at the cursor; a single line is wrapped. */
function toggled(reading: Reading, { text, ...area }: TextArea): Reading {
  const { line } = placeOf(reading, text) ?? { line: 0 }
  const key = text.outline?.keyOf(line) ?? ''
  const keys = new Set(reading.toggled)
  if (!keys.delete(key)) keys.add(key)
  return settled({ ...withLine(reading, text, line), toggled: keys }, { text, ...area })
}

/** Folds every element but the outermost. */
function allFolded(reading: Reading, area: TextArea): Reading {
  const { outline } = area.text
  const [outermost] = outline?.ends.keys() ?? []
  const keys = [...(outline?.ends.keys() ?? [])].filter(line => line !== outermost).map(line => outline?.keyOf(line))
  return settled({ ...reading, toggled: new Set(keys.filter(key => key !== undefined)) }, area)
}

/** The same with a search; the first match from the former place on is shown. */
export function withSearch(reading: Reading, area: TextArea, search: string): Reading {
  const next = { ...reading, search }
  const from = firstLine(reading, area)
  const found = matchingLines(area.text.lines, search)
  const line = found.find(at => at >= from) ?? found[0]
  return line === undefined ? next : toLine(next, area, line)
}

/** To the next or previous line that matches the search, wrapping around; `undefined` if none does. */
export function toMatch(reading: Reading, area: TextArea, by: 1 | -1): Reading | undefined {
  const found = matchingLines(area.text.lines, reading.search)
  const from = placeOf(reading, area.text)?.line ?? firstLine(reading, area) - (by === 1 ? 1 : 0)
  const line = by === 1 ? (found.find(at => at > from) ?? found[0]) : (found.findLast(at => at < from) ?? found.at(-1))
  return line === undefined ? undefined : toLine(reading, area, line)
}

/** `3 of 17`, `none`: the matching lines and which of them was reached. */
export function matchCount({ lines }: ReadableText, reading: Reading): string {
  const found = matchingLines(lines, reading.search)
  if (found.length === 0) return 'no match'
  const at = reading.at === undefined ? -1 : found.indexOf(reading.at.line)
  return at < 0 ? `${found.length} lines` : `${at + 1} of ${found.length}`
}

function firstLine(reading: Reading, area: TextArea): number {
  return placeOf(reading, area.text)?.line ?? layoutOf(reading, area).row(reading.top).line
}

/** Goes to a line, unfolds what hides it, and shows the matches in it. */
export function toLine(reading: Reading, area: TextArea, line: number): Reading {
  const { text } = area
  const there = withLine(unfolded(reading, text, line), text, line)
  const [match] = matchColumn(there, text, line)
  const { width } = layoutOf(there, area)
  const isVisible = match === undefined || (match >= there.left && match < there.left + width - 1)
  const left = there.wraps ? 0 : isVisible ? there.left : Math.max(0, match - Math.floor(width / 3))
  return settled({ ...there, left }, area)
}

function matchColumn({ search }: Reading, { lines }: ReadableText, line: number): readonly number[] {
  const at = search === '' ? -1 : (lines[line] ?? '').toLowerCase().indexOf(search.toLowerCase())
  return at < 0 ? [] : [at]
}

function unfolded(reading: Reading, { outline }: ReadableText, line: number): Reading {
  if (outline === undefined || reading.toggled.size === 0) return reading
  const keys = new Set(reading.toggled)
  for (const [from, to] of outline.ends) if (from < line && line <= to) keys.delete(outline.keyOf(from))
  return keys.size === reading.toggled.size ? reading : { ...reading, toggled: keys }
}

function withLine(reading: Reading, { outline }: ReadableText, line: number): Reading {
  return { ...reading, at: { line, key: outline?.keyOf(line) ?? '' } }
}

/** Where the line of the cursor is now: lines above it may have come or gone. */
export function placeOf({ at }: Reading, { lines, outline }: ReadableText): Reading['at'] {
  if (outline === undefined) return at
  if (at === undefined) return lines.length === 0 ? undefined : { line: 0, key: outline.keyOf(0) }
  if (at.line < lines.length && outline.keyOf(at.line) === at.key) return at
  const moved = lines.findIndex((_, line) => outline.keyOf(line) === at.key)
  const line = moved >= 0 ? moved : clamp(at.line, 0, Math.max(0, lines.length - 1))
  return { line, key: outline.keyOf(line) }
}

/** The reading within the bounds of the text, its cursor in sight. */
export function settled(reading: Reading, area: TextArea): Reading {
  const layout = layoutOf(reading, area)
  const at = placeOf(reading, area.text)
  const most = Math.max(0, layout.total - area.rows)
  const row = at === undefined ? undefined : layout.rowOf(at.line)
  const wanted = row === undefined ? reading.top : clamp(reading.top, row - area.rows + 1, row)
  const top = clamp(wanted, 0, most)
  const isSame = top === reading.top && at?.line === reading.at?.line && at?.key === reading.at?.key
  return isSame ? reading : { ...reading, top, at }
}

function layoutOf(reading: Reading, { text, columns }: TextArea) {
  return textLayout(text, columns, reading)
}
