import { pad } from '../../formats/terminal/width.ts'
import { cached } from '../cached.ts'
import type { ScreenRow, StyledText } from '../view/row.ts'
import { type TextStyle, type Theme, textStyleOf } from '../view/theme.ts'

/** A run of text in one style, as drawn. */
export interface AnsiRun {
  readonly text: string
  readonly style: TextStyle
}

/** A row in as few runs as possible: the cost is per run, hardly per character. */
export function piecesOf(row: ScreenRow, columns: number, theme: Theme): readonly AnsiRun[] {
  const plain = (spans: readonly StyledText[]) => merged(spans, (_text, style) => textStyleOf(theme, style))
  if (row.highlight === undefined) return plain(row.spans)
  if (row.highlightedSpans !== undefined) {
    const { spans, highlight, highlightedSpans: count } = row
    return [...piecesOf({ spans: spans.slice(0, count), highlight }, 0, theme), ...plain(spans.slice(count))]
  }
  const text = row.spans.map(([text]) => text).join('')
  if (row.highlight === 'faint') return text === '' ? [] : [{ text, style: FAINT }]
  const rest = pad(text, columns).slice(text.length)
  return merged([...row.spans.flatMap(barThenBlanks), [rest, 'plain']], (text, style) => {
    if (isBar(text)) return textStyleOf(theme, style)
    return style === 'mark' ? MARKED_CURSOR : CURSOR
  })
}

/** Bars keep their colours under the cursor: inverted they would be gaps. */
function isBar(text: string): boolean {
  return /^[▁-█▌░ ]*[▁-█▌░][▁-█▌░ ]*$/.test(text)
}

/** A bar without the blanks that follow it: under the cursor they look like the rest of the row. */
function barThenBlanks(span: StyledText): readonly StyledText[] {
  const [text, style] = span
  if (!isBar(text)) return [span]
  const bar = text.trimEnd()
  const blanks = text.slice(bar.length)
  return [
    [bar, style],
    [blanks, 'plain'],
  ]
}

/** True if both rows look the same. */
export function sameRow(a: ScreenRow, b: ScreenRow): boolean {
  if (a === b) return true
  const isSameLook = a.highlight === b.highlight && a.highlightedSpans === b.highlightedSpans
  return isSameLook && a.spans.length === b.spans.length && a.spans.every(sameSpanIn(b))
}

/** One style for the whole row: inverted colours side by side would be patches of background. */
const CURSOR: TextStyle = { inverse: true }
/** Marked text stands out by its weight alone. */
const MARKED_CURSOR: TextStyle = { inverse: true, bold: true }
const FAINT: TextStyle = { dimColor: true }

function merged(spans: readonly StyledText[], styleFor: (...span: StyledText) => TextStyle): readonly AnsiRun[] {
  const pieces: { text: string; style: TextStyle }[] = []
  for (const span of spans) {
    const [text] = span
    const style = styleFor(...span)
    const last = pieces.at(-1)
    if (text === '') continue
    if (last !== undefined && (sameStyle(last.style, style) || isInvisible(text, style, last.style))) last.text += text
    else pieces.push({ text, style })
  }
  return pieces
}

/** Blanks have no visible colour: they join the run before them. */
function isInvisible(text: string, style: TextStyle, before: TextStyle): boolean {
  return style.inverse === undefined && before.inverse === undefined && /^ +$/.test(text)
}

function sameStyle(a: TextStyle, b: TextStyle): boolean {
  return a === b || (a.color === b.color && a.bold === b.bold && a.dimColor === b.dimColor && a.inverse === b.inverse)
}

function sameSpanIn(row: ScreenRow): (span: StyledText, at: number) => boolean {
  return (span, at) => {
    const other = row.spans[at]
    return other === span || (other !== undefined && other[0] === span[0] && other[1] === span[1])
  }
}

/**
 * A row as terminal output: text with colour escapes (SGR) only. Between runs only the difference is written, and the
 * end resets everything. Ink normalises texts to this form, so it finds nothing to change.
 */
export function rowText(row: ScreenRow, columns: number, theme: Theme): string {
  let line = ''
  let active: readonly Code[] = []
  for (const { text, style } of piecesOf(row, columns, theme)) {
    const wanted = codesOf(style)
    line += switchCodes(active, wanted) + text
    active = [...active.filter(code => wanted.includes(code)), ...wanted.filter(code => !active.includes(code))]
  }
  return line + switchCodes(active, [])
}

interface Code {
  readonly open: string
  readonly close: string
}

function switchCodes(from: readonly Code[], to: readonly Code[]): string {
  const gone = from.filter(code => !to.includes(code) && !to.some(other => replaces(other, code))).reverse()
  const fresh = to.filter(code => !from.includes(code))
  return [...gone.map(({ close }) => close), ...fresh.map(({ open }) => open)].join('')
}

/** One colour replaces another; bold and faint do not, though they share a closing code. */
function replaces(code: Code, other: Code): boolean {
  return code.close === other.close && code.close !== BOLD.close
}

const BOLD = sgr(1, 22)
const FAINT_CODE = sgr(2, 22)
const INVERSE = sgr(7, 27)

/** The 16 colours by their Ink names. */
const COLOURS: ReadonlyMap<string, Code> = new Map(
  ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'].flatMap((name, at) => [
    [name, sgr(30 + at, 39)],
    [`${name}Bright`, sgr(90 + at, 39)],
  ]),
)

function sgr(open: number, close: number): Code {
  return { open: `\x1b[${open}m`, close: `\x1b[${close}m` }
}

/** Frames repeat the same styles. */
const codesOf = cached((style: TextStyle): readonly Code[] => {
  const colour = COLOURS.get(style.color ?? '')
  return [style.bold && BOLD, style.dimColor && FAINT_CODE, style.inverse && INVERSE, colour].filter(code => !!code)
})
