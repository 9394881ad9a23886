/**
 * The lines of a document as a screen of so many columns shows them. Most are lines of the text; those that are too long to
 * be followed, or all of them where nothing is to be cut, take several rows.
 */
export interface XmlLines {
  readonly total: number
  /** Which part of which line stands in a row. `from` 0 begins the line. */
  row(at: number): { readonly line: number; readonly from: number; readonly to: number }
}

/** Longer lines are broken, whatever the width. UTF-16 units. */
const LONG = 2_000

interface Known {
  readonly width: number
  readonly breaksAll: boolean
  readonly lines: XmlLines
}

const KNOWN = new WeakMap<readonly string[], Known>()

/** Made once for each text and width. Costs the text where lines are broken, else a look at each length. */
export function xmlLines(text: readonly string[], columns: number, breaksAll: boolean): XmlLines {
  const width = xmlColumns(text, columns)
  const known = KNOWN.get(text)
  if (known !== undefined && known.width === width && known.breaksAll === breaksAll) return known.lines
  const lines = text.some(line => isBroken(line, width, breaksAll))
    ? brokenLines(text, width, breaksAll)
    : { total: text.length, row: (at: number) => ({ line: at, from: 0, to: text[at]?.length ?? 0 }) }
  KNOWN.set(text, { width, breaksAll, lines })
  return lines
}

/** Columns of line numbers with the gap behind them. */
export function xmlGutter(text: readonly string[]): number {
  return Math.max(3, String(text.length).length) + 2
}

function xmlColumns(text: readonly string[], columns: number): number {
  return Math.max(4, columns - xmlGutter(text))
}

function isBroken(line: string, width: number, breaksAll: boolean): boolean {
  return line.length > (breaksAll ? width / 2 : LONG)
}

function brokenLines(text: readonly string[], width: number, breaksAll: boolean): XmlLines {
  const lines: number[] = []
  const starts: number[] = []
  text.forEach((line, at) => {
    const froms = isBroken(line, width, breaksAll) ? breaksOf(line, width) : [0]
    for (const from of froms) {
      lines.push(at)
      starts.push(from)
    }
  })
  return {
    total: lines.length,
    row(at) {
      const line = lines[at] ?? 0
      const from = starts[at] ?? 0
      return { line, from, to: lines[at + 1] === line ? (starts[at + 1] ?? 0) : (text[line]?.length ?? 0) }
    },
  }
}

const SIMPLE = /^[ -~]*$/

/** Where rows begin, so that none is wider: what is not ASCII is counted as wide as it can become. */
function breaksOf(line: string, width: number): number[] {
  const froms = [0]
  if (SIMPLE.test(line)) {
    for (let from = width; from < line.length; from += width) froms.push(from)
    return froms
  }
  let used = 0
  for (let at = 0; at < line.length; ) {
    const code = line.codePointAt(at) ?? 0
    const taken = mostColumns(code)
    if (used > 0 && used + taken > width) {
      froms.push(at)
      used = 0
    }
    used += taken
    at += code > 0xffff ? 2 : 1
  }
  return froms
}

/** Of controls, which are spelled out, and of wide characters. */
function mostColumns(code: number): number {
  if (code < 0x20 || (code > 0x7e && code < 0xa0) || (code >= 0x2000 && code < 0x2070)) return 8
  return code < 0x300 ? 1 : 2
}
