import type { StreamStore } from '../store/store.ts'
import type { DashboardStore } from './data/several-stores.ts'
import type { DryRun } from './data/types.ts'
import type { SettingsFile } from './settings.ts'

/** Changes that the dashboard offers. */
export type ChangeVerb =
  | 'cancel'
  | 'abort'
  | 'retry'
  | 'suspend'
  | 'resume'
  | 'break'
  | 'signal'
  | 'skip'
  /** Of a stream that does not go on in a subscription. */
  | 'retry-delivery'
  | 'skip-delivery'
  /** Of a subscription. */
  | 'reset'

/** A stream, by its name or, of several stores, by its key; or one event of it. */
export interface ChangeTarget {
  readonly stream: string
  readonly event?: string
  /** The subscription that it is about; a `reset` is about nothing else. */
  readonly subscription?: string
}

/** A signal as it was typed. */
export interface SignalText {
  readonly name: string
  /** As `--data` takes it: a text, `@FILE`, or `''` for none. */
  readonly data: string
}

/** A change before it is made. */
export interface Preview {
  readonly verb: ChangeVerb
  /** `This cancels 3 streams`, safe to print. */
  readonly question: string
  /** Lines of safe text, one for each of the first targets: its state and what follows, such as `4 open events below`. */
  readonly affected: readonly string[]
  /** Where it is made, if the dashboard shows several stores. */
  readonly place?: { readonly address: string; readonly isProtected: boolean }
  /** Number of targets after those. */
  readonly more: number
  /** Lines of safe text that must be read before a yes: totals, what is left out, and why. */
  readonly facts: readonly string[]
  /** Number of changes to be made. 0: nothing to do, `facts` say why. */
  readonly count: number
  /** The equivalent command line. */
  readonly command: (reason: string, given?: SignalText) => string
  /** How the user confirms: `yes`, or by typing the count or the name exactly. */
  readonly confirm: { readonly kind: 'yes' } | { readonly kind: 'type'; readonly text: string; readonly what: string }
  /** Names of signals that events of the targets wait for; the first is proposed. */
  readonly awaited?: readonly string[]
}

/** The outcome of one target. */
export interface Outcome {
  readonly target: ChangeTarget
  /** As in batches: done, already, refused, busy, changed, failed, unknown. */
  readonly word: string
  readonly isGood: boolean
  /** Safe to print: `canceled, with 3 more events`, or why not. */
  readonly text: string
}

/** The end of a change, in safe lines: where the run file is, how to resume. */
export interface ChangeEnd {
  readonly lines: readonly string[]
}

/** The output of a `:` line. Safe to print, without colours. */
export interface LineOutput {
  readonly exit: number
  readonly lines: readonly string[]
}

/** The part of the dashboard for which a command line is requested. */
export type CommandContext =
  | { readonly kind: 'streams'; readonly filter: string; readonly onlyBroken?: boolean }
  | { readonly kind: 'stream'; readonly stream: string; readonly pane: 'tree' | 'timeline' | 'xml' }
  | { readonly kind: 'event'; readonly stream: string; readonly event: string }
  | { readonly kind: 'leases' }
  | { readonly kind: 'watchdog' }
  | { readonly kind: 'activity' }
  | { readonly kind: 'workers' }
  /** One of them, and a stream that does not go on in it, if a row is about them. */
  | {
      readonly kind: 'subscriptions'
      /** The context of its store, among several. */
      readonly store?: string
      readonly subscription?: string
      readonly stream?: string
    }
  /** One of them, if a row is about it. */
  | { readonly kind: 'inboxes'; readonly store?: string; readonly inbox?: string }

/** What the dashboard needs from the rest of the program. */
export interface Ports {
  /** The store; of several the first one, whose clock counts. */
  readonly store: StreamStore
  /** Several stores: their streams have keys, see `streamKey`. */
  readonly stores?: readonly DashboardStore[]
  /** Address of the store, as `--store` takes it. */
  readonly address: string
  readonly isProtected: boolean
  /** The text to type to unlock changes in a protected store. */
  readonly protectedName: string
  readonly settings: SettingsFile
  /** Inspects whole streams or events without changing them. @throws store errors, the signal's reason */
  preview(verb: ChangeVerb, targets: readonly ChangeTarget[], signal: AbortSignal): Promise<Preview>
  /**
   * Makes the previewed changes, each pinned to the inspected state of its stream. The signal stops changes not yet
   * started.
   * @param given the signal, if the change is one
   * @throws if nothing could be started
   */
  carryOut(
    preview: Preview,
    reason: string,
    onOutcome: (outcome: Outcome) => void,
    signal: AbortSignal,
    given?: SignalText,
  ): Promise<ChangeEnd>
  /** What a watchdog's pass with default settings would do now. */
  dryRun(signal: AbortSignal): Promise<Extract<DryRun, { kind: 'done' }>>
  /**
   * Runs a leasectl command line; refuses commands that hold the terminal and, unless `mayWrite`, those that change
   * something.
   */
  runLine(line: string, mayWrite: boolean, signal: AbortSignal): Promise<LineOutput>
  /** The words that can end a command line, as they are typed. */
  completeLine(line: string, signal: AbortSignal): Promise<readonly string[]>
  /** Opens the store of a context, which then is shown in place of this one. @throws if there is none */
  switchStore(context: string): Promise<void>
  /** The command line that shows the same. */
  commandFor(subject: CommandContext): string
  /** One line that explains an error, without secrets, safe to print. */
  explain(error: unknown): { readonly code: string; readonly message: string }
}
