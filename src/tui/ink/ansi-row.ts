import { pad } from '../../formats/terminal/width.ts'
import type { Row, Span } from '../view/row.ts'
import { type Look, lookOfStyle, type Theme } from '../view/theme.ts'

/** A run of text in one look, as it is drawn. */
export interface Piece {
  readonly text: string
  readonly look: Look
}

/** A row in as few pieces as it can be drawn in: each piece costs, each character hardly. */
export function piecesOf(row: Row, columns: number, theme: Theme): readonly Piece[] {
  if (row.look === undefined) return merged(row.spans, (_text, style) => lookOfStyle(theme, style))
  const text = row.spans.map(([text]) => text).join('')
  if (row.look === 'faint') return text === '' ? [] : [{ text, look: FAINT }]
  const rest = pad(text, columns).slice(text.length)
  return merged([...row.spans, [rest, 'plain']], (text, style) => (isBar(text) ? lookOfStyle(theme, style) : CURSOR))
}

/** Bars keep their colours under the cursor: in reverse they would be gaps. */
function isBar(text: string): boolean {
  return /^[▁-█░ ]*[▁-█░][▁-█░ ]*$/.test(text)
}

/** Whether both rows look the same. */
export function sameRow(a: Row, b: Row): boolean {
  return a === b || (a.look === b.look && a.spans.length === b.spans.length && a.spans.every(sameSpanIn(b)))
}

/** One look for all of the row: inverted colours side by side would be patches of background. */
const CURSOR: Look = { inverse: true }
const FAINT: Look = { dimColor: true }

function merged(spans: readonly Span[], lookOf: (...span: Span) => Look): readonly Piece[] {
  const pieces: { text: string; look: Look }[] = []
  for (const [text, style] of spans) {
    const look = lookOf(text, style)
    const last = pieces.at(-1)
    if (text === '') continue
    if (last !== undefined && (sameLook(last.look, look) || isUnseen(text, look, last.look))) last.text += text
    else pieces.push({ text, look })
  }
  return pieces
}

/** Blanks have no colour of their own: they go with what stands before them. */
function isUnseen(text: string, look: Look, before: Look): boolean {
  return look.inverse === undefined && before.inverse === undefined && /^ +$/.test(text)
}

function sameLook(a: Look, b: Look): boolean {
  return a === b || (a.color === b.color && a.bold === b.bold && a.dimColor === b.dimColor && a.inverse === b.inverse)
}

function sameSpanIn(row: Row): (span: Span, at: number) => boolean {
  return (span, at) => {
    const other = row.spans[at]
    return other === span || (other !== undefined && other[0] === span[0] && other[1] === span[1])
  }
}
