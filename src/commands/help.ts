import type { Command } from 'commander'
import { act, describe, parsed, type Run } from '../cli/command.ts'
import type { GlobalOptions } from '../cli/options.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { nearest } from '../util/strings.ts'

export interface HelpOptions extends GlobalOptions {
  readonly words: readonly string[]
}

/** Wider lines are hard to read. */
const MAX_COLUMNS = 100

/** The names alone: the texts are loaded when a topic is printed. */
const TOPIC_NAMES = 'exit-codes, addresses, selections, environment'

/** `help` prints what `--help` does, also for `help COMMAND`, and topics beyond a single command. */
export function register(parent: Command, runtime: Runtime, go?: Run<HelpOptions>): void {
  const command = parent.command('help').argument('[WORD...]', `a command or a topic: ${TOPIC_NAMES}`)
  const run: Run<HelpOptions> = go ?? (async options => showHelp(parent, options, runtime))
  describe(command, runtime, {
    kind: 'reads',
    summary: `show help for a command or a topic: ${TOPIC_NAMES}`,
    examples: [
      ['help exit-codes', 'the meaning of exit codes'],
      ['help lease break', 'help for a command'],
      ['help -o json', 'all commands, flags, exit codes and error codes, for programs'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'reads', own => ({ ...parsed<GlobalOptions>(own, []), words: own.args }), run)
}

async function showHelp(program: Command, { words, output }: HelpOptions, runtime: Runtime): Promise<undefined> {
  const { brokenLines, placesOf, TOPICS } = await import('./help/topics.ts')
  if (output === 'json') {
    const { catalogueDocument } = await import('./help/catalogue.ts')
    await runtime.stdout.write(catalogueDocument(program, TOPICS, commandAt(program, words, Object.keys(TOPICS))))
    return undefined
  }
  const [first = ''] = words
  const columns = Math.min(MAX_COLUMNS, (runtime.stdout.isTty && runtime.stdout.columns) || MAX_COLUMNS)
  const topic = words.length === 1 && Object.hasOwn(TOPICS, first) ? TOPICS[first] : undefined
  const places = first === 'environment' ? placesOf(runtime.env, await runtime.embeddedAddress()) : []
  const text =
    topic === undefined
      ? helpTextOf(commandAt(program, words, Object.keys(TOPICS)))
      : `${[...brokenLines(topic(), columns), ...places].join('\n')}\n`
  await runtime.stdout.write(text)
  return undefined
}

/** The command that the words name. @throws UsageError */
function commandAt(program: Command, words: readonly string[], topics: readonly string[]): Command {
  let at = program
  for (const word of words) {
    const found = at.commands.find(command => command.name() === word || command.aliases().includes(word))
    if (found === undefined) throw unknownTopic(word, at, at === program ? topics : [])
    at = found
  }
  return at
}

function helpTextOf(command: Command): string {
  let text = ''
  const { writeOut } = command.configureOutput()
  command.configureOutput({ writeOut: part => (text += part) })
  command.outputHelp()
  command.configureOutput(writeOut === undefined ? {} : { writeOut })
  return text
}

function unknownTopic(word: string, command: Command, topics: readonly string[]): UsageError {
  if (topics.includes(word)) {
    // only -o json comes here: a topic by itself is a text
    return new UsageError(`-o json does not go with the topic ${word}`, { hint: 'help -o json has all topics.' })
  }
  const known = [...command.commands.map(sub => sub.name()), ...topics]
  const all = topics.length === 0 ? known : topics
  const near = nearest(word, known)
  return new UsageError(`no help for ${word}`, {
    ...(known.length === 0 ? {} : { hint: near === undefined ? `One of ${all.join(', ')}.` : `did you mean ${near}?` }),
  })
}
