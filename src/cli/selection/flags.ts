import { type Command, Option } from 'commander'
import { choices, nonEmpty, type PointInTime, pattern, pointInTime, requiredText } from '../values.ts'

/** Filters of streams; a stream must match all of them. */
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

/** A selection of streams: names, filters, a list, or all. Two kinds together are an error. */
export interface SelectionOptions extends FilterOptions {
  /** The arguments. */
  readonly names: readonly string[]
  /** `--streams`: a file, or `-` for standard input. */
  readonly streams?: string
  readonly all?: boolean
}

const STATUS_WORDS = ['init', 'inprocess', 'completed', 'aborted', 'canceled'] as const
const SELECTION = 'Selecting streams:'

/** Adds the filters. `since` is the help of `--since`, or `false` if the command defines `--since` itself. */
export function filterFlags(
  command: Command,
  since: string | false = 'changed since: 30m, 14:00, a date and time; with --failed: failed since',
): Command {
  const options = [
    new Option(
      '--match <glob>',
      'glob over the whole name: * stops at a /, ** does not; also ? [a-z] [!a-z] {a,b}',
    ).argParser(pattern('--match')),
    new Option('--status <status>', `status of the stream: ${STATUS_WORDS.join(', ')}; separated by commas`).argParser(
      choices('--status', STATUS_WORDS),
    ),
    new Option('--failed', 'at least one event was aborted or canceled'),
    new Option('--overdue', 'at least one event is overdue'),
    new Option('--locked', 'the stream is leased'),
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
    new Option('--streams <file>', 'names from a file, one per line, or ls -o ndjson; - is standard input').argParser(
      nonEmpty('--streams'),
    ),
    new Option('--all', 'every stream of the store'),
  ]
  for (const option of options) command.addOption(option.helpGroup(SELECTION))
  return command
}
