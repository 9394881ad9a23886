import { keyLabel, worksOn } from './bindings.ts'
import { fieldOf, fociOf } from './change-focus.ts'
import { KEYS, type KeyCommand } from './keys.ts'
import type { ChangeDialog, Dialog, Prompt, Screen, State } from './state.ts'
import { listOf } from './step.ts'
import { isRunning } from './update-change.ts'
import { isScrolled } from './update-pane.ts'

/** A key and what it does here and now, for the line at the foot. */
export interface Hint {
  readonly keys: string
  readonly does: string
}

/** The keys that are of use here and now, the most useful first: what does not fit is left out from the end. */
export function hintsOf(state: State): readonly Hint[] {
  if (state.dialog !== undefined) return dialogHints(state, state.dialog)
  if (state.prompt !== undefined) return promptHints(state.prompt)
  return screenHints(state)
}

const ORDER: { readonly [Of in Screen]: readonly KeyCommand[] } = {
  streams: ['enter', 'filter', 'help', 'mark', 'cancel', 'abort', 'retry', 'sort', 'timeline', 'detail', 'freeze'],
  stream: [
    'fold',
    'timeline',
    'xml',
    'help',
    'filter',
    'cancel',
    'abort',
    'retry',
    'break',
    'detail',
    'freeze',
    'mark',
  ],
  leases: ['enter', 'filter', 'help', 'break', 'mark', 'sort', 'detail', 'freeze'],
  watchdog: ['enter', 'dry-run', 'help', 'filter', 'freeze'],
  activity: ['enter', 'filter', 'help', 'detail', 'freeze'],
}

/** Behind those of the screen, and what they would do is nothing while changes are locked. */
const EVERYWHERE: readonly KeyCommand[] = ['unlock', 'line', 'quit']
const CHANGING: ReadonlySet<KeyCommand> = new Set(['mark', 'cancel', 'abort', 'retry', 'break'])

function screenHints(state: State): Hint[] {
  const { screen, writes } = state
  const commands: KeyCommand[] = ['down', ...ORDER[screen], ...EVERYWHERE]
  const useful = commands.filter(command => {
    if (CHANGING.has(command)) return writes.kind === 'unlocked' && !(command === 'mark' && isScrolled(state))
    if (command === 'unlock') return writes.kind === 'locked'
    return !(isScrolled(state) && command === 'fold')
  })
  return [...urgent(state), ...useful.map(command => hintFor(state, command)).filter(hint => hint !== undefined)]
}

/** What somebody looks for who wonders why the screen is as it is. */
function urgent(state: State): Hint[] {
  const { screen, cameFrom, pane, frozen, batch } = state
  const isInside = listOf(state).filter !== '' || screen === 'stream'
  return [
    ...(frozen === undefined ? [] : [{ keys: 'p', does: 'go on' }]),
    ...(isRunning(batch) ? [{ keys: 'o', does: 'outcomes' }] : []),
    ...(isInside ? [{ keys: 'esc', does: backHint(listOf(state).filter, pane, cameFrom) }] : []),
  ]
}

function backHint(filter: string, pane: State['pane'], cameFrom: State['cameFrom']): string {
  if (filter !== '') return 'clear filter'
  return pane === 'tree' ? (cameFrom ?? 'streams') : 'tree'
}

const PAIRS: ReadonlyMap<KeyCommand, string> = new Map([
  ['down', 'j/k'],
  ['fold', 'h/l'],
])

function hintFor(state: State, command: KeyCommand): Hint | undefined {
  const binding = KEYS.find(found => found.command === command && worksOn(found, state.screen))
  if (binding?.hint === undefined) return undefined
  const isBack = state.screen === 'stream' && state.pane === command
  const isFrozen = command === 'freeze' && state.frozen !== undefined
  if (isBack || isFrozen) return undefined
  return { keys: PAIRS.get(command) ?? keyLabel(binding.keys[0] ?? ''), does: binding.hint }
}

function promptHints(prompt: Prompt): Hint[] {
  if (prompt.kind === 'filter') return hints('enter keep', 'esc back to what it was')
  return hints('enter run', 'esc close', '↑/↓ former lines')
}

function dialogHints(state: State, dialog: Dialog): Hint[] {
  switch (dialog.kind) {
    case 'change':
      return changeHints(dialog)
    case 'unlock':
      return hints('enter unlock', 'esc stay locked')
    case 'quit':
      return hints('y stop and quit', 'esc stay')
    case 'outcomes':
      return hints('esc close', 'j/k scroll', ...(isRunning(state.batch) && !state.batch.isStopping ? ['s stop'] : []))
    case 'output':
      return hints(dialog.output === undefined ? 'esc stop' : 'esc close', 'j/k scroll')
    case 'help':
      return hints('esc close', 'j/k scroll')
    default:
      return dialog satisfies never
  }
}

function changeHints(dialog: ChangeDialog): Hint[] {
  const next = fociOf(dialog).length > 1 ? ['tab next'] : []
  if (fieldOf(dialog) !== undefined) return hints('enter next', 'esc no, nothing happens', ...next)
  const enter = dialog.focus === 'yes' ? 'enter do it' : 'enter no, nothing happens'
  const yes = dialog.focus === 'no' && fociOf(dialog).includes('yes') ? ['y to yes'] : []
  const copy = dialog.preview === undefined ? [] : ['C copy the command']
  return hints(enter, 'esc no', ...yes, ...next, ...copy)
}

/** `esc close`: the first word is the key. */
function hints(...lines: readonly string[]): Hint[] {
  return lines.map(line => {
    const blank = line.indexOf(' ')
    return { keys: line.slice(0, blank), does: line.slice(blank + 1) }
  })
}
