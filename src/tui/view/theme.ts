import type { Style } from '../../formats/terminal/style.ts'

/** `mono` has no colours: glyphs and words suffice. */
export type Theme = 'dark' | 'light' | 'mono'

/** Drawing style of a text, as properties of an Ink `Text`. */
export interface TextStyle {
  readonly color?: string
  readonly bold?: boolean
  readonly dimColor?: boolean
  readonly inverse?: boolean
}

export interface ThemeHints {
  /** The variable `COLORFGBG`: `15;0`, sometimes `0;default;15`. The last is the background, one of 16 colours. */
  readonly colorFgBg?: string | undefined
  readonly hasColour: boolean
}

/** The requested theme; `auto` is `dark` unless the terminal reports a light background. */
export function themeFor(choice: 'auto' | Theme, hints: ThemeHints): Theme {
  if (!hints.hasColour) return 'mono'
  if (choice !== 'auto') return choice
  const background = Number(hints.colorFgBg?.split(';').at(-1) || Number.NaN)
  return background === 7 || (background > 8 && background <= 15) ? 'light' : 'dark'
}

/**
 * The drawing style of a role. Only the 16 colours that the terminal itself defines. Returns the same object each time.
 */
export function textStyleOf(theme: Theme, style: Style): TextStyle {
  return PALETTES[theme][style]
}

type Palette = { readonly [Of in Style]: TextStyle }

/**
 * For readers who cannot distinguish red and green, weight and brightness separate bad from good, next to a glyph and a
 * word.
 */
const DARK: Palette = {
  plain: {},
  good: { color: 'green' },
  bad: { color: 'redBright', bold: true },
  warn: { color: 'yellow' },
  active: { color: 'cyanBright' },
  dim: { dimColor: true },
  strong: { bold: true },
  mark: { inverse: true },
  hue1: { color: 'cyan' },
  hue2: { color: 'magenta' },
  hue3: { color: 'blueBright' },
  hue4: { color: 'green' },
  hue5: { color: 'yellow' },
  hue6: { color: 'cyan', bold: true },
  hue7: { color: 'magenta', bold: true },
  hue8: { color: 'blueBright', bold: true },
}

/** Yellow and cyan are hard to read on white. */
const LIGHT: Palette = {
  ...DARK,
  bad: { color: 'red', bold: true },
  warn: { color: 'magenta' },
  active: { color: 'blue' },
  hue1: { color: 'blue' },
  hue3: { color: 'red' },
  hue5: { color: 'blackBright' },
  hue6: { color: 'blue', bold: true },
  hue8: { color: 'red', bold: true },
}

const MONO: Palette = {
  plain: {},
  good: {},
  bad: { bold: true },
  warn: { bold: true },
  active: { bold: true },
  dim: { dimColor: true },
  strong: { bold: true },
  mark: { inverse: true },
  hue1: {},
  hue2: {},
  hue3: {},
  hue4: {},
  hue5: {},
  hue6: {},
  hue7: {},
  hue8: {},
}

const PALETTES: { readonly [Of in Theme]: Palette } = { dark: DARK, light: LIGHT, mono: MONO }
