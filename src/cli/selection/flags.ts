import { type Command, Option } from 'commander'
import type { PointInTime } from '../time-points.ts'
import { pointInTime } from '../time-points.ts'
import { choices, nonEmpty, pattern, requiredText } from '../values.ts'

/** Flags that say which streams; all that are given must hold. */
export interface FilterOptions {
  readonly match?: string
  readonly status?: readonly string[]
  readonly failed?: boolean
  readonly overdue?: boolean
  readonly locked?: boolean
  readonly key?: string
  readonly topic?: string
  readonly tag?: string
  readonly trackingId?: string
  readonly since?: PointInTime
}

/** How a command is told its streams: names, filters, a list, or all. Two kinds together are a mistake. */
export interface SelectionOptions extends FilterOptions {
  /** The arguments. */
  readonly names: readonly string[]
  /** `--streams`: a file, or `-` for standard input. */
  readonly streams?: string
  readonly all?: boolean
}

const STATUS_WORDS = ['init', 'inprocess', 'completed', 'aborted', 'canceled'] as const
const SELECTION = 'Which streams:'

/** Adds the filters. `since`: its help, `false` where the command means something else by `--since`. */
export function filterFlags(
  command: Command,
  since: string | false = 'only what changed since: 30m, 14:00, a date and time; with --failed: what failed since',
): Command {
  const options = [
    new Option(
      '--match <glob>',
      'names like this: * stays within a /, ** does not; also ? [a-z] [!a-z] {a,b}',
    ).argParser(pattern('--match')),
    new Option('--status <status>', `status of the stream: ${STATUS_WORDS.join(', ')}; joined by commas`).argParser(
      choices('--status', STATUS_WORDS),
    ),
    new Option('--failed', 'an event was aborted or canceled'),
    new Option('--overdue', 'something has outlived its time limit'),
    new Option('--locked', 'somebody holds the lease'),
    ...(['key', 'topic', 'tag'] as const).map(name =>
      new Option(`--${name} <text>`, `the root event has this ${name}`).argParser(requiredText(`--${name}`)),
    ),
    new Option('--tracking-id <id>', 'the root event has this tracking id').argParser(requiredText('--tracking-id')),
    ...(since === false ? [] : [new Option('--since <time>', since).argParser(pointInTime('--since'))]),
  ]
  for (const option of options) command.addOption(option.helpGroup(SELECTION))
  return command
}

/** Adds the filters, `--streams` and `--all`. */
export function selectionFlags(command: Command, since?: string | false): Command {
  filterFlags(command, since)
  const options = [
    new Option('--streams <file>', 'names from a file, one a line, or ls -o ndjson; - is standard input').argParser(
      nonEmpty('--streams'),
    ),
    new Option('--all', 'every stream of the store'),
  ]
  for (const option of options) command.addOption(option.helpGroup(SELECTION))
  return command
}
