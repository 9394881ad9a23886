import { visibleText } from '../../stream/text.ts'
import type { Style } from '../terminal/style.ts'

/** How an event stands, one step finer than its status. */
export type State = 'init' | 'ready' | 'running' | 'waiting' | 'overdue' | 'completed' | 'aborted' | 'canceled'

/** A glyph, a word and a colour: each tells the status without the others. */
export interface StatusLook {
  readonly glyph: string
  readonly style: Style
}

const LOOKS: { readonly [status: string]: StatusLook } = {
  init: { glyph: '○', style: 'plain' },
  ready: { glyph: '○', style: 'plain' },
  inprocess: { glyph: '▶', style: 'active' },
  running: { glyph: '▶', style: 'active' },
  waiting: { glyph: '◷', style: 'dim' },
  overdue: { glyph: '!', style: 'warn' },
  completed: { glyph: '✓', style: 'good' },
  aborted: { glyph: '✗', style: 'bad' },
  canceled: { glyph: '⊘', style: 'warn' },
}

const UNKNOWN: StatusLook = { glyph: '?', style: 'warn' }

/** The look of a status or state; a status that only its writer knows gets a question mark. */
export function lookOf(status: string): StatusLook {
  return Object.hasOwn(LOOKS, status) ? (LOOKS[status] ?? UNKNOWN) : UNKNOWN
}

/** The word for a status; documents of others may hold an event without one. */
export function statusWord(status: string): string {
  return status === '' ? 'no status' : visibleText(status)
}
