import type { ScreenContext } from './context.ts'
import { cursorKey, heightOf, openStreamOf, streamUnderCursor } from './cursor.ts'
import { filterWords, searchable } from './lists/rows.ts'
import { openingFrom, withOpening } from './opening.ts'
import type { Screen, State } from './state.ts'
import { clamp, FRESH_LIST, listOf, only, type Transition, withList, withNotice } from './transition.ts'

/** The XML is scrolled: it has no cursor. */
export function isScrolled({ screen, pane }: Pick<State, 'screen' | 'pane'>): boolean {
  return screen === 'stream' && pane === 'xml'
}

/** Scrolls the XML to this row, within the text. */
export function scrollTo(state: State, context: ScreenContext, top: number): State {
  const paneTop = clamp(top, 0, Math.max(0, linesOf(state, context).total - roomOf(state, context)))
  return paneTop === state.paneTop ? state : { ...state, paneTop }
}

/** To the next or previous line of the XML that matches the filter, wrapping around. */
export function goToMatchingLine(state: State, context: ScreenContext, by: 1 | -1): State {
  const words = filterWords(listOf(state).filter)
  if (words.isEmpty) return withNotice(state, context, 'no filter: / sets one')
  const text = openStreamOf(state, context)?.text ?? []
  const { total, row } = linesOf(state, context)
  let isThere = false
  for (let step = 1; step <= total; step++) {
    const at = (state.paneTop + by * step + total) % total
    const { line, from } = row(at)
    if (from > 0 || !words.accepts(searchable([text[line] ?? '']))) continue
    isThere = true
    const next = scrollTo(state, context, at)
    // Near the end several matches are visible at once: continue to one that is not.
    if (next !== state) return next
  }
  return isThere ? state : withNotice(state, context, 'no line matches the filter')
}

function linesOf(state: State, context: ScreenContext): XmlLines {
  return xmlLines(openStreamOf(state, context)?.text ?? NO_TEXT, state.size.columns, state.isWide)
}

const NO_TEXT: readonly string[] = []

/** The reason why a document cannot be read takes a row above it. */
function roomOf(state: State, context: ScreenContext): number {
  return heightOf(state) - (openStreamOf(state, context)?.presence === 'unreadable' ? 1 : 0)
}

/**
 * The lines of a document laid out for a screen width. Most rows are lines of the text; overlong lines, or in the wide
 * form all long ones, take several rows.
 */
interface XmlLines {
  readonly total: number
  /** The part of a line that is in a row. `from` is 0 at the start of a line. */
  row(at: number): { readonly line: number; readonly from: number; readonly to: number }
}

/** Longer lines are always broken. UTF-16 units. */
const LONG = 2_000

interface CachedLines {
  readonly width: number
  readonly breaksAll: boolean
  readonly lines: XmlLines
}

const KNOWN = new WeakMap<readonly string[], CachedLines>()

/** Cached per text and width. Costs one pass over the text if lines are broken, else over the line lengths. */
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

/** Columns of the line numbers and the gap after them. */
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

/** Start offsets of the rows, so that none is too wide: characters outside ASCII count with their greatest width. */
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

/** Greatest width of a character: controls are spelled out, other characters may be wide. */
function mostColumns(code: number): number {
  if (code < 0x20 || (code > 0x7e && code < 0xa0) || (code >= 0x2000 && code < 0x2070)) return 8
  return code < 0x300 ? 1 : 2
}

/** Switches to another screen, which unfreezes the display. */
export function showScreen(state: State, context: ScreenContext, screen: Screen): State {
  if (screen === state.screen) return state
  if (screen !== 'stream') return unfreeze({ ...state, screen })
  if (state.stream === '')
    return withNotice(state, context, 'no stream is open yet: enter opens the one under the cursor')
  return unfreeze({ ...state, screen, cameFrom: state.screen === 'stream' ? state.cameFrom : state.screen })
}

/**
 * Opens the stream of the row under the cursor, on the event that the screen is about. Reopening the last stream keeps its
 * cursor, and folds are kept by the name of their stream.
 */
export function openStream(state: State, context: ScreenContext, pane: State['pane']): State {
  const stream = streamUnderCursor(state, context)
  if (stream === undefined || state.screen === 'stream') return state
  const isSame = stream === state.stream
  const opening = openingFrom(state, context, cursorKey(state, context) ?? '')
  const fresh = {
    ...withFoldsOf(state, stream),
    lists: { ...state.lists, stream: FRESH_LIST },
    zoom: undefined,
    paneTop: 0,
  }
  const there = isSame ? withPane(state, pane) : { ...fresh, pane }
  const next = unfreeze({ ...there, stream, screen: 'stream', cameFrom: state.screen, opening })
  return withOpening(next, context)
}

/** Streams whose folds are remembered. */
const MOST_KEPT = 50

function withFoldsOf(state: State, stream: string): State {
  const { folded, openGroups } = state
  const kept = new Map(state.keptFolds)
  kept.delete(state.stream)
  if (folded.size + openGroups.size > 0) kept.set(state.stream, { folded, openGroups })
  const [oldest] = kept.keys()
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
  return { ...state, ...(kept.get(stream) ?? NO_FOLDS), keptFolds: kept }
}

const NO_FOLDS = { folded: new Set<string>(), openGroups: new Set<string>() }

/** Toggles timeline or XML; on other screens, opens that pane of the stream under the cursor. */
export function togglePane(state: State, context: ScreenContext, pane: 'timeline' | 'xml'): State {
  if (state.screen !== 'stream') return openStream(state, context, pane)
  return withPane(state, state.pane === pane ? 'tree' : pane)
}

/** `F`: only what is broken, or all again. */
export function withOnlyBroken(state: State, onlyBroken: boolean): State {
  return withList(state, { onlyBroken, moves: listOf(state).moves + 1 })
}

/** `esc`: clears the filter, then `F`, then leaves the pane, then the stream. */
export function back(state: State): Transition {
  const { filter, onlyBroken, moves } = listOf(state)
  if (filter !== '') return only(withList(state, { filter: '', moves: moves + 1 }))
  if (onlyBroken) return only(withOnlyBroken(state, false))
  if (state.screen !== 'stream') return only(state)
  if (state.pane !== 'tree') return only(withPane(state, 'tree'))
  return only(unfreeze({ ...state, screen: state.cameFrom ?? 'streams' }))
}

function withPane(state: State, pane: State['pane']): State {
  return pane === state.pane ? state : { ...state, pane, paneTop: 0 }
}

function unfreeze(state: State): State {
  return { ...state, frozen: undefined }
}
