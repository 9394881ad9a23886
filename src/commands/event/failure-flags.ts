import { type Command, Option } from 'commander'
import { inFlag, requiredText, storedDuration } from '../../cli/values.ts'
import type { EventSpec } from '../../stream/operations/operation.ts'
import { parseAttempts, parseBackoff, retryText } from '../../stream/retry-policy.ts'
import { defined } from '../../util/defined.ts'

/** What happens when new events fail. */
export interface FailureFlags {
  readonly retries?: number
  /** The first and the longest pause: `2s..1m`. */
  readonly backoff?: string
  /** As written on the wire. */
  readonly attemptTimeout?: string
  readonly undo?: string
}

/** Adds the flags for failures of new events: `--retries`, `--backoff`, `--attempt-timeout`, `--undo`. */
export function failureFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--retries <n>',
        'attempts in all if it fails for a passing reason or its worker dies (default: what the worker says)',
      ).argParser(attempts('--retries')),
    )
    .addOption(
      new Option(
        '--backoff <pauses>',
        'pauses between attempts, the first and the longest: 2s..1m; they double (default: 1s..1m)',
      ).argParser(pauses('--backoff')),
    )
    .addOption(
      new Option('--attempt-timeout <duration>', 'how long one attempt may run; heartbeats do not renew it').argParser(
        storedDuration('--attempt-timeout'),
      ),
    )
    .addOption(
      new Option('--undo <name>', 'the step that takes it back, in a stream with --on-failure compensate').argParser(
        requiredText('--undo'),
      ),
    )
}

/** The given attributes, for a new event. */
export function failureOf({ retries, backoff, attemptTimeout, undo }: FailureFlags): Partial<EventSpec> {
  return defined({
    retry: retryText(retries === undefined ? undefined : String(retries), backoff),
    attemptTimeout,
    undo,
  })
}

/** A number of attempts in all. */
export function attempts(flag: string): (text: string) => number {
  return text => inFlag(flag, () => parseAttempts(text))
}

/** The first pause and the longest, as typed. */
export function pauses(flag: string): (text: string) => string {
  return text => inFlag(flag, () => parseBackoff(text) && text)
}
