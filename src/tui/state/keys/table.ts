import type { Screen, State } from '../state.ts'

/** One line of the key table, from which the help, the last line of the screen and the documentation are made. */
interface BindingOf<Command extends string> {
  readonly command: Command
  /** Key names as in `KeyPress`; the first one is displayed. */
  readonly keys: readonly string[]
  /** For the help: `cancel the event, the stream, or all marked ones`. */
  readonly does: string
  /** For the last line; without it the key is not named there. */
  readonly hint?: string
  /** Screens where it works; all without it. */
  readonly screens?: readonly Screen[]
  /** Panes of the second screen where it works; all without it. */
  readonly panes?: readonly State['pane'][]
  readonly group: 'Move' | 'View' | 'Select' | 'Change' | 'Screens' | 'Program'
}

/** Keys in the XML, in details with `tab`, and in texts on the whole screen. They come before those of the screen. */
export const TEXT_KEYS: readonly Pick<KeyBinding, 'keys' | 'does'>[] = [
  { keys: ['j', 'k', 'g', 'G', 'space', '^D', '^U'], does: 'scroll; the XML has a cursor' },
  { keys: ['h', 'l', 'left', 'right'], does: 'to the side, where lines are not wrapped' },
  { keys: ['w'], does: 'wrap lines, or not' },
  { keys: ['/', 'n', 'N'], does: 'search; next and previous match' },
  { keys: ['enter'], does: 'XML: fold or unfold the element, wrap a single line; details: on the whole screen' },
  { keys: ['-', '='], does: 'XML: fold or unfold all' },
  { keys: ['C'], does: 'on the whole screen: copy the text' },
  { keys: ['escape'], does: 'clear the search, then back' },
]

const LISTS: readonly Screen[] = ['streams', 'leases', 'watchdog', 'activity', 'workers']
const CHANGES: readonly Screen[] = ['streams', 'stream', 'leases', 'workers']
const COLUMNS: readonly Screen[] = ['streams', 'stream', 'leases', 'activity']
const DETAILS: readonly Screen[] = [...COLUMNS, 'workers']

const TABLE = [
  { command: 'down', keys: ['j', 'down'], does: 'down', hint: 'move', group: 'Move' },
  { command: 'up', keys: ['k', 'up'], does: 'up', group: 'Move' },
  { command: 'first', keys: ['g', 'home'], does: 'to the first row', group: 'Move' },
  { command: 'last', keys: ['G', 'end'], does: 'to the last row', group: 'Move' },
  { command: 'page-down', keys: ['pagedown', 'ctrl-f'], does: 'a screen down', group: 'Move' },
  { command: 'page-up', keys: ['pageup', 'ctrl-b'], does: 'a screen up', group: 'Move' },
  { command: 'half-down', keys: ['ctrl-d'], does: 'half a screen down', group: 'Move' },
  { command: 'half-up', keys: ['ctrl-u'], does: 'half a screen up', group: 'Move' },
  { command: 'center', keys: ['z'], does: 'zz: the row to the middle of the screen', group: 'Move' },
  {
    command: 'enter',
    keys: ['enter'],
    does: 'open the stream; in the tree, fold or unfold',
    hint: 'open',
    group: 'Move',
    screens: [...LISTS, 'stream'],
  },
  { command: 'back', keys: ['escape', 'backspace'], does: 'back; clears the filter and F first', group: 'Move' },
  {
    command: 'fold',
    keys: ['h', 'left'],
    does: 'fold, or go to the parent',
    hint: 'fold',
    group: 'Move',
    screens: ['stream'],
  },
  {
    command: 'unfold',
    keys: ['l', 'right'],
    does: 'unfold, or go to the first child',
    group: 'Move',
    screens: ['stream'],
  },
  {
    command: 'fold-all',
    keys: ['-'],
    does: 'fold everything below the root',
    group: 'Move',
    screens: ['stream'],
    panes: ['tree'],
  },
  {
    command: 'fold-others',
    keys: ['_'],
    does: 'fold everything but this event',
    group: 'Move',
    screens: ['stream'],
    panes: ['tree'],
  },
  {
    command: 'unfold-all',
    keys: ['=', '+'],
    does: 'unfold everything; again: groups too',
    group: 'Move',
    screens: ['stream'],
    panes: ['tree'],
  },
  {
    command: 'zoom-in',
    keys: ['+', '='],
    does: 'zoom into the timeline, around the event under the cursor',
    hint: 'zoom',
    group: 'Move',
    screens: ['stream'],
    panes: ['timeline'],
  },
  {
    command: 'zoom-out',
    keys: ['-'],
    does: 'zoom out',
    group: 'Move',
    screens: ['stream'],
    panes: ['timeline'],
  },
  {
    command: 'earlier',
    keys: ['['],
    does: 'earlier part of the timeline',
    hint: 'earlier/later',
    group: 'Move',
    screens: ['stream'],
    panes: ['timeline'],
  },
  {
    command: 'later',
    keys: [']'],
    does: 'later part of the timeline',
    group: 'Move',
    screens: ['stream'],
    panes: ['timeline'],
  },
  {
    command: 'zoom-reset',
    keys: ['0'],
    does: 'the whole timeline, as it grows',
    hint: 'all',
    group: 'Move',
    screens: ['stream'],
    panes: ['timeline'],
  },
  {
    command: 'filter',
    keys: ['/'],
    does: 'filter: words, !word, "two words", /regexp/, owner:w-7 failed>0 due<10m age>1d',
    hint: 'filter',
    group: 'Select',
  },
  {
    command: 'broken',
    keys: ['F'],
    does: 'only what is broken: failed, abandoned, overdue, unreadable',
    hint: 'broken',
    group: 'Select',
    screens: ['streams', 'stream'],
  },
  {
    command: 'health',
    keys: ['f'],
    does: 'only one of the numbers above: ff failed, fa abandoned, fo overdue, …',
    hint: 'only',
    group: 'Select',
  },
  {
    command: 'view',
    keys: ["'"],
    does: 'the saved view of this letter or digit; :view NAME saves one',
    group: 'Select',
  },
  {
    command: 'digit-view',
    keys: ['7', '8', '9', '0'],
    does: 'the same without the quote',
    group: 'Select',
    screens: LISTS,
  },
  { command: 'next-match', keys: ['n'], does: 'next match', group: 'Select' },
  { command: 'previous-match', keys: ['N'], does: 'previous match', group: 'Select' },
  { command: 'mark', keys: ['space'], does: 'mark, and one down', hint: 'mark', group: 'Select', screens: CHANGES },
  { command: 'mark-all', keys: ['*'], does: 'mark all rows that match the filter', group: 'Select', screens: CHANGES },
  { command: 'clear-marks', keys: ['u'], does: 'clear all marks', group: 'Select', screens: CHANGES },
  {
    command: 'sort',
    keys: ['s'],
    does: 'sort by the next column',
    hint: 'sort',
    group: 'Select',
    screens: ['streams', 'leases', 'workers'],
  },
  {
    command: 'reverse-sort',
    keys: ['S'],
    does: 'reverse the order',
    group: 'Select',
    screens: ['streams', 'leases', 'workers'],
  },
  {
    command: 'timeline',
    keys: ['t'],
    does: 'timeline of the stream',
    hint: 'timeline',
    group: 'View',
    screens: ['streams', 'stream', 'leases', 'activity', 'workers'],
  },
  {
    command: 'xml',
    keys: ['y'],
    does: 'XML as stored in the blob',
    hint: 'xml',
    group: 'View',
    screens: ['streams', 'stream', 'leases', 'activity', 'workers'],
  },
  {
    command: 'detail',
    keys: ['d'],
    does: 'details of the row under the cursor',
    hint: 'detail',
    group: 'View',
    screens: DETAILS,
  },
  { command: 'detail-down', keys: ['J'], does: 'details down by a line', group: 'View', screens: DETAILS },
  { command: 'detail-up', keys: ['K'], does: 'details up by a line', group: 'View', screens: DETAILS },
  {
    command: 'focus-detail',
    keys: ['tab'],
    does: 'to the details: they scroll and are searched; tab goes back',
    group: 'View',
    screens: DETAILS,
  },
  {
    command: 'read',
    keys: ['o'],
    does: 'all about the row under the cursor, on the whole screen',
    hint: 'read',
    group: 'View',
    screens: [...LISTS, 'stream'],
  },
  {
    command: 'columns',
    keys: [','],
    does: 'choose, order and sort by columns; kept for later runs',
    hint: 'columns',
    group: 'View',
    screens: COLUMNS,
  },
  { command: 'wide', keys: ['w'], does: 'more columns, as many as there is room for', group: 'View' },
  { command: 'freeze', keys: ['p'], does: 'freeze the screen; changes are counted', hint: 'freeze', group: 'View' },
  { command: 'time', keys: ['T'], does: 'times: relative, local, UTC', group: 'View' },
  { command: 'read-now', keys: ['r'], does: 'read now', group: 'View' },
  {
    command: 'dry-run',
    keys: ['D'],
    does: 'what a watchdog pass would do now',
    hint: 'dry run',
    group: 'View',
    screens: ['watchdog'],
  },
  {
    command: 'cancel',
    keys: ['c'],
    does: 'cancel the stream or event, or all marked ones',
    hint: 'cancel',
    group: 'Change',
    screens: CHANGES,
  },
  { command: 'abort', keys: ['X'], does: 'abort, the same way', hint: 'abort', group: 'Change', screens: CHANGES },
  {
    command: 'retry',
    keys: ['R'],
    does: 'retry, the same way',
    hint: 'retry',
    group: 'Change',
    screens: ['streams', 'stream', 'leases'],
  },
  {
    command: 'suspend-stream',
    keys: ['H'],
    does: 'suspend the stream, or all marked ones: nothing of it begins or is due',
    hint: 'suspend',
    group: 'Change',
    screens: CHANGES,
  },
  {
    command: 'resume-stream',
    keys: ['U'],
    does: 'resume the suspended or held stream, or all marked ones',
    hint: 'resume',
    group: 'Change',
    screens: CHANGES,
  },
  {
    command: 'break',
    keys: ['L'],
    does: 'break the lease of the stream, or of all marked ones',
    hint: 'break lease',
    group: 'Change',
    screens: CHANGES,
  },
  {
    command: 'signal',
    keys: ['i'],
    does: 'signal the stream, or all marked ones: asks for the name and the data; lists what waits',
    hint: 'signal',
    group: 'Change',
    screens: CHANGES,
  },
  {
    command: 'skip',
    keys: ['P'],
    does: 'skip the failed event: what it blocks passes it',
    hint: 'skip',
    group: 'Change',
    screens: ['stream'],
  },
  {
    command: 'unlock',
    keys: ['!'],
    does: 'unlock changes for ten minutes, or lock them',
    hint: 'unlock',
    group: 'Change',
  },
  { command: 'outcomes', keys: ['O'], does: 'outcomes of the last change', group: 'Change' },
  { command: 'streams', keys: ['1'], does: 'streams', group: 'Screens' },
  { command: 'stream', keys: ['2'], does: 'the last open stream', group: 'Screens' },
  { command: 'leases', keys: ['3'], does: 'leases', group: 'Screens' },
  { command: 'watchdog', keys: ['4'], does: 'watchdog', group: 'Screens' },
  { command: 'activity', keys: ['5'], does: 'activity', group: 'Screens' },
  { command: 'workers', keys: ['6'], does: 'workers and what they have in hand', group: 'Screens' },
  { command: 'bell', keys: ['B'], does: 'ring when something fails, or no longer', group: 'Program' },
  { command: 'copy', keys: ['C'], does: 'copy the command line that shows or does the same', group: 'Program' },
  {
    command: 'line',
    keys: [':'],
    does: 'run a leasectl command',
    hint: 'command',
    group: 'Program',
  },
  { command: 'help', keys: ['?', 'f1'], does: 'these keys', hint: 'keys', group: 'Program' },
  { command: 'repaint', keys: ['ctrl-l'], does: 'redraw the screen', group: 'Program' },
  { command: 'suspend', keys: ['ctrl-z'], does: 'suspend to the shell; fg resumes', group: 'Program' },
  { command: 'quit', keys: ['q', 'ctrl-c'], does: 'quit', hint: 'quit', group: 'Program' },
] as const satisfies readonly BindingOf<string>[]

/** Commands of keys, where no dialog and no prompt has the keys. */
export type KeyCommand = (typeof TABLE)[number]['command']
export type KeyBinding = BindingOf<KeyCommand>

export const KEYS: readonly KeyBinding[] = TABLE
