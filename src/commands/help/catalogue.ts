import { EventEmitter } from 'node:events'
import type { Command, Option } from 'commander'
import parts from '../../../docs/json/parts.schema.json' with { type: 'json' }
import { factsOf } from '../../cli/command.ts'
import { EXIT_CODES, type ExitCodeEntry } from '../../cli/exit-codes.ts'
import { EVERYWHERE } from '../../cli/options.ts'
import { isRepeatable } from '../../cli/values.ts'
import { VERSION } from '../../cli/version.ts'
import { jsonDocument } from '../../formats/json.ts'
import type { TOPICS } from './topics.ts'

/** Everything that the command line takes and returns: for programs, and the source of the man page. */
export interface Catalogue {
  readonly program: string
  readonly version: string
  readonly commands: readonly CommandEntry[]
  /** Flags that every command takes. The values of `--output` are the formats of each command. */
  readonly globalFlags: readonly FlagEntry[]
  readonly exitCodes: readonly ExitCodeEntry[]
  readonly errorCodes: readonly ErrorCodeEntry[]
  readonly findingCodes: readonly Omit<ErrorCodeEntry, 'exit'>[]
  readonly topics: readonly TopicEntry[]
}

export interface CommandEntry {
  /** The words after the program name: `lease break`. */
  readonly command: string
  /** The heading of it, or of its group, in the list of commands. */
  readonly group: string
  readonly aliases: readonly string[]
  readonly summary: string
  readonly description: string
  /** How it is written, with the program name. */
  readonly usage: string
  /** Whether it can change something; `null` for a group. */
  readonly changes: boolean | null
  readonly arguments: readonly ArgumentEntry[]
  readonly flags: readonly FlagEntry[]
  /** The values of `-o`, the default first. */
  readonly formats: readonly string[]
  readonly examples: readonly { readonly line: string; readonly meaning: string }[]
  /** Further help, or an empty text. */
  readonly notes: string
}

export interface ArgumentEntry {
  readonly name: string
  readonly description: string
  readonly required: boolean
  readonly repeatable: boolean
  readonly choices: readonly string[]
}

/** `version`: an integer or a time. */
type FlagType =
  | 'boolean'
  | 'integer'
  | 'number'
  | 'duration'
  | 'pauses'
  | 'time'
  | 'version'
  | 'glob'
  | 'path'
  | 'choice'
  | 'text'

export interface FlagEntry {
  /** `--lease-wait` */
  readonly name: string
  readonly short: string | null
  readonly type: FlagType
  /** The word for its value in the help; `null` if it takes none. */
  readonly value: string | null
  /** It may stand without its value. */
  readonly valueOptional: boolean
  readonly description: string
  /** As the help gives it; `null` if the help gives none. */
  readonly default: string | null
  /** Accepted words; empty if there is no fixed set. */
  readonly choices: readonly string[]
  readonly repeatable: boolean
  readonly required: boolean
  /** The heading of it in the help of the command. */
  readonly group: string
}

interface ErrorCodeEntry {
  readonly code: string
  readonly exit: number
  readonly meaning: string
}

interface TopicEntry {
  readonly name: string
  readonly text: string
}

/** The catalogue as a document, with the commands below `root` alone. */
export function catalogueDocument(program: Command, topics: typeof TOPICS, root: Command = program): string {
  return jsonDocument(catalogueOf(program, topics, root))
}

export function catalogueOf(program: Command, topics: typeof TOPICS, root: Command = program): Catalogue {
  return {
    program: program.name(),
    version: VERSION,
    commands: commandsBelow(root).map(commandEntry),
    globalFlags: program.options.filter(isGlobal).concat(helpFlag(program)).map(flagEntry),
    exitCodes: EXIT_CODES,
    errorCodes: codesOf('errorCode').map(errorCode),
    findingCodes: codesOf('findingCode'),
    topics: Object.entries(topics).map(([name, lines]) => ({ name, text: `${lines().join('\n')}\n` })),
  }
}

function commandsBelow(command: Command): Command[] {
  const visible = command.createHelp().visibleCommands(command)
  const own = command.parent === null ? [] : [command]
  return [...own, ...command.commands.filter(sub => visible.includes(sub)).flatMap(commandsBelow)]
}

function commandEntry(command: Command): CommandEntry {
  const { examples, kind } = factsOf(command)
  const help = command.createHelp()
  const flags = help.visibleOptions(command).filter(option => isOwn(option) && option.long !== '--help')
  return {
    command: pathOf(command),
    group: topOf(command).helpGroup().replace(/:$/, ''),
    aliases: command.aliases(),
    summary: command.summary(),
    description: command.description(),
    usage: help.commandUsage(command).replace(/^(\S+) (\S+)\|\S+/, '$1 $2'),
    changes: kind === undefined ? null : kind === 'writes',
    arguments: command.registeredArguments.map(argument => ({
      name: argument.name(),
      description: argument.description,
      required: argument.required,
      repeatable: argument.variadic,
      choices: wordsOf(argument.parseArg),
    })),
    flags: flags.map(flagEntry),
    formats: wordsOf(command.options.find(({ long }) => long === '--output')?.parseArg),
    examples: examples.map(([line, meaning]) => ({ line: `leasectl ${line}`, meaning })),
    notes: notesOf(command),
  }
}

function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim()
}

/** The command of the first level that it belongs to. */
function topOf(command: Command): Command {
  return command.parent?.parent ? topOf(command.parent) : command
}

/** What `addHelpText('after', …)` adds: commander keeps it as a listener. */
function notesOf(command: Command): string {
  let text = ''
  const events: unknown = command
  if (!(events instanceof EventEmitter)) return text
  events.emit('afterHelp', { error: false, command, write: (part: string) => (text += part) })
  return text.trim()
}

function isGlobal({ helpGroupHeading, long }: Option): boolean {
  return helpGroupHeading === EVERYWHERE || long === '--version'
}

/** `-c` of a command that takes several contexts is a flag of its own. */
function isOwn(option: Option): boolean {
  return !isGlobal(option) || flagEntry(option).repeatable
}

function helpFlag(command: Command): Option[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long === '--help')
}

/** The types of values by their words in the help. */
const TYPES: Readonly<Record<string, FlagType>> = {
  n: 'integer',
  factor: 'number',
  version: 'version',
  duration: 'duration',
  pauses: 'pauses',
  time: 'time',
  glob: 'glob',
  file: 'path',
  folder: 'path',
  path: 'path',
}

export function flagEntry(option: Option): FlagEntry {
  const { long, short, flags, description, parseArg, mandatory, helpGroupHeading } = option
  const [, value = null] = /[<[]([^>\]]+)[>\]]/.exec(flags) ?? []
  const choices = wordsOf(parseArg)
  const type = value === null ? 'boolean' : choices.length > 0 ? 'choice' : (TYPES[value] ?? 'text')
  const [, usual = null] = /\(default: ([^;)]*)/.exec(description) ?? []
  return {
    name: long ?? short ?? '',
    short: long === undefined ? null : (short ?? null),
    type,
    value,
    valueOptional: option.optional,
    description,
    default: usual,
    choices,
    repeatable: isRepeatable(parseArg),
    required: mandatory || /\(required\b/.test(description),
    group: (helpGroupHeading ?? '').replace(/:$/, ''),
  }
}

/** The words that `withWords` attached to a parser. */
function wordsOf(parser: unknown): readonly string[] {
  if (typeof parser !== 'function' || !('words' in parser) || !Array.isArray(parser.words)) return []
  return parser.words.map(String)
}

/** The codes of the JSON output: the schema is the list of them. */
function codesOf(name: 'errorCode' | 'findingCode'): readonly { readonly code: string; readonly meaning: string }[] {
  const entries: readonly { readonly const?: string; readonly description: string }[] = parts.$defs[name].anyOf
  return entries.flatMap(({ const: code, description }) => (code === undefined ? [] : [{ code, meaning: description }]))
}

function errorCode({ code, meaning }: { readonly code: string; readonly meaning: string }): ErrorCodeEntry {
  const [, exit, text = ''] = /^Exit (\d+)[.,] (.*)$/s.exec(meaning) ?? []
  return { code, exit: Number(exit), meaning: text }
}
