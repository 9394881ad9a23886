import { cut, widthOf } from '../../formats/terminal/width.ts'
import type { TextField } from '../state/state.ts'
import { cell, type StyledText } from './row.ts'
import { safeText } from './safe-text.ts'

/** Stands where the next character goes: a cell of its own, so that it is seen without colours too. */
const CURSOR: StyledText = ['│', 'mark']

/** More of a text than this is never measured. */
const MOST_UNITS = 1_000

/**
 * What is typed into a field, in exactly so many columns. The part around the cursor is seen; `…` stands where there is
 * more. Without the keys (`isFocused` false) it has no cursor and is seen from its beginning.
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

/** The end of a text, with `…` before it where something is missing. */
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
