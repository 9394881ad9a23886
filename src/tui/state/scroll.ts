import { helpLayout } from './help.ts'
import { dialogHeight } from './layout.ts'
import type { Dialog, KeyPress, State } from './state.ts'
import { clamp } from './transition.ts'

type Scrolling = Extract<Dialog, { readonly top: number }>

/** The first line that a dialog shows after a key. */
export function scrolled(state: State, dialog: Scrolling, { key }: KeyPress): number {
  const lines = LINES.get(key) ?? (PAGES.get(key) ?? 0) * pageOf(state, dialog)
  return topOf(state, dialog, dialog.top + lines)
}

/** A line that a dialog can begin with, near the wanted one. */
export function topOf(state: State, dialog: Scrolling, wanted: number): number {
  return clamp(wanted, 0, Math.max(0, linesOf(state, dialog) - pageOf(state, dialog)))
}

const LINES: ReadonlyMap<string, number> = new Map([
  ['j', 1],
  ['down', 1],
  ['k', -1],
  ['up', -1],
  ['g', -Infinity],
  ['home', -Infinity],
  ['G', Infinity],
  ['end', Infinity],
])

const PAGES: ReadonlyMap<string, number> = new Map([
  ['pagedown', 1],
  ['ctrl-f', 1],
  ['space', 1],
  ['pageup', -1],
  ['ctrl-b', -1],
])

/** Rules, summary and keys take rows of a dialog: rather a line too few is counted as seen than one too many. */
const FRAME_ROWS = 4
/** Of the help: a rule above and one below. */
const HELP_FRAME_ROWS = 2

function pageOf({ size }: State, dialog: Scrolling): number {
  return Math.max(1, dialogHeight(size, dialog) - (dialog.kind === 'help' ? HELP_FRAME_ROWS : FRAME_ROWS))
}

function linesOf(state: State, dialog: Scrolling): number {
  switch (dialog.kind) {
    case 'help':
      return helpLayout(state.size.columns).total
    case 'outcomes':
      return (state.batch?.outcomes.length ?? 0) + endLines(state)
    case 'output':
      return dialog.output?.lines.length ?? 0
    default:
      return dialog satisfies never
  }
}

function endLines({ batch }: State): number {
  if (batch?.end === undefined) return 0
  return 'fault' in batch.end ? 1 : batch.end.lines.length
}
