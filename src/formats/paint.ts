/** The roles that colour marks. Colour never carries a meaning alone: a word stands beside it. */
export type Style = 'plain' | 'good' | 'bad' | 'warn' | 'active' | 'dim' | 'strong'

/** Puts a colour around a text, or nothing where colours are off. */
export type Paint = (style: Style, text: string) => string

/** No colours. */
export const noPaint: Paint = (_style, text) => text
