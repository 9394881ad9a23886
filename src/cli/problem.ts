import type { Holder } from '../store/store.ts'
import { LeasectlError } from '../stream/errors.ts'
import { exitOf, isRetryable } from './exit-codes.ts'

/** Why a command did not do what it was asked for: what `exit.ts` prints and what the exit code comes from. */
export interface Problem {
  /** Stable, for scripts: `lease-held`, `already-final`. */
  readonly code: string
  readonly exit: number
  /** The exit code that the table gives this error, where `exit` is another: of `exec`, whose codes are those of the command. */
  readonly tableExit?: number
  /** The headline, without `error:`. */
  readonly message: string
  /** Whether anything was changed. */
  readonly applied: 'no' | 'yes' | 'unknown'
  /** The same command may succeed later. */
  readonly retryable: boolean
  readonly stream?: string
  readonly event?: string
  readonly holder?: Holder
  readonly commandId?: string
  readonly hint?: string
  /** Further facts, a label of at most eight letters each. */
  readonly facts?: readonly Fact[]
  /** A command line to copy. */
  readonly tryCommand?: string
  /** The error behind it: its stack is printed with `--debug`. */
  readonly cause?: unknown
}

export type Fact = readonly [label: string, text: string]

/** A problem with the exit code that the table gives its code. */
export function problem(code: string, message: string, more: Partial<Omit<Problem, 'code' | 'message'>> = {}): Problem {
  const exit = more.exit ?? exitOf(code)
  return { code, message, applied: 'no', retryable: isRetryable(exit), ...more, exit }
}

/** Something typed wrongly: exit 2. The hint says how to write it. */
export class UsageError extends LeasectlError {
  readonly code = 'usage'
}

/** Carries a command's problem to the one place that ends the process. */
export class CommandFailed extends Error {
  readonly problem: Problem

  constructor(what: Problem) {
    super(what.message)
    this.name = 'CommandFailed'
    this.problem = what
  }
}

/** Ends the program with a code of its own, 0 included: all there is to say was said. */
export class EndsWith extends Error {
  readonly exit: number

  constructor(exit: number) {
    super(`ends with ${exit}`)
    this.name = 'EndsWith'
    this.exit = exit
  }
}
