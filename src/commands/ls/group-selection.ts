import { Command, Option } from 'commander'
import { shellWord } from '../../cli/command-line.ts'
import { filterFlags } from '../../cli/selection/flags.ts'
import { matchesFailure } from '../../ops/filter.ts'
import type { GroupBy, StreamGroup } from '../../ops/groups.ts'
import { STREAM_STATES } from '../../stream/state.ts'
import type { LsOptions } from './options.ts'

/** Words of a command line that select the streams of a group. */
export type GroupSelection = (group: StreamGroup) => readonly string[] | undefined

/**
 * Returns the selection of each group: its own flags, and the filters of the command line that they do not replace;
 * `undefined` for a group that no filter selects.
 */
export function groupSelection(by: GroupBy, { failure: given }: LsOptions, argv: readonly string[]): GroupSelection {
  const filters = givenFilters(argv)
  return group => {
    const own = group.others ? undefined : ownFlags(by, group)
    if (own === undefined) return undefined
    // Of several --failure any one matches, so a given one is left out; it must match the whole group.
    if (by === 'failure' && given !== undefined && !matchesFailure(textOf(group), given)) return undefined
    const kept = filters.filter(({ flag }) => !own.some(([name]) => name === flag))
    return [...kept.flatMap(({ words }) => words), ...own.flat()]
  }
}

type Flag = readonly [name: string, value: string]

function ownFlags(by: GroupBy, group: StreamGroup): readonly Flag[] | undefined {
  switch (by) {
    case 'status':
      return statusFlag(group.group)
    case 'state':
      return STREAM_STATES.some(state => state === group.group) ? flagOf('--state', group.group) : undefined
    case 'failure':
      return [['--failure', `/^${patternOf(group)}$/`], ...(flagOf('--root', group.root) ?? [])]
    case 'waiting-on':
      return all(
        flagOf('--root', group.root),
        group.state === 'held' ? [] : flagOf('--waiting-on', group.name),
        flagOf('--event-state', group.state),
      )
    case 'owner':
      return flagOf('--owner', group.owner)
    case 'root':
      return flagOf('--root', group.root)
    case 'topic':
      return flagOf('--topic', group.topic)
    default:
      return by satisfies never
  }
}

/** The filters take no empty value. */
function flagOf(name: string, value: string | undefined): readonly Flag[] | undefined {
  return value === undefined || value === '' ? undefined : [[name, value]]
}

function all(...flags: readonly (readonly Flag[] | undefined)[]): readonly Flag[] | undefined {
  const known = flags.filter(each => each !== undefined)
  return known.length === flags.length ? known.flat() : undefined
}

/** Words of `--status` where they differ from the name of the group. */
const STATUS_WORDS: Readonly<Record<string, string>> = {
  init: 'init',
  inprocess: 'inprocess',
  completed: 'success',
  'completed (errors)': 'errors',
  aborted: 'aborted',
  canceled: 'canceled',
}

function statusFlag(group: string): readonly Flag[] | undefined {
  return Object.hasOwn(STATUS_WORDS, group) ? flagOf('--status', STATUS_WORDS[group]) : undefined
}

/** Failures without a message are in the group of those with this text. */
const NO_MESSAGE = 'no message'

function patternOf({ group }: StreamGroup): string {
  const pattern = group.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return group.toLowerCase() === NO_MESSAGE ? `(${pattern})?` : pattern
}

function textOf({ group }: StreamGroup): string {
  return group === NO_MESSAGE ? '' : group
}

interface GivenFilter {
  readonly flag: string
  readonly words: readonly string[]
}

/** Flags of a listing that are no filters. */
const LIST_FLAGS = ['--group-by', '--sort', '--fields', '--limit', '--at'].map(name => new Option(`${name} <value>`))

/** The command that lists the same again, without the store: its address could have a secret as it was typed. */
export function listedBy({ contexts }: LsOptions, argv: readonly string[]): string {
  const given = givenFlags(argv, [...filterFlags(new Command()).options, ...LIST_FLAGS]).flatMap(({ words }) => words)
  const store = contexts === undefined ? [] : ['-c', contexts.join(',')]
  return ['leasectl', 'ls', ...[...given, ...store].map(shellWord)].join(' ')
}

function givenFilters(argv: readonly string[]): readonly GivenFilter[] {
  return givenFlags(argv, filterFlags(new Command()).options)
}

/** The flags as typed: parsed values cannot be turned back into words. */
function givenFlags(argv: readonly string[], options: readonly Option[]): readonly GivenFilter[] {
  const found: GivenFilter[] = []
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? ''
    const option = options.find(({ long }) => word === long || word.startsWith(`${long}=`))
    if (option?.long == null) continue
    const hasValue = option.required && word === option.long
    found.push({ flag: option.long, words: hasValue ? [word, argv[++at] ?? ''] : [word] })
  }
  return found
}
