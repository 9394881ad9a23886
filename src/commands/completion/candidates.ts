import type { Command, Option } from 'commander'
import { readContexts } from '../../cli/contexts/file.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { Candidate, Candidates } from './candidate.ts'
import { eventIds, type LiveStore, streamNames } from './live.ts'
import { commandNamed, type Place } from './place.ts'

/** What may stand at the cursor: only what begins with what is typed. */
export async function candidatesAt(
  place: Place,
  current: string,
  program: Command,
  runtime: Runtime,
): Promise<Candidates> {
  const { kind, found } = await offeredAt(place, current, program, runtime)
  return { kind, found: found.filter(({ text }) => text.startsWith(current)) }
}

async function offeredAt(place: Place, current: string, program: Command, runtime: Runtime): Promise<Candidates> {
  const { command, operands, wanted } = place
  switch (wanted.kind) {
    case 'flag':
      return words(flagsOf(command))
    case 'value': {
      const typed = current.slice(wanted.lead.length)
      const { kind, found } = await valuesOf(wanted.option, typed, place, runtime)
      return { kind, found: found.map(({ text, ...what }) => ({ text: wanted.lead + text, ...what })) }
    }
    case 'operand': {
      if (command.name() === 'help') return words(await helpWords(program, operands))
      if (command.commands.length > 0 && operands.length === 0) return words(commandsOf(command))
      const name = argumentName(command, operands.length)
      if (name === undefined) return words(wanted.flags ? flagsOf(command) : [])
      return argumentsOf(name, current, place, runtime)
    }
    default:
      return wanted satisfies never
  }
}

function words(found: readonly Candidate[]): Candidates {
  return { kind: 'words', found }
}

const FILES: Candidates = { kind: 'files', found: [] }

function commandsOf(command: Command): Candidate[] {
  const visible = command.createHelp().visibleCommands(command)
  return visible.map(sub => ({ text: sub.name(), what: sub.summary() || sub.description() }))
}

function flagsOf(command: Command): Candidate[] {
  const visible = command.createHelp().visibleOptions(command)
  return visible.map(({ long, short, description }) => ({ text: long ?? short ?? '', what: description }))
}

/** The name of the argument at a position; the last one may take many. */
function argumentName({ registeredArguments }: Command, at: number): string | undefined {
  const last = registeredArguments.at(-1)
  return (registeredArguments[at] ?? (last?.variadic ? last : undefined))?.name()
}

async function argumentsOf(name: string, typed: string, place: Place, runtime: Runtime): Promise<Candidates> {
  const { command, operands } = place
  switch (name) {
    case 'STREAM':
      // a new stream has a name that none has yet
      if (command.name() === 'init') return words([])
      return words((await streamNames(typed, storeOf(place, runtime))).filter(({ text }) => !operands.includes(text)))
    case 'ID':
      return words(await eventIds(operands[0], storeOf(place, runtime)))
    case 'CONTEXT':
      return words(contexts(runtime))
    case 'COMMAND':
    case 'FILE':
    case 'FOLDER':
    case 'PATH':
    case 'SOURCE':
      return FILES
    default: {
      const argument = command.registeredArguments.find(known => known.name() === name)
      return words(wordsOf(argument?.parseArg).map(text => ({ text })))
    }
  }
}

async function valuesOf(option: Option, typed: string, place: Place, runtime: Runtime): Promise<Candidates> {
  const known = wordsOf(option.parseArg)
  if (known.length > 0) {
    const lead = typed.slice(0, typed.lastIndexOf(',') + 1)
    const said = lead.split(',')
    return words(known.filter(word => !said.includes(word)).map(word => ({ text: lead + word })))
  }
  switch (option.long) {
    case '--context':
      return words(contexts(runtime))
    case '--event':
      return words(await eventIds(place.operands[0], storeOf(place, runtime)))
    case '--store':
      return typed.startsWith('sqlite:') ? FILES : { kind: 'open', found: SCHEMES }
    default:
      return /<(file|folder|path|target)>/.test(option.flags) ? FILES : words([])
  }
}

const SCHEMES: readonly Candidate[] = [
  { text: 'sqlite:', what: 'PATH of a file' },
  { text: 'azure:', what: 'ACCOUNT/CONTAINER' },
  { text: 'azurite:', what: 'CONTAINER on the emulator' },
]

/** What `choice` and its like have attached to the parser of a value. */
function wordsOf(parser: unknown): readonly string[] {
  if (typeof parser !== 'function' || !('words' in parser) || !Array.isArray(parser.words)) return []
  return parser.words.map(String)
}

function contexts({ env }: Runtime): Candidate[] {
  try {
    return [...readContexts(env).byName.values()].map(({ name, store }) => ({ text: name, what: store }))
  } catch {
    return []
  }
}

async function helpWords(program: Command, operands: readonly string[]): Promise<Candidate[]> {
  let at: Command | undefined = program
  for (const word of operands) at = at && commandNamed(at, word)
  if (at === undefined) return []
  if (at !== program) return commandsOf(at)
  const { TOPICS } = await import('../help/topics.ts')
  return [...commandsOf(program), ...Object.keys(TOPICS).map(text => ({ text, what: 'a topic' }))]
}

function storeOf({ given: { store, container, context } }: Place, runtime: Runtime): LiveStore {
  const choice = {
    ...(store === undefined ? {} : { store }),
    ...(container === undefined ? {} : { container }),
    ...(context === undefined ? {} : { context }),
  }
  return { choice, runtime }
}
