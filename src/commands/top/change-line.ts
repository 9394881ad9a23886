import { commandLine } from '../../cli/command-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { countText } from '../../formats/terminal/count-text.ts'
import { commandWords } from '../../util/command-words.ts'

type Events = ReadonlyMap<string, readonly string[]>

/** What is longer no terminal takes from a clipboard, and nobody reads. */
const MOST_CHARACTERS = 4_000

/** The words of one command: streams of which the same events are meant. */
export function changeWords(verb: string, [names, events]: NamesOf, reason: string): readonly string[] {
  const why = reason === '' ? [] : ['-m', reason]
  const which = events.flatMap(event => ['-e', event])
  return commandWords(verb.split(' '), names, [...which, ...why])
}

type NamesOf = readonly [names: readonly string[], events: readonly string[]]

/** The command lines that do the same as a change of the dashboard, in one. */
export function changeCommand(verb: string, targets: Events, reason: string, runtime: Runtime): string {
  const lines = groups(targets).map(group => commandLine(runtime, changeWords(verb, group, reason)))
  const text = lines.join(' && ')
  if (text.length <= MOST_CHARACTERS) return text
  const why = reason === '' ? [] : ['-m', reason]
  const rest = commandLine(runtime, [verb, '--streams', '-', ...why])
  return `${rest}  # ${countText(targets.size)} names on standard input`
}

/** Streams by the events that are meant of them. */
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
