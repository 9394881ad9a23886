/** The roles that colour marks. Colour never carries a meaning alone: a word stands beside it. */
export type Style = 'plain' | 'good' | 'bad' | 'warn' | 'active' | 'dim' | 'strong' | 'mark' | Hue

/** Puts a colour around a text, or nothing where colours are off. */
export type Paint = (style: Style, text: string) => string

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
