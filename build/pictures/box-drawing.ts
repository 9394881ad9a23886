interface CellSize {
  readonly width: number
  readonly height: number
}

/** Sides of a cell to which a line goes from its centre. */
type Side = 'up' | 'down' | 'left' | 'right'

const LINES: { readonly [character: string]: readonly Side[] } = {
  '─': ['left', 'right'],
  '│': ['up', 'down'],
  '├': ['up', 'down', 'right'],
  '┤': ['up', 'down', 'left'],
  '└': ['up', 'right'],
  '┌': ['down', 'right'],
  '┐': ['down', 'left'],
  '┘': ['up', 'left'],
  '┬': ['left', 'right', 'down'],
  '┴': ['left', 'right', 'up'],
  '┼': ['up', 'down', 'left', 'right'],
}

/** Eighths of a cell that a block fills from below. */
const BLOCKS = '▁▂▃▄▅▆▇█'
const SHADES: { readonly [character: string]: number } = { '░': 0.25, '▒': 0.45, '▓': 0.7 }

/** Lines and blocks drawn from edge to edge, as in terminals, because those of a font leave gaps. `undefined` for any other text. */
export function strokesOf(text: string, x: number, y: number, cell: CellSize, colour: string): string | undefined {
  const sides = LINES[text]
  if (sides !== undefined) return line(sides, x, y, cell, colour)
  const eighths = text.length === 1 ? BLOCKS.indexOf(text) + 1 : 0
  if (eighths > 0) return block(x, y, cell, eighths / 8, colour, 1)
  const shade = SHADES[text]
  return shade === undefined ? undefined : block(x, y, cell, 1, colour, shade)
}

function line(sides: readonly Side[], x: number, y: number, { width, height }: CellSize, colour: string): string {
  const middle = { x: round(x + width / 2), y: y + height / 2 }
  const ends: { readonly [Of in Side]: string } = {
    up: `V${round(y)}`,
    down: `V${round(y + height)}`,
    left: `H${round(x - 0.1)}`,
    right: `H${round(x + width + 0.1)}`,
  }
  const path = sides.map(side => `M${middle.x} ${middle.y}${ends[side]}`).join('')
  return `<path d="${path}" stroke="${colour}" stroke-width="1.2" fill="none"/>`
}

function block(
  x: number,
  y: number,
  { width, height }: CellSize,
  share: number,
  colour: string,
  opacity: number,
): string {
  const high = round(height * share)
  const seen = opacity === 1 ? '' : ` fill-opacity="${opacity}"`
  const size = `width="${round(width)}" height="${high}"`
  return `<rect x="${round(x)}" y="${round(y + height - high)}" ${size} fill="${colour}"${seen} shape-rendering="crispEdges"/>`
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
