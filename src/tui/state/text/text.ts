import type { Style, StyledPiece } from '../../../formats/terminal/style.ts'

/** A text to read on the screen, in lines. Its characters are raw: the view makes them safe. */
export interface ReadableText {
  readonly lines: readonly string[]
  /** Styled parts of a line, in order, without overlaps; the rest is plain. */
  readonly rangesOf?: (line: number) => readonly StyledRange[]
  /** Of a document: it has line numbers, a cursor, and elements that can be folded. */
  readonly outline?: TextOutline
}

/** Part of a line, in UTF-16 units. */
export interface StyledRange {
  readonly from: number
  readonly to: number
  readonly style: Style
}

export interface TextOutline {
  /** The last line of each element of several lines, by its first line. */
  readonly ends: ReadonlyMap<number, number>
  /** Identifies a line while others come and go around it. */
  readonly keyOf: (line: number) => string
}

/** How far a text has been read, and how it is shown. */
export interface Reading {
  /** First visible row. */
  readonly top: number
  /** Columns scrolled to the right. */
  readonly left: number
  /** Long lines take several rows; else they end at the edge. */
  readonly wraps: boolean
  /** Matches of this text are marked. `''`: none. */
  readonly search: string
  /** The line of the cursor; in a text without a cursor that of the last match. */
  readonly at: { readonly line: number; readonly key: string } | undefined
  /** Keys of folded elements and of single lines that are wrapped. */
  readonly toggled: ReadonlySet<string>
}

/** At the top of a text, lines wrapped. */
export const START_READING: Reading = {
  top: 0,
  left: 0,
  wraps: true,
  search: '',
  at: undefined,
  toggled: new Set(),
}

/** At the top of a document, whose lines are not wrapped. */
export const START_DOCUMENT: Reading = { ...START_READING, wraps: false }

/** A text of styled lines. */
export function textOfLines(lines: readonly (readonly StyledPiece[])[]): ReadableText {
  const ranges = lines.map(rangesOfPieces)
  return {
    lines: lines.map(pieces => pieces.map(([text]) => text).join('')),
    rangesOf: line => ranges[line] ?? [],
  }
}

function rangesOfPieces(pieces: readonly StyledPiece[]): readonly StyledRange[] {
  let at = 0
  return pieces.flatMap(([text, style]) => {
    const from = at
    at += text.length
    return style === 'plain' ? [] : [{ from, to: at, style }]
  })
}

/** The lines of a text of somebody else, as its author broke them. */
export function linesOfText(text: string): readonly string[] {
  return text.trimEnd().split(/\r\n|[\r\n\u2028\u2029]/)
}
