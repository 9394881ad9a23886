/** Roles that colour marks. Colour is never the only sign: a word stands next to it. */
export type Style = 'plain' | 'good' | 'bad' | 'warn' | 'active' | 'dim' | 'strong' | 'mark' | Hue

/** Colours a text, or returns it unchanged where colours are off. */
export type Paint = (style: Style, text: string) => string

/** A text with its style. */
export type StyledPiece = readonly [text: string, style: Style]

/** The pieces as one line; plain ones are not painted. */
export function painted(pieces: readonly StyledPiece[], paint: Paint): string {
  return pieces.map(([text, style]) => (style === 'plain' ? text : paint(style, text))).join('')
}

/** No colours. */
export const noPaint: Paint = (_style, text) => text

/** Colours that distinguish things and have no other meaning. */
export const HUES = ['hue1', 'hue2', 'hue3', 'hue4', 'hue5', 'hue6', 'hue7', 'hue8'] as const
export type Hue = (typeof HUES)[number]

/** The colour of a name: the same in every run. */
export function hueOf(name: string): Hue {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0
  return HUES[(hash >>> 0) % HUES.length] ?? HUES[0]
}
