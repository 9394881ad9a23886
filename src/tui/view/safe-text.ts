import { shortId } from '../../formats/terminal/width.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'

/** Longer texts are cut before they are processed: no row shows more. UTF-16 units. */
const MOST_UNITS = 4_096

/**
 * An untrusted text for one row of the screen. Control characters become visible; characters that terminals and
 * `widthOf` measure differently are dropped, decomposed or replaced by `�`, so that the text takes `widthOf` columns on
 * every terminal. Texts of more than 4096 units are cut. ASCII costs one test.
 */
export function safeText(text: string): string {
  if (SIMPLE.test(text) && text.length <= MOST_UNITS) return text
  const known = KNOWN.get(text)
  if (known !== undefined) return known
  const safe = makeSafe(text)
  if (text.length > MOST_KNOWN_UNITS) return safe
  if (KNOWN.size >= MOST_KNOWN) KNOWN.clear()
  KNOWN.set(text, safe)
  return safe
}

/** The name of a stream for one row: invisible characters are shown, not dropped. */
export function safeName(name: string): string {
  return safeText(SIMPLE.test(name) && !/^ | $/.test(name) ? name : visibleName(name))
}

/** The id of an event in a line about more than it. */
export function safeId(id: string): string {
  return shortId(safeText(id))
}

/** Frames repeat the same texts. */
const KNOWN = new Map<string, string>()
const MOST_KNOWN = 2_000
const MOST_KNOWN_UNITS = 200

function makeSafe(text: string): string {
  const whole = text.length <= MOST_UNITS ? text : `${text.slice(0, MOST_UNITS)}…`
  const visible = visibleText(whole.toWellFormed().normalize('NFC'))
  return SIMPLE.test(visible) ? visible : withKnownWidths(visible)
}

/** Characters of one column on every terminal. */
const SIMPLE = /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2018-\u201d\u2026\u2400-\u2426]*$/

function withKnownWidths(text: string): string {
  return text
    .replace(DROPPED, '')
    .replace(FLAG_LETTERS, letterOfFlag)
    .replace(SARA_AM, taken => (taken === '\u0e33' ? '\u0e4d\u0e32' : '\u0ecd\u0eb2'))
    .replace(UNSURE, '\ufffd')
    .replace(LONELY_MARKS, '')
    .replace(PILED_MARKS, '$1')
    .replace(VIRAMA, `$&${NON_JOINER}`)
}

/**
 * Invisible characters such as joiners, variation selectors and tags; skin tones; enclosing marks, with which a keycap
 * becomes an emoji; and signs that only join two letters, which terminals count as one or two.
 */
const DROPPED =
  /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Me}\p{Emoji_Modifier}\u1039\u17d2\u1a60\u1b44\u1bab\ua9c0\uaaf6]/gu

/** The sign that joins two letters of India. With a non-joiner behind it, it is written itself, and each letter counts. */
const VIRAMA = /[\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d](?=\p{L})/gu
const NON_JOINER = '\u200c'

/** Some terminals combine two of them into a flag. */
const FLAG_LETTERS = /[\u{1f1e6}-\u{1f1ff}]/gu

function letterOfFlag(flag: string): string {
  return String.fromCharCode((flag.codePointAt(0) ?? 0) - 0x1f1e6 + 65)
}

/** Thai and Lao vowels that combine a mark and a letter. */
const SARA_AM = /[\u0e33\u0eb3]/g

/**
 * Characters whose width depends on the terminal's version of Unicode; decomposed Hangul without a precomposed
 * character; beyond the first plane everything except emoji, symbols, mathematical letters and Han.
 */
const UNSURE = new RegExp(
  [
    String.raw`[\p{Cn}\p{Co}\u0890-\u089f\u08ca-\u08d2\u0b55\u0c3c\u0d4e\u0d81\u0ece\u1100-\u11ff\u1734\u1abf-\u1aeb\u1dfa]`,
    String.raw`[\u2630-\u2637\u268a-\u268f\u2ffc-\u2fff\u31bb-\u31bf\u31e4-\u31e5\u31ef\u4dc0-\u4dff\ua82c\ua960-\ua97c\ud7b0-\ud7fb]`,
    String.raw`[\u{10000}-\u{1d3ff}\u{1d800}-\u{1efff}\u{1f6d6}-\u{1f6df}\u{1f6fb}-\u{1f6ff}\u{1f7f0}\u{1f90c}\u{1f93b}\u{1f946}]`,
    String.raw`[\u{1f972}\u{1f977}-\u{1f979}\u{1f9a3}\u{1f9a4}\u{1f9ab}-\u{1f9ad}\u{1f9cb}\u{1f9cc}\u{1fa70}-\u{1ffff}\u{40000}-\u{10ffff}]`,
  ].join('|'),
  'gu',
)

/** Leading marks would combine with the text drawn before. */
const LONELY_MARKS = /^\p{M}+/u

/** Two marks on a letter are writing, more are abuse. */
const PILED_MARKS = /(\p{M}{2})\p{M}+/gu

/** The beginning of a long text, for a cell: its first line, and `…` if more follows. */
export function firstLine(text: string): string {
  const [line = ''] = text.trimStart().split(/\r?\n/, 1)
  return line.length < text.trim().length ? `${line.trimEnd()} …` : line
}
