import { Command, Option } from 'commander'
import type { TextPattern } from '../../ops/filter.ts'
import { OUTCOMES } from '../../stream/event.ts'
import { STREAM_STATES } from '../../stream/state.ts'
import {
  added,
  choices,
  duration,
  nonEmpty,
  once,
  type PointInTime,
  pattern,
  pointInTime,
  requiredText,
  textPattern,
} from '../values.ts'

/** Filters of streams; a stream must match all of them. */
export interface FilterOptions {
  readonly match?: readonly string[]
  readonly notMatch?: readonly string[]
  readonly status?: readonly string[]
  /** States of streams; `events --state` is of events. */
  readonly state?: readonly string[]
  readonly failed?: boolean
  readonly acknowledged?: boolean
  readonly canceled?: boolean
  readonly failure?: readonly TextPattern[]
  /** `retry --canceled`: also what was canceled on request. Selects nothing by itself. */
  readonly reopenCanceled?: boolean
  readonly overdue?: boolean
  readonly suspended?: boolean
  readonly abandoned?: boolean
  readonly locked?: boolean
  readonly waitingOn?: readonly string[]
  readonly owner?: readonly string[]
  readonly eventName?: readonly string[]
  readonly eventState?: readonly string[]
  readonly outcome?: readonly string[]
  readonly root?: readonly string[]
  readonly key?: readonly string[]
  readonly topic?: readonly string[]
  readonly tag?: readonly string[]
  readonly trackingId?: readonly string[]
  readonly since?: PointInTime
  readonly until?: PointInTime
  /** ms */
  readonly olderThan?: number
}

/** A selection of streams: names, filters, a list, or all. Two kinds together are an error. */
export interface SelectionOptions extends FilterOptions {
  /** The arguments. */
  readonly names: readonly string[]
  /** `--streams`: a file, or `-` for standard input. */
  readonly streams?: string
  readonly all?: boolean
}

const STATUS_WORDS = ['init', 'inprocess', 'completed', 'success', 'errors', 'aborted', 'canceled'] as const
const EVENT_STATES = ['ready', 'running', 'abandoned', 'held', 'suspended'] as const
const SELECTION = 'Selecting streams:'

/** What `--since` selects unless a command says otherwise. */
const SINCE =
  'changed at or after this time (30m ago, 14:00, a date); with --failed or --canceled: failed or canceled since'

/** Adds the filters. `since`: the help of `--since` where it means something else, `false` for a command without the flags of time. */
export function filterFlags(command: Command, since: string | false = SINCE): Command {
  const options = [
    new Option(
      '--match <glob>',
      'glob over the whole name: * stops at a /, ** does not; also ? [a-z] [!a-z] {a,b}',
    ).argParser(added(pattern('--match'))),
    new Option('--not-match <glob>', 'glob the name must not match').argParser(added(pattern('--not-match'))),
    new Option(
      '--status <status>',
      'status of the stream: init, inprocess, completed, aborted, canceled; success and errors are completed without and ' +
        'with errors; separated by commas',
    ).argParser(choices('--status', STATUS_WORDS)),
    new Option(
      '--state <state>',
      `what the stream does or waits for: ${STREAM_STATES.join(', ')}; separated by commas, or repeated`,
    ).argParser(choices('--state', STREAM_STATES)),
    new Option(
      '--outcome <outcome>',
      `what failures have meant for the stream: ${OUTCOMES.join(', ')}; separated by commas`,
    ).argParser(choices('--outcome', OUTCOMES)),
    new Option('--failed', 'an event has failed and nobody has acknowledged it (see ack)'),
    new Option('--acknowledged', 'an event has failed, acknowledged or not'),
    new Option('--canceled', 'the stream or an event was canceled on request'),
    new Option(
      '--failure <text>',
      'message of the first failure contains this text, or matches /REGEXP/; # is any number or id',
    ).argParser(added(textPattern('--failure'))),
    new Option('--overdue', 'an event is past its deadline'),
    new Option('--suspended', 'the stream is suspended (see suspend)'),
    new Option('--abandoned', 'the claim of a running event has ended: its worker is silent'),
    new Option('--locked', 'the lease is held'),
    new Option('--waiting-on <name>', 'an event of this name is ready or running').argParser(text('--waiting-on')),
    new Option('--owner <worker>', 'this worker has claimed an event').argParser(text('--owner')),
    new Option(
      '--event-state <state>',
      `an event is ${EVENT_STATES.join(', ')}; separated by commas; with --waiting-on or --owner: that event is`,
    ).argParser(choices('--event-state', EVENT_STATES)),
    new Option('--event-name <name>', 'an event of this name is ready, running or failed first').argParser(
      text('--event-name'),
    ),
    new Option('--root <name>', 'name of the root event').argParser(text('--root')),
    ...(['key', 'topic', 'tag'] as const).map(name =>
      new Option(`--${name} <text>`, `${name} of the root event`).argParser(text(`--${name}`)),
    ),
    new Option('--tracking-id <id>', 'tracking id of the root event').argParser(text('--tracking-id')),
    ...(since === false ? [] : timeFlags(since)),
  ]
  // `events --state` is of events
  const own = command.options.map(({ long }) => long)
  for (const option of options) if (!own.includes(option.long)) command.addOption(option.helpGroup(SELECTION))
  return command
}

/** The filters of a command line, as typed: for another command with the same filters. */
export function filterArguments(argv: readonly string[]): readonly string[] {
  const flags = new Map(filterFlags(new Command()).options.map(option => [option.long, option.required]))
  const found: string[] = []
  for (let at = 0; at < argv.length && argv[at] !== '--'; at++) {
    const [word = ''] = (argv[at] ?? '').split('=', 1)
    const takesValue = flags.get(word)
    if (takesValue === undefined) continue
    const hasValue = takesValue && argv[at] === word
    found.push(...argv.slice(at, at + (hasValue ? 2 : 1)))
    if (hasValue) at++
  }
  return found
}

function timeFlags(since: string): Option[] {
  const flags = [new Option('--since <time>', since).argParser(pointInTime('--since'))]
  if (since !== SINCE) return flags
  return [
    ...flags,
    new Option('--until <time>', 'the same, at or before this time').argParser(pointInTime('--until')),
    new Option('--older-than <duration>', 'the same, longer ago than this: 12h, 30d').argParser(
      duration('--older-than'),
    ),
  ]
}

/** Repeated flags add up: any of the values selects. */
function text(flag: string) {
  return added(requiredText(flag))
}

/** Adds the filters, `--streams` and `--all`. */
export function selectionFlags(command: Command, since?: string | false): Command {
  filterFlags(command, since)
  const what = 'names from a file, one per line, or ls -o ndjson; - is standard input'
  const list = new Option('--streams <file>', what).argParser(once('--streams', nonEmpty('--streams')))
  for (const option of [list, new Option('--all', 'every stream of the store')])
    command.addOption(option.helpGroup(SELECTION))
  return command
}
