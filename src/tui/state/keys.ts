import type { KeyPress, Screen, State } from './state.ts'

/** What a key does on a screen, where no dialog and no prompt has the keys. */
export type KeyCommand =
  | 'down'
  | 'up'
  | 'first'
  | 'last'
  | 'page-down'
  | 'page-up'
  | 'fold'
  | 'unfold'
  | 'enter'
  | 'back'
  | 'filter'
  | 'next-match'
  | 'previous-match'
  | 'mark'
  | 'mark-all'
  | 'clear-marks'
  | 'sort'
  | 'reverse-sort'
  | 'freeze'
  | 'time'
  | 'cancel'
  | 'abort'
  | 'retry'
  | 'break'
  | 'detail'
  | 'wide'
  | 'xml'
  | 'timeline'
  | 'copy'
  | 'outcomes'
  | 'dry-run'
  | 'streams'
  | 'stream'
  | 'leases'
  | 'watchdog'
  | 'activity'
  | 'read-now'
  | 'unlock'
  | 'line'
  | 'help'
  | 'repaint'
  | 'suspend'
  | 'quit'

/** One line of the key table: help, the line at the foot of the screen and the documentation are made from it. */
interface KeyBinding {
  readonly command: KeyCommand
  /** Names of keys as `KeyPress` has them; the first is the one that is shown. */
  readonly keys: readonly string[]
  /** For the help: `cancel the event, the stream, or all that is marked`. */
  readonly does: string
  /** For the line at the foot; without it the key is not named there. */
  readonly hint?: string
  /** Where it works; everywhere without it. */
  readonly screens?: readonly Screen[]
  readonly group: 'Move' | 'Look' | 'Choose' | 'Change' | 'Screens' | 'Program'
}

const LISTS: readonly Screen[] = ['streams', 'leases', 'watchdog', 'activity']
const CHANGES: readonly Screen[] = ['streams', 'stream', 'leases']

export const KEYS: readonly KeyBinding[] = [
  { command: 'down', keys: ['j', 'down'], does: 'down', hint: 'move', group: 'Move' },
  { command: 'up', keys: ['k', 'up'], does: 'up', group: 'Move' },
  { command: 'first', keys: ['g', 'home'], does: 'to the first row', group: 'Move' },
  { command: 'last', keys: ['G', 'end'], does: 'to the last row', group: 'Move' },
  { command: 'page-down', keys: ['pagedown', 'ctrl-f'], does: 'a screen down', group: 'Move' },
  { command: 'page-up', keys: ['pageup', 'ctrl-b'], does: 'a screen up', group: 'Move' },
  {
    command: 'enter',
    keys: ['enter'],
    does: 'open the stream; in the tree fold or unfold',
    hint: 'open',
    group: 'Move',
    screens: [...LISTS, 'stream'],
  },
  { command: 'back', keys: ['escape', 'backspace'], does: 'back; clears the filter first', group: 'Move' },
  {
    command: 'fold',
    keys: ['h', 'left'],
    does: 'fold, or go to what is above',
    hint: 'fold',
    group: 'Move',
    screens: ['stream'],
  },
  {
    command: 'unfold',
    keys: ['l', 'right'],
    does: 'unfold, or go to the first below',
    group: 'Move',
    screens: ['stream'],
  },
  {
    command: 'filter',
    keys: ['/'],
    does: 'filter: words that must all be there, !word must not',
    hint: 'filter',
    group: 'Choose',
  },
  { command: 'next-match', keys: ['n'], does: 'next match', group: 'Choose' },
  { command: 'previous-match', keys: ['N'], does: 'previous match', group: 'Choose' },
  { command: 'mark', keys: ['space'], does: 'mark, and one down', hint: 'mark', group: 'Choose', screens: CHANGES },
  { command: 'mark-all', keys: ['*'], does: 'mark all rows of the filter', group: 'Choose', screens: CHANGES },
  { command: 'clear-marks', keys: ['u'], does: 'clear all marks', group: 'Choose', screens: CHANGES },
  {
    command: 'sort',
    keys: ['s'],
    does: 'sort by the next column',
    hint: 'sort',
    group: 'Choose',
    screens: ['streams', 'leases'],
  },
  {
    command: 'reverse-sort',
    keys: ['S'],
    does: 'turn the order round',
    group: 'Choose',
    screens: ['streams', 'leases'],
  },
  {
    command: 'timeline',
    keys: ['t'],
    does: 'timeline of the stream',
    hint: 'timeline',
    group: 'Look',
    screens: ['streams', 'stream', 'leases', 'activity'],
  },
  {
    command: 'xml',
    keys: ['y'],
    does: 'XML as it lies in the blob',
    hint: 'xml',
    group: 'Look',
    screens: ['streams', 'stream', 'leases', 'activity'],
  },
  {
    command: 'detail',
    keys: ['d'],
    does: 'more of the row under the cursor',
    hint: 'detail',
    group: 'Look',
    screens: ['streams', 'stream', 'leases', 'activity'],
  },
  { command: 'wide', keys: ['w'], does: 'more columns', group: 'Look' },
  { command: 'freeze', keys: ['p'], does: 'freeze the picture; changes are counted', hint: 'freeze', group: 'Look' },
  { command: 'time', keys: ['T'], does: 'times: relative, local, UTC', group: 'Look' },
  { command: 'read-now', keys: ['r'], does: 'read now', group: 'Look' },
  {
    command: 'dry-run',
    keys: ['D'],
    does: 'what a pass of the watchdog would do now',
    hint: 'dry run',
    group: 'Look',
    screens: ['watchdog'],
  },
  {
    command: 'cancel',
    keys: ['c'],
    does: 'cancel: the stream or event, or all that is marked',
    hint: 'cancel',
    group: 'Change',
    screens: CHANGES,
  },
  { command: 'abort', keys: ['X'], does: 'abort, the same way', hint: 'abort', group: 'Change', screens: CHANGES },
  { command: 'retry', keys: ['R'], does: 'retry, the same way', hint: 'retry', group: 'Change', screens: CHANGES },
  {
    command: 'break',
    keys: ['L'],
    does: 'break the lease of the stream, or of all that are marked',
    hint: 'break lease',
    group: 'Change',
    screens: CHANGES,
  },
  {
    command: 'unlock',
    keys: ['!'],
    does: 'unlock changes for ten minutes, or lock them',
    hint: 'unlock',
    group: 'Change',
  },
  { command: 'outcomes', keys: ['o'], does: 'outcomes of the last change', group: 'Change' },
  { command: 'streams', keys: ['1'], does: 'streams', group: 'Screens' },
  { command: 'stream', keys: ['2'], does: 'the stream that was open last', group: 'Screens' },
  { command: 'leases', keys: ['3'], does: 'leases', group: 'Screens' },
  { command: 'watchdog', keys: ['4'], does: 'watchdog', group: 'Screens' },
  { command: 'activity', keys: ['5'], does: 'activity', group: 'Screens' },
  { command: 'copy', keys: ['C'], does: 'copy the command line that shows or does the same', group: 'Program' },
  {
    command: 'line',
    keys: [':'],
    does: 'a command line, with the words of the program',
    hint: 'command',
    group: 'Program',
  },
  { command: 'help', keys: ['?', 'f1'], does: 'these keys', hint: 'keys', group: 'Program' },
  { command: 'repaint', keys: ['ctrl-l'], does: 'paint the screen anew', group: 'Program' },
  { command: 'suspend', keys: ['ctrl-z'], does: 'to the shell; fg comes back', group: 'Program' },
  { command: 'quit', keys: ['q', 'ctrl-c'], does: 'quit', hint: 'quit', group: 'Program' },
]

const LABELS: ReadonlyMap<string, string> = new Map([
  ['up', '↑'],
  ['down', '↓'],
  ['left', '←'],
  ['right', '→'],
  ['pageup', 'PgUp'],
  ['pagedown', 'PgDn'],
  ['escape', 'esc'],
  ['f1', 'F1'],
])

const BY_KEY: ReadonlyMap<string, readonly KeyBinding[]> = byKey()

/** What a key does on the screen that is shown; `undefined` for one that does nothing there. */
export function bindingFor({ key }: Pick<KeyPress, 'key'>, { screen }: Pick<State, 'screen'>): KeyBinding | undefined {
  return BY_KEY.get(key)?.find(binding => worksOn(binding, screen))
}

/** True where the binding is of use. */
export function worksOn({ screens }: Pick<KeyBinding, 'screens'>, screen: Screen): boolean {
  return screens === undefined || screens.includes(screen)
}

/** How a key is called on the screen: `pagedown` is `PgDn`. */
export function keyLabel(key: string): string {
  return LABELS.get(key) ?? (key.startsWith('ctrl-') ? `^${key.slice(5).toUpperCase()}` : key)
}

/** One group of the help. */
export interface HelpGroup {
  readonly title: KeyBinding['group']
  readonly lines: readonly HelpLine[]
}

export interface HelpLine {
  /** All keys that do it, `j ↓`. */
  readonly keys: string
  readonly does: string
  /** Where it works; everywhere without it. */
  readonly screens: readonly Screen[] | undefined
}

/** All keys, for the help and the documentation. */
export const HELP: readonly HelpGroup[] = Array.from(
  Map.groupBy(KEYS, ({ group }) => group),
  ([title, bindings]) => ({ title, lines: bindings.map(helpLine) }),
)

function byKey(): ReadonlyMap<string, readonly KeyBinding[]> {
  const found = new Map<string, KeyBinding[]>()
  for (const binding of KEYS) {
    for (const key of binding.keys) found.set(key, [...(found.get(key) ?? []), binding])
  }
  return found
}

function helpLine({ keys, does, screens }: KeyBinding): HelpLine {
  return { keys: keys.map(keyLabel).join(' '), does, screens }
}
