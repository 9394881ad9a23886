import type { TimeStyle } from '../../formats/terminal/numbers.ts'
import type { ChangeEnd, ChangeTarget, ChangeVerb, LineOutput, Outcome, Preview, SignalText } from '../ports.ts'
import type { DashboardSettings, SettingsChange } from '../settings.ts'
import type { ReadableText, Reading } from './text/text.ts'

/** The screens, in the order of their digits. */
export const SCREENS = [
  'streams',
  'stream',
  'leases',
  'watchdog',
  'activity',
  'workers',
  'subscriptions',
  'inboxes',
] as const
export type Screen = (typeof SCREENS)[number]
/** Lists beside that of a screen, without a cursor. */
export type SideList = 'steps' | 'watchdogs' | 'decisions' | 'halted' | 'partitions'
/** The lists whose columns can be chosen. */
export type ColumnList = Screen | SideList

/**
 * The state of the user interface. Together with the data it determines the frame. Only `update` creates new states.
 */
export interface State {
  readonly size: Size
  readonly screen: Screen
  readonly lists: { readonly [Of in Screen]: ListState }
  /** Orders of the lists beside those of the screens; one without an entry has its usual order. */
  readonly sideSorts: { readonly [Of in SideList]?: Sort }
  /** Name of the second screen's stream; `''` before one was opened. */
  readonly stream: string
  /** Where `esc` leads from the second screen. */
  readonly cameFrom: Exclude<Screen, 'stream'> | undefined
  readonly pane: 'tree' | 'timeline' | 'xml'
  /** Keys of folded tree nodes. */
  readonly folded: ReadonlySet<string>
  /** Keys of open groups of tree nodes. */
  readonly openGroups: ReadonlySet<string>
  /** The folds of streams that were open before, by name. */
  readonly keptFolds: ReadonlyMap<string, Pick<State, 'folded' | 'openGroups'>>
  /** Where the cursor goes as soon as the opened stream has been read. */
  readonly opening: Opening | undefined
  /** The visible period of the timeline; all of it without one. */
  readonly zoom: { readonly fromMs: number; readonly toMs: number } | undefined
  /** The XML of the second screen. */
  readonly xml: Reading
  readonly isDetailOpen: boolean
  /** The open details. */
  readonly detail: Reading
  /** Keys act on the open details, not on the list. */
  readonly isDetailFocused: boolean
  /** A text on the whole screen; it has the keys. */
  readonly page: TextPage | undefined
  readonly isWide: boolean
  readonly time: Extract<TimeStyle, 'relative' | 'local' | 'utc'>
  /** Set while the display is frozen: the data's revision at that time. */
  readonly frozen: { readonly revision: number } | undefined
  readonly writes: Writes
  readonly prompt: Prompt | undefined
  /** A key was pressed that waits for another one. */
  readonly prefix: KeyPrefix | undefined
  readonly dialog: Dialog | undefined
  /** One line about the last action, for a limited time. */
  readonly notice: Notice | undefined
  /** The running or last change; its dialog may be closed meanwhile. */
  readonly batch: Batch | undefined
  /** What is kept from run to run. */
  readonly settings: DashboardSettings
  /** Set while the bell rings for failures: how many nobody has seen yet. */
  readonly bell: { readonly missed: number } | undefined
  /** Previous `:` lines, the latest last. */
  readonly history: readonly string[]
  /** Number of previews requested: identifies the answer to the latest one. */
  readonly requests: number
}

/** What a text on the whole screen is about. */
export type TextSubject =
  /** An event of the open stream, by the key of its tree node. */
  | { readonly kind: 'event'; readonly stream: string; readonly key: string }
  /** A row of a list. */
  | { readonly kind: 'row'; readonly screen: Screen; readonly key: string }
  /** The outcomes of the last change. */
  | { readonly kind: 'outcomes' }
  /** The answer to a `:` line. */
  | { readonly kind: 'output' }

/** A text on the whole screen, as it was when it was last known. */
export interface TextPage {
  readonly subject: TextSubject
  /** Safe to print. */
  readonly title: string
  readonly text: ReadableText
  readonly reading: Reading
}

/** The event on which a stream is opened: what is broken, the soonest due one, that of a filter or of a change. */
export type Opening =
  | { readonly kind: 'broken' }
  | { readonly kind: 'due' }
  | { readonly kind: 'match'; readonly filter: string }
  | { readonly kind: 'event'; readonly id: string }

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** A list and the position of its cursor. */
export interface ListState {
  /** Key of the row under the cursor, which follows that row. `undefined`: the first. */
  readonly cursor: string | undefined
  /** Its last position: if the row disappears, the row at this position gets the cursor. */
  readonly index: number
  /** Rows visible above the cursor: kept while other rows come and go. */
  readonly offset: number
  readonly filter: string
  /** Only streams with something to look at: failed, abandoned, overdue, unreadable. */
  readonly onlyBroken: boolean
  readonly sort: Sort | undefined
  /** Keys of marked rows, regardless of the filter. */
  readonly marks: ReadonlySet<string>
  /** Counts cursor moves: each drops the rows that no longer match the filter. */
  readonly moves: number
}

/** Columns by which a list can be sorted; the first is the default. */
export const SORTS = {
  streams: ['name', 'status', 'failed', 'due', 'age', 'changed'],
  stream: [],
  leases: ['since', 'name', 'holder'],
  watchdog: ['due', 'stream', 'will', 'event'],
  activity: ['when', 'stream', 'who', 'what'],
  workers: ['state', 'worker', 'since', 'seen', 'claim', 'stream', 'done'],
  subscriptions: ['name', 'lag', 'rate', 'waiting', 'parked'],
  inboxes: ['name', 'lag', 'oldest', 'in', 'out', 'dead'],
  steps: ['abandoned'],
  watchdogs: ['state'],
  decisions: ['decided'],
  halted: ['state'],
  partitions: ['partition'],
} as const satisfies { readonly [Of in ColumnList]: readonly string[] }

export interface Sort {
  readonly by: string
  readonly isDescending: boolean
}

/** `never`: started so that changes cannot be unlocked. */
export type Writes =
  | { readonly kind: 'never' }
  | { readonly kind: 'locked' }
  | { readonly kind: 'unlocked'; readonly untilMs: number }

/** A text being typed. `at`: the insertion position in UTF-16 units, never inside a character. */
export interface TextField {
  readonly text: string
  readonly at: number
}

/** The last line of the screen while something is typed into it. */
export type Prompt =
  | { readonly kind: 'filter'; readonly field: TextField; readonly before: string }
  | {
      readonly kind: 'line'
      readonly field: TextField
      readonly past: number | undefined
      readonly completion?: LineCompletion | undefined
    }
  /** In the text that has the keys. `before`: the reading to return to. */
  | { readonly kind: 'search'; readonly field: TextField; readonly before: Reading }

/** The words that `tab` found for the end of a line. */
export interface LineCompletion {
  /** Where the word begins. */
  readonly start: number
  readonly words: readonly string[]
  /** The one that was put in; `undefined` before the first. */
  readonly at: number | undefined
}

export interface Notice {
  readonly text: string
  readonly style: 'plain' | 'good' | 'warn' | 'bad'
  /** `Infinity`: until the next key. */
  readonly untilMs: number
}

/** `f` and one of the numbers, `'` and a view, `zz`. */
export type KeyPrefix = 'health' | 'view' | 'center'

/** A dialog in front of the screen; it has the keys. */
export type Dialog =
  | { readonly kind: 'help'; readonly top: number }
  | ChangeDialog
  /** The outcomes of the change. */
  | { readonly kind: 'outcomes'; readonly top: number }
  | { readonly kind: 'unlock'; readonly name: string; readonly field: TextField; readonly isWrong: boolean }
  | OutputDialog
  | ColumnsDialog
  | { readonly kind: 'quit' }

/** The columns of a list are chosen: what is shown changes at once, and is saved when it closes. */
export interface ColumnsDialog {
  readonly kind: 'columns'
  readonly list: ColumnList
  /** Titles of all columns in order, and of those that are shown. */
  readonly titles: readonly string[]
  readonly shown: readonly string[]
  readonly at: number
}

/** The answer to a `:` line; `undefined` while it runs. */
export interface OutputDialog {
  readonly kind: 'output'
  readonly line: string
  readonly output: LineOutput | undefined
  readonly top: number
  /** The line under the cursor, if lines name streams: `enter` opens that stream. */
  readonly cursor?: number
  /** Started while changes were unlocked: closing it would hide what it has changed by then. */
  readonly mayWrite?: true
  readonly isStopping?: true
}

/** A text field of the dialog. */
export type ChangeField = 'signal' | 'data' | 'reason' | 'typed'

/** Asks before a change; without `preview` it is still being made. Nothing happens unless `yes` is chosen. */
export interface ChangeDialog {
  readonly kind: 'change'
  readonly request: number
  readonly verb: ChangeVerb
  readonly targets: readonly ChangeTarget[]
  readonly preview: Preview | undefined
  /** Why there is no preview. */
  readonly fault: string | undefined
  readonly reason: TextField
  readonly typed: TextField
  /** The name of a signal, and its data. */
  readonly signal: TextField
  readonly data: TextField
  readonly focus: ChangeField | 'no' | 'yes'
  /** First visible line of the list of targets. */
  readonly top: number
}

export interface Batch {
  readonly preview: Preview
  readonly outcomes: readonly Outcome[]
  readonly isStopping: boolean
  /** Quit when it has ended. */
  readonly isLast?: boolean
  /** Set when it has ended. */
  readonly end: ChangeEnd | { readonly fault: string } | undefined
}

/** A pressed key: its name (`up`, `enter`, `ctrl-c`, …), or the character itself. */
export interface KeyPress {
  readonly key: string
  /** The text it types; `undefined` for keys that type nothing. */
  readonly text: string | undefined
}

/** An event that may change the state. */
export type Action =
  | { readonly kind: 'key'; readonly press: KeyPress }
  /** Several characters at once, as terminals send them in a bracketed paste. Never taken as commands. */
  | { readonly kind: 'paste'; readonly text: string }
  | { readonly kind: 'resize'; readonly size: Size }
  /** `row` and `column` from 0, with the text of that row and the key of its list row, if known. */
  | {
      readonly kind: 'mouse'
      readonly button: 'left' | 'wheel-up' | 'wheel-down'
      readonly row: number
      readonly column: number
      readonly text: string
      readonly key: string | undefined
      /** The list whose titles the row has. */
      readonly titles?: ColumnList | undefined
    }
  /** Events of streams have failed. */
  | {
      readonly kind: 'failed'
      readonly count: number
      readonly latest: { readonly stream: string; readonly text: string }
    }
  /** The open stream was read. */
  | { readonly kind: 'opened' }
  /** Time has passed: notices and unlocked changes expire. */
  | { readonly kind: 'tick' }
  | { readonly kind: 'previewed'; readonly request: number; readonly preview: Preview }
  | { readonly kind: 'preview-failed'; readonly request: number; readonly message: string }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'batch-ended'; readonly end: NonNullable<Batch['end']> }
  | { readonly kind: 'line-answered'; readonly output: LineOutput }
  | { readonly kind: 'notice'; readonly text: string; readonly style: Notice['style'] }
  | { readonly kind: 'completed'; readonly typed: string; readonly words: readonly string[] }
  | { readonly kind: 'settings-saved'; readonly settings: DashboardSettings }

/** A side effect besides drawing. */
export type Effect =
  | {
      readonly kind: 'preview'
      readonly request: number
      readonly verb: ChangeVerb
      readonly targets: readonly ChangeTarget[]
    }
  /** The dialog was closed before the preview arrived. */
  | { readonly kind: 'forget-preview' }
  | {
      readonly kind: 'carry-out'
      readonly preview: Preview
      readonly reason: string
      readonly given: SignalText | undefined
    }
  | { readonly kind: 'stop-batch' }
  | { readonly kind: 'run-line'; readonly line: string; readonly mayWrite: boolean }
  | { readonly kind: 'stop-line' }
  /** Finds the words that can end a line; `typed` comes back with them. */
  | { readonly kind: 'complete'; readonly line: string; readonly typed: string }
  /** Opens the store of a context in place of this one. */
  | { readonly kind: 'switch-store'; readonly context: string }
  | { readonly kind: 'copy'; readonly text: string }
  | { readonly kind: 'save-settings'; readonly change: SettingsChange }
  | { readonly kind: 'ring'; readonly text: string; readonly title: string }
  | { readonly kind: 'title'; readonly title: string }
  | { readonly kind: 'read-now' }
  | { readonly kind: 'dry-run' }
  | { readonly kind: 'suspend' }
  | { readonly kind: 'repaint' }
  | { readonly kind: 'quit' }

/** How long changes stay unlocked, ms. */
export const UNLOCKED_MS = 10 * 60_000

/** How long a notice is displayed, ms. */
export const NOTICE_MS = 5_000
