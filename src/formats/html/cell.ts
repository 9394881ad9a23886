import type { Style } from '../terminal/style.ts'
import type { Cell } from '../terminal/table.ts'
import { html, type Markup } from './markup.ts'

const CLASSES: ReadonlySet<Style> = new Set(['good', 'bad', 'warn', 'active', 'dim', 'strong'])

/** A text in the colour of its style. The text says the same without the colour. */
export function styled(text: string, style: Style): Markup {
  return CLASSES.has(style) ? html`<span class="${style}">${text}</span>` : html`${text}`
}

/** A cell of a table of the terminal. */
export function cellMarkup(cell: Cell): Markup {
  return typeof cell === 'string' ? html`${cell}` : styled(cell.text, cell.style)
}

/** Nothing stands in the cell. */
export function isBlank(cell: Cell): boolean {
  const text = typeof cell === 'string' ? cell : cell.text
  return text === '' || text === '-'
}
