import type { StreamStore } from '../store/store.ts'
import type { DryRun } from './data/types.ts'

/** What can be done to streams from the dashboard. */
export type ChangeVerb = 'cancel' | 'abort' | 'retry' | 'break'

/** A stream, or one event of it. */
export interface ChangeTarget {
  readonly stream: string
  readonly event?: string
}

/** What would be changed, before anything is. */
export interface Preview {
  readonly verb: ChangeVerb
  /** `This cancels 3 streams`, safe to print. */
  readonly question: string
  /** Lines of safe text: the first targets with how they stand and what follows, such as `4 open events below`. */
  readonly lines: readonly string[]
  /** How many will be tried. 0: there is nothing to do, and `lines` say why. */
  readonly count: number
  /** The command line that does the same, without the reason. */
  readonly command: (reason: string) => string
  /** How it is confirmed: by `yes`, or by typing `count`, or the name, exactly. */
  readonly confirm: { readonly kind: 'yes' } | { readonly kind: 'type'; readonly text: string; readonly what: string }
  /** A reason is asked for: breaking a lease leaves none. */
  readonly takesReason: boolean
}

/** What became of one target. */
export interface Outcome {
  readonly target: ChangeTarget
  /** As batches call it: done, already, refused, busy, changed, failed, unknown. */
  readonly word: string
  readonly isGood: boolean
  /** Safe to print: `canceled, with 3 more events`, or why not. */
  readonly text: string
}

/** How a change as a whole ended, in safe lines: where the run file is, how to do the rest. */
export interface ChangeEnd {
  readonly lines: readonly string[]
}

/** What a line of the command line answered. Safe to print, colours left out. */
export interface LineOutput {
  readonly exit: number
  readonly lines: readonly string[]
}

/** What of the dashboard a command line is wanted for. */
export type CommandContext =
  | { readonly kind: 'streams'; readonly filter: string }
  | { readonly kind: 'stream'; readonly stream: string; readonly pane: 'tree' | 'timeline' | 'xml' }
  | { readonly kind: 'event'; readonly stream: string; readonly event: string }
  | { readonly kind: 'leases' }
  | { readonly kind: 'watchdog' }
  | { readonly kind: 'activity' }

/** What the dashboard needs of the rest of the program. */
export interface Ports {
  readonly store: StreamStore
  /** Its address, as `--store` takes it. */
  readonly address: string
  readonly isProtected: boolean
  /** What is typed to unlock writes in a protected store. */
  readonly protectedName: string
  /** Whole streams, or events; looks at them, changes nothing. @throws the store's faults, the signal's reason */
  preview(verb: ChangeVerb, targets: readonly ChangeTarget[], signal: AbortSignal): Promise<Preview>
  /**
   * Does what was previewed, each stream pinned to the state it had then. The signal stops what has not begun.
   * @throws what kept all of it from being begun
   */
  carryOut(
    preview: Preview,
    reason: string,
    onOutcome: (outcome: Outcome) => void,
    signal: AbortSignal,
  ): Promise<ChangeEnd>
  /** What a watchdog's pass with the usual settings would do now. */
  dryRun(signal: AbortSignal): Promise<Extract<DryRun, { kind: 'done' }>>
  /** Runs a line of the program's own language: nothing that holds the terminal, and where `mayWrite` is false nothing that changes. */
  runLine(line: string, mayWrite: boolean, signal: AbortSignal): Promise<LineOutput>
  /** The command line that shows the same. */
  commandFor(subject: CommandContext): string
  /** One line for people of what went wrong, without secrets, safe to print. */
  explain(error: unknown): { readonly code: string; readonly message: string }
}
