import { commandLine } from '../../cli/command-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { countText } from '../../formats/terminal/numbers.ts'
import type { ChangeTarget, SignalText } from '../../tui/ports.ts'
import { commandWords } from '../../util/strings.ts'

/** The streams in order, each with its events; none for the whole stream. */
export function eventsByStream(targets: readonly ChangeTarget[]): ReadonlyMap<string, readonly string[]> {
  const streams = new Map<string, Set<string>>()
  const whole = new Set(targets.flatMap(({ stream, event }) => (event === undefined ? [stream] : [])))
  for (const { stream, event } of targets) {
    const events = streams.get(stream) ?? new Set()
    streams.set(stream, events)
    // the whole stream includes its events
    if (event !== undefined && !whole.has(stream)) events.add(event)
  }
  return new Map([...streams].map(([stream, events]) => [stream, [...events]]))
}

export type Events = ReadonlyMap<string, readonly string[]>

/** Longer command lines are neither readable nor easy to paste. */
const MAX_CHARACTERS = 4_000

/** The words of one command, for streams with the same events. */
export function changeWords(verb: string, [names, events]: NamesOf, flags: CommandFlags): readonly string[] {
  const why = flagWords(flags)
  if (verb === 'skip') return commandWords(['event', 'skip'], [...names, ...events], why)
  const which = events.flatMap(event => ['-e', event])
  const signal = flags.given === undefined ? [] : [flags.given.name]
  return commandWords(verb.split(' '), [...names, ...signal], [...which, ...why])
}

export interface CommandFlags {
  readonly reason: string
  readonly reopensCanceled: boolean
  readonly given?: SignalText | undefined
}

function flagWords({ reason, reopensCanceled, given }: CommandFlags): readonly string[] {
  const data = given?.data ?? ''
  return [
    ...(reopensCanceled ? ['--canceled'] : []),
    ...(data === '' ? [] : ['--data', data]),
    ...(reason === '' ? [] : ['-m', reason]),
  ]
}

type NamesOf = readonly [names: readonly string[], events: readonly string[]]

/** The command line that is equivalent to a change of the dashboard. */
export function changeCommand(verb: string, targets: Events, flags: CommandFlags, runtime: Runtime): string {
  const lines = groups(targets).map(group => commandLine(runtime, changeWords(verb, group, flags)))
  const text = lines.join(' && ')
  if (text.length <= MAX_CHARACTERS) return text
  const signal = flags.given === undefined ? [] : [flags.given.name]
  const rest = commandLine(runtime, [...verb.split(' '), '--streams', '-', ...flagWords(flags), ...signal])
  return `${rest}  # ${countText(targets.size)} names on standard input`
}

/** Groups streams with the same events. */
export function groups(targets: Events): readonly NamesOf[] {
  const found = new Map<string, { readonly names: string[]; readonly events: readonly string[] }>()
  for (const [name, events] of targets) {
    const key = JSON.stringify(events)
    const group = found.get(key) ?? { names: [], events }
    found.set(key, group)
    group.names.push(name)
  }
  return [...found.values()].map(({ names, events }) => [names, events])
}
