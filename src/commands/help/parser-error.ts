import type { Command } from 'commander'
import { CommandFailed, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { errorCode } from '../../util/errors.ts'
import { nearest } from '../../util/strings.ts'
import { placeOf } from '../completion/line.ts'

/** Commands of other programs, with ours. */
const SYNONYMS: Readonly<Record<string, string>> = {
  get: 'show',
  describe: 'show',
  cat: 'show',
  status: 'ls',
  watch: 'top',
  create: 'init',
  remove: 'rm',
  pause: 'suspend',
  unlock: 'lease break',
  history: 'log',
  kill: 'cancel',
  terminate: 'cancel',
  stop: 'cancel',
  logs: 'log',
  ps: 'ls',
  ui: 'top',
  version: '--version',
}

/**
 * An error of commander as a usage error, with a suggestion or the help of the command it is about.
 *
 * @throws CommanderError with exit code 0 after printing help, if only that was asked for
 */
export function parserError(error: Error, program: Command, { argv, startedAs }: Runtime): CommandFailed {
  const { command, operands } = placeOf(program, argv, '')
  const words = [startedAs, ...pathOf(command)].join(' ')
  const help = `${words} --help shows its ${command.commands.length > 0 ? 'commands' : 'flags'}.`
  const message = (error.message.split('\n')[0] ?? '').replace(/^error: /, '')
  const [, wrong = ''] = /'(.*)'/.exec(message) ?? []
  switch (errorCode(error)) {
    case 'commander.help': {
      const [first, topic] = operands
      // `GROUP help --help`: commander takes the flag for the name of a command.
      if (first === 'help' && topic === undefined) command.help()
      return first === 'help' ? usage(`no help for ${topic}`, help) : usage('a command is missing', help)
    }
    case 'commander.unknownCommand': {
      const synonym = command === program && Object.hasOwn(SYNONYMS, wrong) ? SYNONYMS[wrong] : undefined
      return usage(message, suggestion(synonym ?? nearest(wrong, commandNames(command))) ?? help)
    }
    case 'commander.unknownOption': {
      const near = wrong.startsWith('--') ? nearest(wrong.slice(2), flagNames(command)) : undefined
      return usage(message, suggestion(near && `--${near}`) ?? help)
    }
    case 'commander.excessArguments':
      return usage(message, command.name() === 'ls' && command.parent === program ? namesOfLs(startedAs) : help)
    default:
      return usage(message, help)
  }
}

function usage(message: string, hint: string): CommandFailed {
  return new CommandFailed(problem('usage', message, { hint }))
}

function suggestion(word: string | undefined): string | undefined {
  return word === undefined ? undefined : `Did you mean ${word}?`
}

/** `ls orders/` */
function namesOfLs(startedAs: string): string {
  return `--match selects by name: ${startedAs} ls --match 'orders/**'.`
}

function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()]
}

function commandNames(group: Command): readonly string[] {
  return group
    .createHelp()
    .visibleCommands(group)
    .flatMap(command => [command.name(), ...command.aliases()])
}

function flagNames(command: Command): readonly string[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long }) => long?.slice(2) ?? [])
}
