import { widthOf } from '../../formats/terminal/width.ts'
import type { ScreenRow } from './row.ts'

/**
 * The row in ASCII, column by column: what the program draws in signs that resemble it, letters without their accents, `?`
 * for all else. The same row where there is nothing to do.
 */
export function asciiRow(row: ScreenRow): ScreenRow {
  if (row.spans.every(([text]) => ASCII.test(text))) return row
  return { ...row, spans: row.spans.map(([text, style]) => [asciiText(text), style] as const) }
}

/** The same for a text. */
export function asciiText(text: string): string {
  return ASCII.test(text) ? text : text.replace(NOT_ASCII, replacement)
}

const ASCII = /^[ -~]*$/
const NOT_ASCII = /[^ -~]/gu

/** Each stays one column wide, and those that stand in the same place stay told apart. */
const SIGNS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '>': '▶›▸→',
    '-': '▾─╌–—▂',
    o: '○◌',
    '~': '◷',
    v: '✓↓',
    x: '✗',
    '/': '⊘',
    '*': '•●❄',
    '^': '↑',
    '<': '←',
    '|': '│┊▏├┤┃',
    '`': '└',
    '+': '┼▄┬┴',
    '.': '…·▁',
    '=': '▃═',
    ':': '░▒',
    '%': '▅▆',
    '#': '█▇▓',
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
