import { isRunning } from '../change.ts'
import { isScrolled } from '../panes.ts'
import type { Screen, State } from '../state.ts'
import { hasDetailFocus } from '../text/focus.ts'
import type { Reading } from '../text/text.ts'
import { listOf } from '../transition.ts'
import { keyLabel, worksOn } from './keys.ts'
import { KEYS, type KeyCommand } from './table.ts'

/** A key and what it does, for the last line. */
export interface Hint {
  readonly keys: string
  readonly does: string
  /** Leads to all other keys, or out: shown however narrow the screen is. */
  readonly isVital: boolean
}

/**
 * The keys that are useful on this screen now, the most useful first. An open dialog has the keys and names them
 * itself.
 */
export function hintsOf(state: State): readonly Hint[] {
  if (state.page !== undefined) return pageHints(state.page.reading)
  if (hasDetailFocus(state)) return [{ keys: 'tab', does: 'list', isVital: true }, ...textHints(state.detail)]
  if (isScrolled(state)) return xmlHints(state)
  const commands: KeyCommand[] = ['down', ...ORDER[state.screen], ...EVERYWHERE]
  const useful = commands.filter(command => isUseful(command, state))
  return [...urgent(state), ...useful.map(command => hintFor(state, command)).filter(hint => hint !== undefined)]
}

function xmlHints(state: State): readonly Hint[] {
  const does = state.xml.search === '' ? 'tree' : 'clear search'
  return [
    { keys: 'esc', does, isVital: false },
    { keys: 'j/k', does: 'move', isVital: false },
    { keys: 'enter', does: 'fold', isVital: false },
    { keys: '- =', does: 'fold all, none', isVital: false },
    ...textHints(state.xml),
    ...IN_XML.filter(command => isUseful(command, state))
      .map(command => hintFor(state, command))
      .filter(hint => hint !== undefined),
  ]
}

const IN_XML: readonly KeyCommand[] = ['help', 'timeline', 'cancel', 'abort', 'retry', 'break', 'quit']

function pageHints(reading: Reading): readonly Hint[] {
  return [
    { keys: 'esc', does: reading.search === '' ? 'back' : 'clear search', isVital: true },
    { keys: 'j/k', does: 'scroll', isVital: false },
    ...textHints(reading),
    { keys: 'C', does: 'copy', isVital: false },
  ]
}

function textHints({ search, wraps }: Reading): readonly Hint[] {
  return [
    { keys: '/', does: 'search', isVital: false },
    ...(search === '' ? [] : [{ keys: 'n/N', does: 'next, previous', isVital: false }]),
    { keys: 'w', does: wraps ? 'do not wrap' : 'wrap', isVital: false },
    ...(wraps ? [] : [{ keys: 'h/l', does: 'sideways', isVital: false }]),
  ]
}

const ORDER: { readonly [Of in Screen]: readonly KeyCommand[] } = {
  streams: [
    'enter',
    'filter',
    'broken',
    'help',
    'mark',
    'cancel',
    'abort',
    'retry',
    'sort',
    'timeline',
    'detail',
    'read',
    'freeze',
  ],
  stream: [
    'fold',
    'zoom-in',
    'earlier',
    'zoom-reset',
    'timeline',
    'xml',
    'help',
    'filter',
    'cancel',
    'abort',
    'retry',
    'break',
    'detail',
    'read',
    'freeze',
    'mark',
  ],
  leases: ['enter', 'filter', 'help', 'break', 'mark', 'sort', 'detail', 'read', 'freeze'],
  watchdog: ['enter', 'dry-run', 'help', 'filter', 'read', 'freeze'],
  activity: ['enter', 'filter', 'help', 'detail', 'read', 'freeze'],
  workers: ['enter', 'filter', 'help', 'sort', 'detail', 'read', 'timeline', 'freeze'],
  subscriptions: [
    'enter',
    'retry',
    'skip',
    'reset',
    'back',
    'filter',
    'help',
    'sort',
    'copy',
    'detail',
    'read',
    'freeze',
  ],
  inboxes: ['enter', 'back', 'filter', 'help', 'sort', 'copy', 'detail', 'read', 'freeze'],
}

/** After those of the screen; keys that do nothing while changes are locked are left out. */
const EVERYWHERE: readonly KeyCommand[] = ['unlock', 'line', 'quit']
const VITAL: ReadonlySet<KeyCommand> = new Set(['help', 'quit'])
const ZOOMED: ReadonlySet<KeyCommand> = new Set(['earlier', 'zoom-reset'])
const CHANGING: ReadonlySet<KeyCommand> = new Set([
  'mark',
  'cancel',
  'abort',
  'retry',
  'suspend-stream',
  'resume-stream',
  'break',
  'signal',
  'skip',
  'reset',
])

function isUseful(command: KeyCommand, state: State): boolean {
  const { kind } = state.writes
  if (CHANGING.has(command)) return kind === 'unlocked' && !(command === 'mark' && isScrolled(state))
  if (command === 'unlock') return kind === 'locked'
  if (command === 'zoom-in') return state.pane === 'timeline'
  if (ZOOMED.has(command)) return state.pane === 'timeline' && state.zoom !== undefined
  if (command === 'detail') return state.screen !== 'stream' || state.pane === 'tree'
  return !(isScrolled(state) && command === 'fold')
}

/** Keys that explain an unusual state of the screen. */
function urgent(state: State): Hint[] {
  const { screen, frozen, batch } = state
  const { filter, onlyBroken } = listOf(state)
  const isInside = filter !== '' || onlyBroken || screen === 'stream'
  return [
    ...(frozen === undefined ? [] : [{ keys: 'p', does: 'go on', isVital: false }]),
    ...(isRunning(batch) ? [{ keys: 'O', does: 'outcomes', isVital: false }] : []),
    ...(isInside ? [{ keys: 'esc', does: backHint(state), isVital: false }] : []),
  ]
}

function backHint(state: State): string {
  const { pane, cameFrom } = state
  const { filter, onlyBroken } = listOf(state)
  if (filter !== '') return 'clear filter'
  if (onlyBroken) return 'show all'
  return pane === 'tree' ? (cameFrom ?? 'streams') : 'tree'
}

const PAIRS: ReadonlyMap<KeyCommand, string> = new Map([
  ['down', 'j/k'],
  ['fold', 'h/l'],
  ['zoom-in', '+/-'],
  ['earlier', '[/]'],
])

function hintFor(state: State, command: KeyCommand): Hint | undefined {
  const binding = KEYS.find(found => found.command === command && worksOn(found, state.screen))
  if (binding?.hint === undefined) return undefined
  const isBack = state.screen === 'stream' && state.pane === command
  const isFrozen = command === 'freeze' && state.frozen !== undefined
  if (isBack || isFrozen) return undefined
  return {
    keys: PAIRS.get(command) ?? keyLabel(binding.keys[0] ?? ''),
    does: binding.hint,
    isVital: VITAL.has(command),
  }
}
