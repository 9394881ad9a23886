import type { Cell, Colour } from '../../test/unit/tui/support/terminal.ts'

/** The sixteen theme colours of a terminal with a dark background. */
const THEME: readonly string[] = [
  '#1b1f27',
  '#e06c75',
  '#8ec07c',
  '#e5c07b',
  '#61afef',
  '#c678dd',
  '#56b6c2',
  '#d4d8df',
  '#7f8896',
  '#ff7b86',
  '#a5d68f',
  '#f2d38f',
  '#82c4ff',
  '#dc9cf0',
  '#74d4df',
  '#ffffff',
]

export const BACKGROUND = '#14171d'
const FOREGROUND = '#d4d8df'

/** Colours of a cell. `background`: undefined for that of the screen. */
export interface CellLook {
  readonly colour: string
  readonly background: string | undefined
  readonly isBold: boolean
}

export function lookOfCell({ foreground, background, bold, dim, inverse }: Cell): CellLook {
  const front = dim ? dimmed(colourOf(foreground, FOREGROUND)) : colourOf(foreground, FOREGROUND)
  const back = colourOf(background, BACKGROUND)
  const [colour, behind] = inverse ? [back, front] : [front, back]
  return { colour, background: behind === BACKGROUND ? undefined : behind, isBold: bold }
}

/** Halfway to the background. */
function dimmed(colour: string): string {
  const part = (at: number, of: string) => Number.parseInt(of.slice(at, at + 2), 16)
  const mixed = [1, 3, 5].map(at => Math.round(part(at, colour) * 0.58 + part(at, BACKGROUND) * 0.42))
  return `#${mixed.map(value => value.toString(16).padStart(2, '0')).join('')}`
}

function colourOf(colour: Colour, own: string): string {
  if (typeof colour === 'string') return colour
  return colour === undefined ? own : (THEME[colour] ?? cubeColour(colour))
}

/** The 256 colours after those of the theme: a cube of 6 × 6 × 6 and a ramp of greys. */
function cubeColour(index: number): string {
  const hex = (value: number) => value.toString(16).padStart(2, '0')
  if (index >= 232) return `#${hex(8 + (index - 232) * 10).repeat(3)}`
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40)
  const at = index - 16
  return `#${[Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map(value => hex(level(value))).join('')}`
}
