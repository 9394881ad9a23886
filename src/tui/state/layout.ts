import type { Dialog, Screen, Size, State } from './state.ts'

/** Distribution of the screen's rows; from the top: head, list, detail, tail, foot. */
export interface ScreenLayout {
  /** Room for a list and one line only: below 40 columns or 10 rows. */
  readonly isTiny: boolean
  /**
   * Title, line of health, rule; with a stream its own line, on low screens in place of that of health. The title alone
   * on a tiny screen.
   */
  readonly head: number
  /** Rows of the list, its column titles included. */
  readonly body: number
  /** Rows of column titles inside the body. */
  readonly titles: number
  /** Columns of the pane of details beside the list, its line included; 0 if the details are below it, or absent. */
  readonly side: number
  /** Panes below the list, rules included; 0 if absent. */
  readonly detail: number
  readonly tail: number
  /** The line of keys, or the prompt. */
  readonly foot: number
}

/** Narrower screens have no panes. */
export const PANES_COLUMNS = 72
/** Lower screens have no panes either. */
export const PANES_ROWS = 16
/** Wider trees have their details beside them. */
const SIDE_COLUMNS = 150
/** Narrower screens drop the less important columns. */
export const WIDE_COLUMNS = 100

/** The layout for a screen size. A screen too small for everything shows the list. */
export function layoutOf({
  size,
  screen,
  pane,
  isDetailOpen,
}: Pick<State, 'size' | 'screen' | 'pane' | 'isDetailOpen'>): ScreenLayout {
  const isTiny = size.columns < 40 || size.rows < 10
  const head = isTiny ? Math.min(1, Math.max(0, size.rows - 1)) : screen === 'stream' && size.rows >= PANES_ROWS ? 4 : 3
  const foot = size.rows > head + 1 ? 1 : 0
  const free = Math.max(0, size.rows - head - foot)
  const titles = isTiny || (screen === 'stream' && pane === 'xml') ? 0 : 1
  const { side, detail, tail } = isTiny ? NO_PANES : panesOf(screen, pane, isDetailOpen, size, free)
  return { isTiny, head, body: free - detail - tail, titles, side, detail, tail, foot }
}

const NO_PANES = { side: 0, detail: 0, tail: 0 }

function panesOf(screen: Screen, pane: State['pane'], isDetailOpen: boolean, size: Size, free: number) {
  if (size.columns < PANES_COLUMNS || size.rows < PANES_ROWS) return NO_PANES
  if (screen === 'stream' && pane === 'tree') {
    const tail = Math.min(9, Math.max(3, Math.floor(free / 5)))
    if (size.columns >= SIDE_COLUMNS) {
      return { side: Math.floor(size.columns * (isDetailOpen ? 0.55 : 0.4)), detail: 0, tail }
    }
    return { side: 0, detail: isDetailOpen ? Math.min(16, Math.floor(free / 2)) : standing(free), tail }
  }
  if (screen === 'watchdog' || screen === 'stream') return NO_PANES
  if (isDetailOpen) return { side: 0, detail: Math.min(12, Math.floor(free / 2)), tail: 0 }
  return screen === 'streams' ? { side: 0, detail: standing(free), tail: 0 } : NO_PANES
}

/** Rows of the pane while no details are open: on a high screen the first lines of a message fit. */
function standing(free: number): number {
  return Math.max(3, Math.min(6, Math.floor(free / 7)))
}

/** Rows of the list itself. */
export function listHeight(layout: ScreenLayout): number {
  return Math.max(0, layout.body - layout.titles)
}

/** All details are shown, to be scrolled, searched and read: beside a tree they always are. */
export function isDetailRead(state: Pick<State, 'size' | 'screen' | 'pane' | 'isDetailOpen'>): boolean {
  return state.isDetailOpen || layoutOf(state).side > 0
}

/** Columns and rows of the pane of details; no rows if it is absent. */
export function detailSize(state: Pick<State, 'size' | 'screen' | 'pane' | 'isDetailOpen'>): Size {
  const { side, body, detail } = layoutOf(state)
  return side > 0 ? { columns: side - 1, rows: body } : { columns: state.size.columns, rows: detail }
}

/** First row of the window, with the cursor `offset` rows below it if the list allows. */
export function windowTop(index: number, offset: number, height: number, total: number): number {
  const inside = Math.min(Math.max(0, offset), Math.max(0, height - 1))
  return Math.max(0, Math.min(index - inside, total - height))
}

/** Rows available to a dialog: all except the title and the last line. */
export function dialogHeight(size: Size, _dialog: Dialog): number {
  return Math.max(1, size.rows - 2)
}
