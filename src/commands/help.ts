import type { Command } from 'commander'
import { act, describe, type Run } from '../cli/command.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { nearest } from '../util/strings.ts'

export interface HelpOptions {
  readonly words: readonly string[]
}

/** Wider lines are hard to read. */
const MAX_COLUMNS = 100

/** The names alone: the texts are loaded when a topic is printed. */
const TOPIC_NAMES = 'exit-codes, addresses, selections, environment'

/** `help` prints what `--help` does, also for `help COMMAND`, and topics beyond a single command. */
export function register(parent: Command, runtime: Runtime, go?: Run<HelpOptions>): void {
  const command = parent.command('help').argument('[WORD...]', `a command or a topic: ${TOPIC_NAMES}`)
  const run: Run<HelpOptions> = go ?? (async ({ words }) => showHelp(parent, words, runtime))
  describe(command, runtime, {
    kind: 'reads',
    summary: `show help for a command or a topic: ${TOPIC_NAMES}`,
    examples: [
      ['help exit-codes', 'the meaning of exit codes'],
      ['help lease break', 'help for a command'],
    ],
    formats: ['text'],
  })
  act(command, runtime, 'reads', () => ({ words: command.args }), run)
}

async function showHelp(program: Command, words: readonly string[], runtime: Runtime): Promise<undefined> {
  const { brokenLines, TOPICS } = await import('./help/topics.ts')
  const [first = ''] = words
  const columns = Math.min(MAX_COLUMNS, (runtime.stdout.isTty && runtime.stdout.columns) || MAX_COLUMNS)
  const topic = words.length === 1 && Object.hasOwn(TOPICS, first) ? TOPICS[first] : undefined
  const text =
    topic === undefined
      ? commandHelp(program, words, Object.keys(TOPICS))
      : `${brokenLines(topic(), columns).join('\n')}\n`
  await runtime.stdout.write(text)
  return undefined
}

function commandHelp(program: Command, words: readonly string[], topics: readonly string[]): string {
  let at = program
  for (const word of words) {
    const found = at.commands.find(command => command.name() === word || command.aliases().includes(word))
    if (found === undefined) throw unknownTopic(word, at, at === program ? topics : [])
    at = found
  }
  let text = ''
  const { writeOut } = at.configureOutput()
  at.configureOutput({ writeOut: part => (text += part) })
  at.outputHelp()
  at.configureOutput(writeOut === undefined ? {} : { writeOut })
  return text
}

function unknownTopic(word: string, command: Command, topics: readonly string[]): UsageError {
  const known = [...command.commands.map(sub => sub.name()), ...topics]
  const all = topics.length === 0 ? known : topics
  const near = nearest(word, known)
  return new UsageError(`no help for ${word}`, {
    ...(known.length === 0 ? {} : { hint: near === undefined ? `One of ${all.join(', ')}.` : `did you mean ${near}?` }),
  })
}
