import type { ReadableText, Reading } from './text.ts'

/** The part of a line that is in a row. `from` is 0 at the start of a line. */
export interface TextPart {
  readonly line: number
  readonly from: number
  readonly to: number
}

/** A text laid out for a width. Most rows are lines of the text; wrapped lines take several rows, folded ones none. */
export interface TextLayout {
  /** Number of rows. */
  readonly total: number
  /** Columns for the text of a row. */
  readonly width: number
  row(at: number): TextPart
  /** The first row of a line; of one in a folded element the row of that element. */
  rowOf(line: number): number
}

/** What the layout depends on. */
type LayoutChoice = Pick<Reading, 'wraps' | 'toggled'>

interface CachedLayout extends LayoutChoice {
  readonly width: number
  readonly layout: TextLayout
}

const KNOWN = new WeakMap<readonly string[], CachedLayout>()

/** Cached per text. Costs one look at each line, and one pass over those that are wrapped. */
export function textLayout(text: ReadableText, columns: number, { wraps, toggled }: LayoutChoice): TextLayout {
  const width = Math.max(4, columns - gutterOf(text))
  const known = KNOWN.get(text.lines)
  if (known?.width === width && known.wraps === wraps && known.toggled === toggled) return known.layout
  const layout = layoutFor(text, width, { wraps, toggled })
  KNOWN.set(text.lines, { width, wraps, toggled, layout })
  return layout
}

/** Columns before the text: the sign of the cursor, in documents also line number, fold mark and a blank. */
export function gutterOf({ lines, outline }: ReadableText): number {
  return outline === undefined ? 1 : numberWidth(lines) + 3
}

/** Columns of a line number. */
export function numberWidth(lines: readonly string[]): number {
  return Math.max(3, String(lines.length).length)
}

/** Longer lines are always wrapped. UTF-16 units. */
const LONG = 2_000

function layoutFor(text: ReadableText, width: number, choice: LayoutChoice): TextLayout {
  const { lines } = text
  const isToggled = choice.toggled.size === 0 ? () => false : toggledIn(text, choice.toggled)
  const isWrapped = (line: number) => {
    const { length } = lines[line] ?? ''
    return length > LONG || (length > width / 2 && (choice.wraps || isToggled(line)))
  }
  if (choice.toggled.size === 0 && !lines.some((_, line) => isWrapped(line))) return plainLayout(lines, width)
  const starts: TextPart[] = []
  for (let line = 0; line < lines.length; ) {
    const end = text.outline?.ends.get(line)
    const isFolded = end !== undefined && isToggled(line)
    const content = lines[line] ?? ''
    const froms = !isFolded && isWrapped(line) ? breaksOf(content, width) : [0]
    froms.forEach((from, part) => {
      starts.push({ line, from, to: froms[part + 1] ?? content.length })
    })
    line = isFolded ? end + 1 : line + 1
  }
  return layoutOfParts(starts, width)
}

function toggledIn({ outline }: ReadableText, toggled: ReadonlySet<string>): (line: number) => boolean {
  return outline === undefined ? () => false : line => toggled.has(outline.keyOf(line))
}

function plainLayout(lines: readonly string[], width: number): TextLayout {
  return {
    total: lines.length,
    width,
    row: at => ({ line: at, from: 0, to: lines[at]?.length ?? 0 }),
    rowOf: line => Math.max(0, Math.min(line, lines.length - 1)),
  }
}

function layoutOfParts(parts: readonly TextPart[], width: number): TextLayout {
  return {
    total: parts.length,
    width,
    row: at => parts[at] ?? { line: 0, from: 0, to: 0 },
    rowOf(line) {
      let low = 0
      let high = parts.length
      while (low < high) {
        const middle = (low + high) >> 1
        if ((parts[middle]?.line ?? 0) <= line) low = middle + 1
        else high = middle
      }
      const found = parts[low - 1]?.line ?? 0
      let row = Math.max(0, low - 1)
      while (row > 0 && parts[row - 1]?.line === found) row--
      return row
    },
  }
}

/** Start offsets of the rows of a line: after blanks where possible, and so that none is too wide. */
function breaksOf(line: string, width: number): number[] {
  const froms = [0]
  let from = 0
  let used = 0
  for (let at = 0; at < line.length; ) {
    const code = line.codePointAt(at) ?? 0
    const taken = mostColumns(code)
    if (used > 0 && used + taken > width) {
      const next = line[at] === ' ' ? at + 1 : afterBlank(line, from, at)
      froms.push(next)
      used = columnsOf(line, next, at)
      from = next
      if (next > at) {
        at = next
        continue
      }
    }
    used += taken
    at += code > 0xffff ? 2 : 1
  }
  return froms.at(-1) === line.length && froms.length > 1 ? froms.slice(0, -1) : froms
}

/** Behind the last blank in the second half of a row, else its end. */
function afterBlank(line: string, from: number, end: number): number {
  for (let at = end; at > (from + end) / 2; at--) if (line[at - 1] === ' ') return at
  return end
}

function columnsOf(line: string, from: number, to: number): number {
  let columns = 0
  for (let at = from; at < to; ) {
    const code = line.codePointAt(at) ?? 0
    columns += mostColumns(code)
    at += code > 0xffff ? 2 : 1
  }
  return columns
}

/** The offset of the first character that is at least this many columns to the right. */
export function offsetAfter(line: string, from: number, columns: number): number {
  let used = 0
  let at = from
  while (at < line.length && used < columns) {
    const code = line.codePointAt(at) ?? 0
    used += mostColumns(code)
    at += code > 0xffff ? 2 : 1
  }
  return at
}

/** Greatest width of a character: controls are spelled out, other characters may be wide. */
function mostColumns(code: number): number {
  if (code < 0x20 || (code > 0x7e && code < 0xa0) || (code >= 0x2000 && code < 0x2070)) return 8
  return code < 0x300 ? 1 : 2
}
