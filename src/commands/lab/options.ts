import { type Command, Option } from 'commander'
import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import { choice, count, duration } from '../../cli/values.ts'
import { PACES, type PaceName } from '../../lab/strategies.ts'

/** Flags of both tests. */
export interface LabOptions extends GlobalOptions {
  readonly procs?: number
  /** How long the lease is held or the work on an event takes, ms. */
  readonly hold?: number
  readonly pace?: PaceName
  readonly createContainer?: boolean
  /** Set in the worker processes that the lab starts. */
  readonly asWorker?: string
  readonly stream?: string
  /** The index of the worker, from 0. */
  readonly at?: number
}

const MOST_PROCS = 64
const MOST_HOLD_MS = 10_000

export function labFlags(command: Command, hold: string): Command {
  return command
    .addOption(
      new Option('--procs <n>', `number of processes, up to ${MOST_PROCS} (default: 5)`).argParser(
        upTo('--procs', MOST_PROCS),
      ),
    )
    .addOption(new Option('--hold <duration>', hold).argParser(noLonger('--hold', MOST_HOLD_MS, { zero: true })))
    .addOption(
      new Option(
        '--pace <how>',
        'usual, or reference: polls every 750-2500 ms, like the library of 2013, and in lab lease rests 750-2000 ms between turns (default: usual)',
      ).argParser(choice('--pace', PACES)),
    )
    .option('--create-container', 'create the container or the file of --store if it is missing (automatic on azurite)')
    .addOption(new Option('--as-worker <name>').hideHelp())
    .addOption(new Option('-c, --context <name>').hideHelp())
    .addOption(new Option('--container <name>').hideHelp())
    .addOption(new Option('--stream <name>').hideHelp())
    .addOption(new Option('--at <n>').argParser(Number).hideHelp())
}

/** Parses a whole number from 1 to `most`. */
export function upTo(flag: string, most: number): (text: string) => number {
  return text => {
    const value = count(flag, 1)(text)
    if (value <= most) return value
    throw new UsageError(`${flag} ${value} is too many`, { hint: `a whole number from 1 to ${most}` })
  }
}

/** Parses a duration of at most `mostMs`. */
export function noLonger(flag: string, mostMs: number, rest: { zero?: boolean } = {}): (text: string) => number {
  return text => {
    const ms = duration(flag, rest)(text)
    if (ms <= mostMs) return ms
    throw new UsageError(`${flag} ${text} is too long`, { hint: `at most ${mostMs / 1000}s` })
  }
}
