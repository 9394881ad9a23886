import { visibleText } from '../../util/visible-text.ts'

/** Markup of a page. Only `html` makes it, so every text in it is escaped. */
export class Markup {
  readonly text: string

  private constructor(text: string) {
    this.text = text
  }

  /** The function behind `html`. */
  static readonly of = (strings: readonly string[], ...values: readonly MarkupValue[]): Markup => {
    let text = strings[0] ?? ''
    for (const [at, value] of values.entries()) text += textOf(value) + (strings[at + 1] ?? '')
    return new Markup(text)
  }
}

/** What `html` takes: markup stays as it is, everything else is escaped; `undefined` leaves nothing. */
export type MarkupValue = string | number | Markup | readonly Markup[] | undefined

/** Markup from a template: html`<b>${text}</b>`. Values in attributes stand in double quotes. */
export const html = Markup.of

function textOf(value: MarkupValue): string {
  if (value === undefined) return ''
  if (value instanceof Markup) return value.text
  if (typeof value === 'object') return value.map(({ text }) => text).join('')
  return escaped(String(value))
}

const SPECIAL = /[&<>"'`]/
const ALL_SPECIAL = new RegExp(SPECIAL, 'g')

/** The one way of a text into a page: control and bidirectional characters become visible, markup becomes text. */
export function escaped(text: string): string {
  const visible = visibleText(text)
  return SPECIAL.test(visible) ? visible.replace(ALL_SPECIAL, character => `&#${character.charCodeAt(0)};`) : visible
}

/** A text of several lines, for an element that keeps line breaks and tabs. */
export function multiline(text: string): Markup {
  const parts = text.split(/(\r\n|\r|\n|\t)/)
  return html`${parts.map((part, at) => (at % 2 === 0 ? html`${part}` : part === '\t' ? html`&#9;` : html`\n`))}`
}
