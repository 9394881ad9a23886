import { cut, widthOf } from '../../formats/terminal/width.ts'
import type { TextField } from '../state/state.ts'
import { cell, type StyledText } from './row.ts'
import { safeText } from './safe-text.ts'

/** Marks the insertion position: a separate cell, visible without colours. */
const CURSOR: StyledText = ['│', 'mark']

/** At most this much text is measured. */
const MOST_UNITS = 1_000

/**
 * A text field in exactly `width` columns. The part around the cursor is visible; `…` marks omitted text. Without focus
 * it has no cursor and shows its beginning.
 */
export function fieldSpans(field: TextField, width: number, isFocused = true): StyledText[] {
  if (width <= 0) return []
  if (!isFocused) return [cell(safeText(field.text), width)]
  const before = safeText(field.text.slice(0, field.at).slice(-MOST_UNITS))
  const after = safeText(field.text.slice(field.at, field.at + MOST_UNITS))
  const room = width - 1
  const behind = Math.min(widthOf(after), Math.floor(room / 4))
  const shown = ending(before, room - behind)
  return [[shown, 'plain'], CURSOR, cell(after, room - widthOf(shown))]
}

/** The end of a text, preceded by `…` if something is missing. */
function ending(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  for (const character of Array.from(text).reverse()) {
    const longer = character + kept
    if (widthOf(longer) > width - 1) break
    kept = longer
  }
  return cut(`…${kept}`, width)
}
