import type { Command } from 'commander'
import { everyChange, everywhere, optionsOf } from './options.ts'
import { CommandFailed, type Problem } from './problem.ts'
import type { Kind, Runtime } from './runtime.ts'

/** What a command does: `undefined` when it did what it was asked for. */
export type Run<Options> = (options: Options, runtime: Runtime) => Promise<Problem | undefined>

/** How a command reports its own failure, where not as every other does. */
export interface FailureFormat {
  /** The exit code of every failure. */
  readonly exit: number
  print(what: Problem, runtime: Runtime): Promise<void>
}

/** Makes the options of a parsed command; or the names that its arguments have beside the flags. */
type Parse<Options> = ((command: Command) => Options) | readonly string[]

/** How a command is described to its users; the examples stand first. */
export interface Description {
  readonly summary: string
  /** Command lines without the program's name, each with a word on what it does. */
  readonly examples: readonly (readonly [line: string, what: string])[]
  /** What `-o` takes, the default first. */
  readonly formats?: readonly string[]
  readonly kind: Kind
  /** What it writes, where that is not one change of a stream. */
  readonly effect?: string
}

const EFFECTS: { readonly [Of in Kind]: string } = {
  reads: 'Only reads: takes no lease.',
  writes: 'Writes: takes the lease of the stream for one change.',
}

/** Sets description, examples and the flags that stand everywhere. Called after the command's own flags were added. */
export function describe(
  command: Command,
  runtime: Runtime,
  { summary, examples, formats, kind, effect = EFFECTS[kind] }: Description,
): Command {
  command.summary(summary).description(`${summary[0]?.toUpperCase()}${summary.slice(1)}. ${effect}`)
  command.addHelpText('before', examplesText(runtime, examples))
  return everywhere(command, formats)
}

/** The same for a command that only holds others: what each of them writes they say themselves. */
export function describeGroup(
  command: Command,
  runtime: Runtime,
  { summary, description, examples }: Pick<Description, 'summary' | 'examples'> & { readonly description: string },
): Command {
  command.summary(summary).description(description)
  command.addHelpText('before', examplesText(runtime, examples))
  return everywhere(command)
}

function examplesText(runtime: Runtime, examples: Description['examples']): string {
  const lines = examples.map(([line, what]) => [`  ${runtime.startedAs} ${line}`, what] as const)
  const width = lines.reduce((widest, [line]) => Math.max(widest, line.length), 0)
  return `Examples:\n${lines.map(([line, what]) => `${line.padEnd(width)}   # ${what}`).join('\n')}\n`
}

/** A command that only reads. */
export function reads<Options extends object>(
  command: Command,
  runtime: Runtime,
  description: Omit<Description, 'kind'>,
  parse: Parse<Options>,
  run: Run<Options>,
): void {
  describe(command, runtime, { ...description, kind: 'reads' })
  act(command, runtime, 'reads', parse, run)
}

/** A command that changes streams: it takes the flags of every change too. */
export function writes<Options extends object>(
  command: Command,
  runtime: Runtime,
  description: Omit<Description, 'kind' | 'formats'>,
  parse: Parse<Options>,
  run: Run<Options>,
): void {
  everyChange(command)
  describe(command, runtime, { ...description, kind: 'writes', formats: ['text', 'json'] })
  act(command, runtime, 'writes', parse, run)
}

/** What happens when the command was parsed: its problem, if any, ends in `exit.ts` like every error. */
export function act<Options extends object>(
  command: Command,
  runtime: Runtime,
  kind: Kind,
  parse: Parse<Options>,
  run: Run<Options>,
): void {
  command.action(async () => {
    runtime.begin(kind, pathOf(command))
    const options = typeof parse === 'function' ? parse(command) : parsed<Options>(command, parse)
    const problem = await run(options, runtime)
    if (problem !== undefined) throw new CommandFailed(problem)
  })
}

/** `lease break`: the words that name a command. */
function pathOf(command: Command): string {
  const { parent } = command
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name()
}

/** The options with the processed arguments of the command under names. */
export function parsed<Options extends object>(command: Command, argumentNames: readonly string[]): Options {
  const given = Object.fromEntries(argumentNames.map((name, at) => [name, command.processedArgs[at]]))
  return { ...optionsOf(command), ...given } as Options
}
