import type { Holder } from '../store/store.ts'
import { LeasectlError } from '../stream/errors.ts'
import { exitOf, isRetryable } from './exit-codes.ts'

/** Why a command failed. `exit.ts` prints it and exits with its code. */
export interface Problem {
  /** Stable, for scripts: `lease-held`, `already-final`. */
  readonly code: string
  readonly exit: number
  /** The exit code of the table, if `exit` differs: `exec` exits with the codes of its command. */
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
  /** Further facts. A label has at most eight letters. */
  readonly facts?: readonly Fact[]
  /** A command line to copy. */
  readonly tryCommand?: string
  /** The underlying error; `--debug` prints its stack. */
  readonly cause?: unknown
}

export type Fact = readonly [label: string, text: string]

/** A problem with the exit code of the table. */
export function problem(code: string, message: string, more: Partial<Omit<Problem, 'code' | 'message'>> = {}): Problem {
  const exit = more.exit ?? exitOf(code)
  return { code, message, applied: 'no', retryable: isRetryable(exit), ...more, exit }
}

/** A usage error: exit 2. The hint says how to write it. */
export class UsageError extends LeasectlError {
  readonly code = 'usage'
}

/** Carries the problem of a command to `exit.ts`, which ends the process. */
export class CommandFailed extends Error {
  readonly problem: Problem

  constructor(what: Problem) {
    super(what.message)
    this.name = 'CommandFailed'
    this.problem = what
  }
}

/** Ends the program with this code, 0 included, without further output. */
export class EndsWith extends Error {
  readonly exit: number

  constructor(exit: number) {
    super(`ends with ${exit}`)
    this.name = 'EndsWith'
    this.exit = exit
  }
}

/** What to do about a document that cannot be read. */
export const UNREADABLE_HINT = 'show -o xml prints it as stored. To restore it from a copy: rm --force, then import.'
