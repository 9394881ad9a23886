import type { TimeStyle } from '../../formats/terminal/numbers.ts'
import type { ChangeEnd, ChangeTarget, ChangeVerb, LineOutput, Outcome, Preview } from '../ports.ts'

/** The five screens, in the order of their digits. */
export const SCREENS = ['streams', 'stream', 'leases', 'watchdog', 'activity'] as const
export type Screen = (typeof SCREENS)[number]

/** Everything that decides what is drawn, beside the data. Only `update` makes new ones. */
export interface State {
  readonly size: Size
  readonly screen: Screen
  readonly lists: { readonly [Of in Screen]: ListState }
  /** Name of the stream of the second screen; `''` before one was entered. */
  readonly stream: string
  /** Where `esc` leads from the second screen. */
  readonly cameFrom: Exclude<Screen, 'stream'> | undefined
  readonly pane: 'tree' | 'timeline' | 'xml'
  /** Keys of tree nodes that are folded. */
  readonly folded: ReadonlySet<string>
  /** The row of the XML that is the first on the screen. */
  readonly paneTop: number
  readonly isDetailOpen: boolean
  readonly isWide: boolean
  readonly time: Extract<TimeStyle, 'relative' | 'local' | 'utc'>
  /** Set while the picture is frozen: how many changes had been seen by then. */
  readonly frozen: { readonly revision: number } | undefined
  readonly writes: Writes
  readonly prompt: Prompt | undefined
  readonly dialog: Dialog | undefined
  /** One line about what was just done, until it is too old. */
  readonly notice: Notice | undefined
  /** A change that is being carried out, or has been; its dialog may be closed meanwhile. */
  readonly batch: Batch | undefined
  /** Former lines of `:`, the latest last. */
  readonly history: readonly string[]
  /** How many previews were asked for so far: answers to earlier ones are told apart by it. */
  readonly requests: number
}

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** A list and the place of the cursor in it. */
export interface ListState {
  /** The row under the cursor, by name: it follows that row wherever it goes. `undefined`: the first. */
  readonly cursor: string | undefined
  /** Where it stood last: the row that stands there takes its place when it is gone. */
  readonly index: number
  /** Rows of the list that are seen above it: it stays there while others come and go. */
  readonly offset: number
  readonly filter: string
  readonly sort: Sort | undefined
  /** By name, whatever the filter shows. */
  readonly marks: ReadonlySet<string>
  /** Grows with each move of the cursor: rows that left the filter are dropped then. */
  readonly moves: number
}

/** The columns a list can be sorted by; the first is the order that it has unless somebody chose another. */
export const SORTS = {
  streams: ['name', 'status', 'failed', 'due', 'age', 'changed'],
  stream: [],
  leases: ['since', 'name', 'holder'],
  watchdog: [],
  activity: [],
} as const satisfies { readonly [Of in Screen]: readonly string[] }

export interface Sort {
  readonly by: string
  readonly isDescending: boolean
}

/** `never`: it was started so that nothing can be changed. */
export type Writes =
  | { readonly kind: 'never' }
  | { readonly kind: 'locked' }
  | { readonly kind: 'unlocked'; readonly untilMs: number }

/** A text that is being typed. `at`: where the next character goes, in UTF-16 units, never inside a character. */
export interface TextField {
  readonly text: string
  readonly at: number
}

/** The last line of the screen while something is typed into it. */
export type Prompt =
  | { readonly kind: 'filter'; readonly field: TextField; readonly before: string }
  | { readonly kind: 'line'; readonly field: TextField; readonly past: number | undefined }

export interface Notice {
  readonly text: string
  readonly style: 'plain' | 'good' | 'warn' | 'bad'
  readonly untilMs: number
}

/** What stands in front of the screen and has the keys. */
export type Dialog =
  | { readonly kind: 'help'; readonly top: number }
  | ChangeDialog
  /** What becomes of the batch. */
  | { readonly kind: 'outcomes'; readonly top: number }
  | { readonly kind: 'unlock'; readonly name: string; readonly field: TextField; readonly isWrong: boolean }
  | OutputDialog
  | { readonly kind: 'quit' }

/** What a line of `:` answered; `undefined` while it runs. */
export interface OutputDialog {
  readonly kind: 'output'
  readonly line: string
  readonly output: LineOutput | undefined
  readonly top: number
  /** It was begun while changes were unlocked: closing it would hide what it has changed by then. */
  readonly mayWrite?: true
  readonly isStopping?: true
}

/** Asks before a change. `looking` until the preview has come. Nothing happens unless `yes` is chosen. */
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
  readonly focus: 'reason' | 'typed' | 'no' | 'yes'
}

export interface Batch {
  readonly preview: Preview
  readonly outcomes: readonly Outcome[]
  readonly isStopping: boolean
  /** Quits when it has ended. */
  readonly isLast?: boolean
  /** Set when it has ended. */
  readonly end: ChangeEnd | { readonly fault: string } | undefined
}

/** A key as it was pressed: its name (`up`, `enter`, `ctrl-c`, …), or the character itself. */
export interface KeyPress {
  readonly key: string
  /** What it would type; `undefined` for keys that type nothing. */
  readonly text: string | undefined
}

/** Whatever may change the state. */
export type Action =
  | { readonly kind: 'key'; readonly press: KeyPress }
  /** More than one character at once, as terminals hand it over in bracketed paste. Never taken for commands. */
  | { readonly kind: 'paste'; readonly text: string }
  | { readonly kind: 'resize'; readonly size: Size }
  /** Time went on: notices and unlocked writes end. */
  | { readonly kind: 'tick' }
  | { readonly kind: 'previewed'; readonly request: number; readonly preview: Preview }
  | { readonly kind: 'preview-failed'; readonly request: number; readonly message: string }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'batch-ended'; readonly end: NonNullable<Batch['end']> }
  | { readonly kind: 'line-answered'; readonly output: LineOutput }
  | { readonly kind: 'notice'; readonly text: string; readonly style: Notice['style'] }

/** What has to be done besides drawing. */
export type Effect =
  | {
      readonly kind: 'preview'
      readonly request: number
      readonly verb: ChangeVerb
      readonly targets: readonly ChangeTarget[]
    }
  /** The dialog was closed before the preview came. */
  | { readonly kind: 'forget-preview' }
  | { readonly kind: 'carry-out'; readonly preview: Preview; readonly reason: string }
  | { readonly kind: 'stop-batch' }
  | { readonly kind: 'run-line'; readonly line: string; readonly mayWrite: boolean }
  | { readonly kind: 'stop-line' }
  | { readonly kind: 'copy'; readonly text: string }
  | { readonly kind: 'read-now' }
  | { readonly kind: 'dry-run' }
  | { readonly kind: 'suspend' }
  | { readonly kind: 'repaint' }
  | { readonly kind: 'quit' }

/** How long writes stay unlocked, ms. */
export const UNLOCKED_MS = 10 * 60_000

/** How long a notice stands, ms. */
export const NOTICE_MS = 5_000
