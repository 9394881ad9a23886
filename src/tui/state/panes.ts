import type { OpenStream, TreeNode } from '../data/types.ts'
import type { World } from './context.ts'
import { cursorIndex, heightOf, movedBy, movedToKey, openStreamOf, streamUnderCursor } from './cursor.ts'
import { filterWords, searchable } from './lists/rows.ts'
import type { Screen, State } from './state.ts'
import { clamp, FRESH_LIST, listOf, noted, only, type Transition, withList } from './transition.ts'

/** The XML is scrolled: it has no cursor. */
export function isScrolled({ screen, pane }: Pick<State, 'screen' | 'pane'>): boolean {
  return screen === 'stream' && pane === 'xml'
}

/** The XML scrolled to this row, as far as it goes. */
export function scrolledTo(state: State, world: World, top: number): State {
  const paneTop = clamp(top, 0, Math.max(0, linesOf(state, world).total - roomOf(state, world)))
  return paneTop === state.paneTop ? state : { ...state, paneTop }
}

/** To the next line of the XML that passes the filter, or to the one before, beyond the ends too. */
export function matchedLine(state: State, world: World, by: 1 | -1): State {
  const words = filterWords(listOf(state).filter)
  if (words.isEmpty) return noted(state, world, 'no filter: / sets one')
  const text = openStreamOf(state, world)?.text ?? []
  const { total, row } = linesOf(state, world)
  let isThere = false
  for (let step = 1; step <= total; step++) {
    const at = (state.paneTop + by * step + total) % total
    const { line, from } = row(at)
    if (from > 0 || !words.accepts(searchable([text[line] ?? '']))) continue
    isThere = true
    const next = scrolledTo(state, world, at)
    // Near the end several matches are seen at once: then on to one that is not.
    if (next !== state) return next
  }
  return isThere ? state : noted(state, world, 'no line matches the filter')
}

function linesOf(state: State, world: World): XmlLines {
  return xmlLines(openStreamOf(state, world)?.text ?? NO_TEXT, state.size.columns, state.isWide)
}

const NO_TEXT: readonly string[] = []

/** Why a document cannot be read stands above it. */
function roomOf(state: State, world: World): number {
  return heightOf(state) - (openStreamOf(state, world)?.presence === 'unreadable' ? 1 : 0)
}

/**
 * The lines of a document as a screen of so many columns shows them. Most are lines of the text; those that are too long to
 * be followed, or all of them where nothing is to be cut, take several rows.
 */
interface XmlLines {
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

/** `h`: folds what is below the cursor; where nothing is, or it is folded, goes to what is above. */
export function foldedOrUp(state: State, world: World): State {
  const place = placeOf(state, world)
  if (place === undefined) return state
  if (isParent(place) && !state.folded.has(place.node.key)) return toggled(state, place.node)
  return movedToKey(state, world, parentOf(place)?.key)
}

/** `l`: unfolds what is below the cursor, or goes to the first row of it. */
export function unfoldedOrDown(state: State, world: World): State {
  const place = placeOf(state, world)
  if (place === undefined || !isParent(place)) return state
  if (state.folded.has(place.node.key)) return toggled(state, place.node)
  const next = world.listing.keys[cursorIndex(state, world) + 1]
  const isBelow = place.open.nodes.slice(place.at + 1, place.node.end).some(({ key }) => key === next)
  return isBelow ? movedBy(state, world, 1) : state
}

/** `enter`: folds or unfolds. */
export function foldToggled(state: State, world: World): State {
  const place = placeOf(state, world)
  return place !== undefined && isParent(place) ? toggled(state, place.node) : state
}

interface Place {
  readonly open: OpenStream
  readonly at: number
  readonly node: TreeNode
}

function placeOf(state: State, world: World): Place | undefined {
  const open = openStreamOf(state, world)
  const key = world.listing.keys[cursorIndex(state, world)]
  const at = open?.nodes.findIndex(node => node.key === key) ?? -1
  const node = open?.nodes[at]
  return open !== undefined && node !== undefined ? { open, at, node } : undefined
}

function isParent({ node, at }: Place): boolean {
  return node.end > at + 1
}

function parentOf({ open, at, node }: Place): TreeNode | undefined {
  for (let above = at - 1; above >= 0; above--) {
    const candidate = open.nodes[above]
    if (candidate !== undefined && candidate.depth < node.depth) return candidate
  }
  return undefined
}

function toggled(state: State, { key }: TreeNode): State {
  const folded = new Set(state.folded)
  if (!folded.delete(key)) folded.add(key)
  return { ...state, folded }
}

/** To another of the five screens. A frozen picture is one of what was seen: it ends here. */
export function shown(state: State, world: World, screen: Screen): State {
  if (screen === state.screen) return state
  if (screen !== 'stream') return thawed({ ...state, screen })
  if (state.stream === '') return noted(state, world, 'no stream was opened yet: enter opens the one under the cursor')
  return thawed({ ...state, screen, cameFrom: state.screen === 'stream' ? state.cameFrom : state.screen })
}

/** Opens the stream of the row under the cursor. Cursor and folds of the one that was open last are kept. */
export function opened(state: State, world: World, pane: State['pane']): State {
  const stream = streamUnderCursor(state, world)
  if (stream === undefined || state.screen === 'stream') return state
  const isSame = stream === state.stream
  const fresh = { ...state, lists: { ...state.lists, stream: FRESH_LIST }, folded: new Set<string>(), paneTop: 0 }
  const there = isSame ? inPane(state, pane) : { ...fresh, pane }
  return thawed({ ...there, stream, screen: 'stream', cameFrom: state.screen })
}

/** Timeline or XML and back to the tree; on other screens that of the stream under the cursor. */
export function paneToggled(state: State, world: World, pane: 'timeline' | 'xml'): State {
  if (state.screen !== 'stream') return opened(state, world, pane)
  return inPane(state, state.pane === pane ? 'tree' : pane)
}

/** `esc`: clears the filter, then leaves the pane, then the stream. */
export function back(state: State): Transition {
  const { filter, moves } = listOf(state)
  if (filter !== '') return only(withList(state, { filter: '', moves: moves + 1 }))
  if (state.screen !== 'stream') return only(state)
  if (state.pane !== 'tree') return only(inPane(state, 'tree'))
  return only(thawed({ ...state, screen: state.cameFrom ?? 'streams' }))
}

function inPane(state: State, pane: State['pane']): State {
  return pane === state.pane ? state : { ...state, pane, paneTop: 0 }
}

function thawed(state: State): State {
  return { ...state, frozen: undefined }
}
