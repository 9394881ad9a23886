/** Roles that colour marks. Colour is never the only sign: a word stands next to it. */
export type Style = 'plain' | 'good' | 'bad' | 'warn' | 'active' | 'dim' | 'strong' | 'mark' | Hue

/** Glyph and colour of a status. Each identifies the status without the others. */
export interface StatusStyle {
  readonly glyph: string
  readonly style: Style
}

const STATUS_STYLES: { readonly [status: string]: StatusStyle } = {
  init: { glyph: '○', style: 'plain' },
  ready: { glyph: '○', style: 'plain' },
  inprocess: { glyph: '▶', style: 'active' },
  running: { glyph: '▶', style: 'active' },
  waiting: { glyph: '◷', style: 'dim' },
  suspended: { glyph: '‖', style: 'warn' },
  overdue: { glyph: '!', style: 'warn' },
  abandoned: { glyph: '◌', style: 'warn' },
  completed: { glyph: '✓', style: 'good' },
  aborted: { glyph: '✗', style: 'bad' },
  canceled: { glyph: '⊘', style: 'warn' },
}

const UNKNOWN: StatusStyle = { glyph: '?', style: 'warn' }

/** Glyph and colour of a status or state; unknown ones get a question mark. */
export function styleOf(status: string): StatusStyle {
  return Object.hasOwn(STATUS_STYLES, status) ? (STATUS_STYLES[status] ?? UNKNOWN) : UNKNOWN
}

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

export type ColourChoice = 'auto' | 'always' | 'never'

/**
 * Whether output to a stream is coloured. The first of these decides: the flag, `NO_COLOR`, `FORCE_COLOR`, `TERM=dumb`,
 * whether the stream is a terminal. An empty `NO_COLOR` does not count (https://no-color.org).
 */
export function hasColour(
  choice: ColourChoice,
  env: Readonly<Record<string, string | undefined>>,
  isTty: boolean,
): boolean {
  if (choice !== 'auto') return choice === 'always'
  if (env.NO_COLOR) return false
  const forced = env.FORCE_COLOR
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false'
  return env.TERM !== 'dumb' && isTty
}

/**
 * The colours of a stream, from the 16 that follow the theme of the user. chalk does not decide whether to colour: it
 * ignores `NO_COLOR`.
 */
export async function paintFor(coloured: boolean): Promise<Paint> {
  if (!coloured) return noPaint
  const { Chalk } = await import('chalk')
  const chalk = new Chalk({ level: 1 })
  return (style, text) => {
    switch (style) {
      case 'plain':
        return text
      case 'good':
        return chalk.green(text)
      case 'bad':
        return chalk.red(text)
      case 'warn':
        return chalk.yellow(text)
      case 'active':
        return chalk.cyan(text)
      case 'dim':
        return chalk.dim(text)
      case 'strong':
        return chalk.bold(text)
      case 'mark':
        return chalk.inverse(text)
      case 'hue1':
        return chalk.cyan(text)
      case 'hue2':
        return chalk.magenta(text)
      case 'hue3':
        return chalk.blue(text)
      case 'hue4':
        return chalk.green(text)
      case 'hue5':
        return chalk.yellow(text)
      case 'hue6':
        return chalk.bold.cyan(text)
      case 'hue7':
        return chalk.bold.magenta(text)
      case 'hue8':
        return chalk.bold.blue(text)
      default:
        return style satisfies never
    }
  }
}
