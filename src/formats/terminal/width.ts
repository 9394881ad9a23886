import stringWidth from 'string-width'

/**
 * Texts of characters of one column each: ASCII, Latin, and the glyphs, arrows and lines that leasectl prints. Their
 * width is their length; measuring others loads ICU and its tables, which takes longer than a whole `ls`.
 */
const NARROW =
  /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2013-\u201e\u2020-\u2022\u2026\u2039\u203a\u2190-\u2193\u2400-\u2426\u2500-\u259f↶≤⊘⏎■▶▸▾◇○●◌◷♥✓✗❄]*$/

/** Columns of a text on a terminal. Wide characters and emoji count two, our escape sequences none. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length
  if (ESCAPE.test(text)) return stringWidth(text)
  let width = 0
  for (const character of charactersOf(text)) width += characterWidth(character)
  return width
}

/** Escape sequences span several characters: only the whole text can be measured. */
const ESCAPE = /[\u001b\u009b]/

/** Measuring a character costs microseconds, and a screen of wide ones repeats the same few hundred. */
const WIDTHS = new Map<string, number>()
const MOST_WIDTHS = 4_096

function characterWidth(character: string): number {
  if (NARROW.test(character)) return character.length
  const known = WIDTHS.get(character)
  if (known !== undefined) return known
  if (WIDTHS.size >= MOST_WIDTHS) WIDTHS.clear()
  const width = stringWidth(character)
  // A stack of combining marks is one character and may be as long as a document.
  if (character.length <= 32) WIDTHS.set(character, width)
  return width
}

/** The text followed by blanks up to `width` columns; longer texts are unchanged. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** The text preceded by blanks up to `width` columns. */
export function padLeft(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text
}

let segmenter: Intl.Segmenter | undefined

/** The text cut to at most `width` columns at a whole character, with a final `…` if something is missing. */
export function cut(text: string, width: number): string {
  if (fits(text, width)) return text
  if (width <= 0) return ''
  const part = NARROW.test(text) ? text.slice(0, width - 1) : fittingPart(charactersOf(text), width - 1)
  return `${part}…`
}

/** Stops measuring as soon as the text is too wide: texts may be far longer than a screen. */
function fits(text: string, width: number): boolean {
  // No UTF-16 unit takes more than two columns.
  if (text.length * 2 <= width) return true
  if (NARROW.test(text)) return text.length <= width
  if (ESCAPE.test(text)) return stringWidth(text) <= width
  let used = 0
  for (const character of charactersOf(text)) {
    used += characterWidth(character)
    if (used > width) return false
  }
  return used <= width
}

/**
 * The same with the `…` inside and more kept after it, for names: those with the same beginning differ at their end.
 */
export function cutInside(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  if (width <= 0) return ''
  const characters = [...charactersOf(text)]
  const before = fittingPart(characters, Math.floor((width - 1) / 3))
  let at = characters.length
  let left = width - 1 - widthOf(before)
  for (; at > 0; at -= 1) {
    left -= widthOf(characters[at - 1] ?? '')
    if (left < 0) break
  }
  return `${before}…${characters.slice(at).join('')}`
}

/** The id of an event in a line about more than it: an id of 45 levels would hide what happened. */
export function shortId(id: string): string {
  return cutInside(id, 24)
}

function* charactersOf(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter()
  for (const { segment } of segmenter.segment(text)) yield segment
}

/** As many of the first characters as fit into `width` columns. */
function fittingPart(characters: Iterable<string>, width: number): string {
  let kept = ''
  let used = 0
  for (const character of characters) {
    used += widthOf(character)
    if (used > width) break
    kept += character
  }
  return kept
}

/**
 * A text wrapped to `width` columns, at blanks if possible. At most `most` lines; the last one ends in `…` if text is
 * missing.
 */
export function wrapped(text: string, width: number, most: number): string[] {
  const lines: string[] = []
  let rest = text.trim()
  while (rest !== '' && lines.length < most) {
    if (lines.length === most - 1 || widthOf(rest) <= width) return [...lines, cut(rest, width)]
    const head = cut(rest, width).slice(0, -1)
    const blank = head.lastIndexOf(' ')
    const taken = blank >= head.length / 2 ? head.slice(0, blank) : head
    if (taken === '') return lines
    lines.push(taken)
    rest = rest.slice(taken.length).trimStart()
  }
  return lines
}
