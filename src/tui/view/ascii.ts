import { widthOf } from '../../formats/terminal/width.ts'
import type { ScreenRow } from './row.ts'

/**
 * The row in ASCII, with unchanged widths: our glyphs become similar characters, letters lose their accents, `?`
 * replaces the rest. Returns the same row if it is ASCII already.
 */
export function asciiRow(row: ScreenRow): ScreenRow {
  if (row.spans.every(([text]) => ASCII.test(text))) return row
  return { ...row, spans: row.spans.map(([text, style]) => [asciiText(text), style] as const) }
}

/** A text in ASCII. */
export function asciiText(text: string): string {
  return ASCII.test(text) ? text : text.replace(NOT_ASCII, replacement)
}

const ASCII = /^[ -~]*$/
const NOT_ASCII = /[^ -~]/gu

/** Each keeps its width of one column; glyphs of the same position stay distinct. */
const SIGNS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '>': '›→',
    '-': '▾─╌–—▂',
    o: '○◌',
    '~': '◷',
    v: '✓↓',
    x: '✗',
    B: '■',
    '&': '±',
    '/': '⊘╱',
    '*': '•●❄',
    '^': '↑',
    '<': '←',
    '|': '│┊▏├┤┃',
    '`': '└',
    '+': '┼▄┬┴†▸',
    '.': '…·▁',
    '=': '▃═‖▌',
    _: '◇',
    ',': '┈',
    u: '↶',
    ':': '░▒',
    '%': '▅▆',
    '#': '█▇▓▶',
    '"': '“”„',
    "'": '‘’',
  }).flatMap(([sign, drawn]) => [...drawn].map(character => [character, sign] as const)),
)

function replacement(character: string): string {
  const sign = SIGNS.get(character)
  if (sign !== undefined) return sign
  const bare = character.normalize('NFD').charAt(0)
  return ASCII.test(bare) && bare !== '' ? bare : '?'.repeat(widthOf(character))
}
