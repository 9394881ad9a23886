import type { Command } from 'commander'
import { everyChange, everywhere, type GlobalOptions, optionsOf } from './options.ts'
import { CommandFailed, type Problem, UsageError } from './problem.ts'
import type { Kind, Runtime } from './runtime.ts'

/** Runs a command. Returns its problem, `undefined` on success. */
export type Run<Options> = (options: Options, runtime: Runtime) => Promise<Problem | undefined>

/** A failure format that differs from the usual one. */
export interface FailureFormat {
  /** Exit code of every failure. */
  readonly exit: number
  print(what: Problem, runtime: Runtime): Promise<void>
}

/** Reads the options of a parsed command; or the names of its arguments in the options. */
type Parse<Options> = ((command: Command) => Options) | readonly string[]

/** The help of a command; the examples are printed first. */
export interface Description {
  readonly summary: string
  /** Command lines without the program name, each with a short explanation. */
  readonly examples: readonly (readonly [line: string, what: string])[]
  /** Values of `-o`, the default first. */
  readonly formats?: readonly string[]
  readonly kind: Kind
  /** What the command writes, if that is not one change of a stream. */
  readonly effect?: string
}

const EFFECTS: { readonly [Of in Kind]: string } = {
  reads: 'Only reads: takes no lease.',
  writes: 'Writes: takes the lease of the stream for one change.',
}

/** What a command declares about itself that commander has no place for. */
export type CommandFacts = Pick<Description, 'examples'> & { readonly kind?: Kind }

const facts = new WeakMap<Command, CommandFacts>()

/** The examples of a command, and whether it can write; a group has no kind. */
export function factsOf(command: Command): CommandFacts {
  return facts.get(command) ?? { examples: [] }
}

/** Sets description and examples, and adds the global flags. Called after the command has its own flags. */
export function describe(
  command: Command,
  runtime: Runtime,
  { summary, examples, formats, kind, effect = EFFECTS[kind] }: Description,
): Command {
  facts.set(command, { examples, kind })
  command.summary(summary).description(`${summary[0]?.toUpperCase()}${summary.slice(1)}. ${effect}`)
  command.addHelpText('before', examplesText(runtime, examples))
  // A flag without its value takes the next word for it; a reason may look like a flag, but not like the end of them.
  for (const { long } of command.options.filter(({ required }) => required))
    command.on(`option:${long?.slice(2)}`, (value: unknown) => {
      if (value !== '--') return
      throw new UsageError(`${long} has no value`, { hint: 'An unset shell variable? Leave the flag out.' })
    })
  return everywhere(command, formats)
}

/** Describes a group of commands; each subcommand says itself what it writes. */
export function describeGroup(
  command: Command,
  runtime: Runtime,
  { summary, description, examples }: Pick<Description, 'summary' | 'examples'> & { readonly description: string },
): Command {
  facts.set(command, { examples })
  command.summary(summary).description(description)
  command.addHelpText('before', examplesText(runtime, examples))
  if (command.parent !== null) helpFor(command)
  return everywhere(command)
}

/** Adds `GROUP help [COMMAND]`, which prints what `--help` does. */
export function helpFor(group: Command): void {
  group.helpCommand('help [COMMAND]', 'show help for a command')
}

function examplesText(runtime: Runtime, examples: Description['examples']): string {
  const lines = examples.map(([line, what]) => [`  ${runtime.startedAs} ${line}`, what] as const)
  const width = lines.reduce((widest, [line]) => Math.max(widest, line.length), 0)
  return `Examples:\n${lines.map(([line, what]) => `${line.padEnd(width)}   # ${what}`).join('\n')}\n`
}

/** Completes a command that only reads. */
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

/** Completes a command that changes streams, with the flags of every change. */
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

/** Sets the action of a command. Its problem, if any, is handled in `exit.ts` like every error. */
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

/** The words that name a command: `lease break`. */
export function pathOf(command: Command): string {
  const { parent } = command
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name()
}

/** The options of a command that can read several stores at once: `contexts` if more than one is named. */
export function parsedWithContexts<Options extends GlobalOptions>(
  command: Command,
): Options & { readonly contexts?: readonly string[] } {
  // `-c` before the command is one name, after it a list
  type Given = Omit<Options, 'context'> & { readonly context?: string | readonly string[] }
  const { context, ...options } = parsed<Given>(command, [])
  const [name, ...others] = typeof context === 'string' ? [context] : (context ?? [])
  if (others.length > 0 && (options.store ?? options.container) !== undefined)
    throw new UsageError('--store and -c both name a store', { hint: 'Use one of them.' })
  const where = name === undefined ? {} : others.length === 0 ? { context: name } : { contexts: [name, ...others] }
  return { ...options, ...where } as Options & { readonly contexts?: readonly string[] }
}

/** The options of a command, with its parsed arguments under these names. */
export function parsed<Options extends object>(command: Command, argumentNames: readonly string[]): Options {
  const given = Object.fromEntries(argumentNames.map((name, at) => [name, command.processedArgs[at]]))
  return { ...optionsOf(command), ...given } as Options
}
