/** The roles that colour marks. Colour never carries a meaning alone: a word stands beside it. */
export type Style = 'plain' | 'good' | 'bad' | 'warn' | 'active' | 'dim' | 'strong' | 'mark' | Hue

/** Puts a colour around a text, or nothing where colours are off. */
export type Paint = (style: Style, text: string) => string

/** A run of text in one look. */
export type StyledPiece = readonly [text: string, style: Style]

/** The pieces in one line; plain ones stay as they are. */
export function painted(pieces: readonly StyledPiece[], paint: Paint): string {
  return pieces.map(([text, style]) => (style === 'plain' ? text : paint(style, text))).join('')
}

/** No colours. */
export const noPaint: Paint = (_style, text) => text

/** Colours that tell things apart and mean nothing else. */
export const HUES = ['hue1', 'hue2', 'hue3', 'hue4', 'hue5', 'hue6', 'hue7', 'hue8'] as const
export type Hue = (typeof HUES)[number]

/** The colour of a name: the same in every run. */
export function hueOf(name: string): Hue {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0
  return HUES[(hash >>> 0) % HUES.length] ?? HUES[0]
}
