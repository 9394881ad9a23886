import type { World } from './context.ts'
import { heightOf } from './cursor.ts'
import { filterWords, searchable } from './lists/filter-words.ts'
import type { State } from './state.ts'
import { openStreamOf } from './subject.ts'
import { clamp, listOf, noted } from './transition.ts'
import { type XmlLines, xmlLines } from './xml-lines.ts'

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
