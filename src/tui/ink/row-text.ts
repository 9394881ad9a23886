import type { Row } from '../view/row.ts'
import type { Look, Theme } from '../view/theme.ts'
import { piecesOf } from './ansi-row.ts'

/**
 * A row as a terminal takes it: text with the escapes of its colours (SGR), nothing else. From one look to the next only what
 * differs is written and at the end nothing is left on, which is the form that Ink gives to such texts: it finds nothing to
 * change.
 */
export function rowText(row: Row, columns: number, theme: Theme): string {
  let line = ''
  let active: readonly Code[] = []
  for (const { text, look } of piecesOf(row, columns, theme)) {
    const wanted = codesOf(look)
    line += change(active, wanted) + text
    active = [...active.filter(code => wanted.includes(code)), ...wanted.filter(code => !active.includes(code))]
  }
  return line + change(active, [])
}

interface Code {
  readonly open: string
  readonly close: string
}

function change(from: readonly Code[], to: readonly Code[]): string {
  const gone = from.filter(code => !to.includes(code) && !to.some(other => replaces(other, code))).reverse()
  const fresh = to.filter(code => !from.includes(code))
  return [...gone.map(({ close }) => close), ...fresh.map(({ open }) => open)].join('')
}

/** One colour takes the place of another; bold and faint do not, though they end alike. */
function replaces(code: Code, other: Code): boolean {
  return code.close === other.close && code.close !== BOLD.close
}

const BOLD = sgr(1, 22)
const FAINT = sgr(2, 22)
const INVERSE = sgr(7, 27)

/** The 16 colours by Ink's names of them. */
const COLOURS: ReadonlyMap<string, Code> = new Map(
  ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'].flatMap((name, at) => [
    [name, sgr(30 + at, 39)],
    [`${name}Bright`, sgr(90 + at, 39)],
  ]),
)

function sgr(open: number, close: number): Code {
  return { open: `\x1b[${open}m`, close: `\x1b[${close}m` }
}

/** The same look is asked for again and again. */
const CODES = new WeakMap<Look, readonly Code[]>()

function codesOf(look: Look): readonly Code[] {
  let codes = CODES.get(look)
  if (codes === undefined) {
    const colour = COLOURS.get(look.color ?? '')
    codes = [look.bold && BOLD, look.dimColor && FAINT, look.inverse && INVERSE, colour].filter(code => !!code)
    CODES.set(look, codes)
  }
  return codes
}
