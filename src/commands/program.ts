import { Command, Help, Option } from 'commander'
import { commandIn } from '../cli/argv.ts'
import { describeGroup, type FailureFormat } from '../cli/command.ts'
import { EVERYWHERE } from '../cli/options.ts'
import { CHECK_FAILURE } from './check/failure.ts'
import OUTLINES from './outlines.json' with { type: 'json' }
import type { ProgramRuntime } from './top/dashboard.ts'

/** A command, as `commands/NAME.ts` declares it. */
interface Declaration {
  readonly register: (parent: Command, runtime: ProgramRuntime) => void
}

interface Group {
  readonly title: string
  readonly commands: Readonly<Record<string, () => Promise<Declaration>>>
}

const GROUPS: readonly Group[] = [
  {
    title: 'Inspect:',
    commands: {
      ls: () => import('./ls.ts'),
      show: () => import('./show.ts'),
      events: () => import('./events.ts'),
      workers: () => import('./workers.ts'),
      tail: () => import('./tail.ts'),
      log: () => import('./log.ts'),
      stats: () => import('./stats.ts'),
      wait: () => import('./wait.ts'),
      check: () => import('./check.ts'),
      doctor: () => import('./doctor.ts'),
      export: () => import('./export.ts'),
    },
  },
  {
    title: 'Modify:',
    commands: {
      init: () => import('./init.ts'),
      cancel: () => import('./cancel.ts'),
      abort: () => import('./abort.ts'),
      retry: () => import('./retry.ts'),
      suspend: () => import('./suspend.ts'),
      resume: () => import('./resume.ts'),
      signal: () => import('./signal.ts'),
      ack: () => import('./ack.ts'),
      rm: () => import('./rm.ts'),
      import: () => import('./import.ts'),
    },
  },
  { title: 'Monitor:', commands: { top: () => import('./top.ts'), watchdog: () => import('./watchdog.ts') } },
  {
    title: 'Workers and leases:',
    commands: {
      exec: () => import('./exec.ts'),
      work: () => import('./work.ts'),
      subscribe: () => import('./subscribe.ts'),
      subscription: () => import('./subscription.ts'),
      event: () => import('./event.ts'),
      lease: () => import('./lease.ts'),
      lab: () => import('./lab.ts'),
    },
  },
  { title: 'Many requests:', commands: { inbox: () => import('./inbox.ts') } },
  {
    title: 'Settings and help:',
    commands: {
      context: () => import('./context.ts'),
      runs: () => import('./runs.ts'),
      completion: () => import('./completion.ts'),
      __complete: async () => ({ register: (await import('./completion.ts')).registerComplete }),
      '__quick-check': async () => ({ register: (await import('./doctor.ts')).registerQuickCheck }),
      demo: () => import('./demo.ts'),
      help: () => import('./help.ts'),
    },
  },
]

const NAMES: readonly string[] = GROUPS.flatMap(({ commands }) => Object.keys(commands))

const ALIASES: Readonly<Record<string, string>> = { list: 'ls', delete: 'rm' }

/** Commands that list the other commands. */
const NEED_ALL: readonly string[] = ['help', '__complete']

const FAILURES: Readonly<Record<string, FailureFormat>> = { check: CHECK_FAILURE }

/** The failure format of the command, if it has its own. The arguments may be invalid. */
export function failureFormat(argv: readonly string[]): FailureFormat | undefined {
  const name = commandIn(argv)
  return name !== undefined && Object.hasOwn(FAILURES, name) ? FAILURES[name] : undefined
}

/** Declarations by name, in groups. */
export type Declarations = ReadonlyMap<string, Declaration>

/**
 * The commands that the line needs. Loading all thirty and creating their flags takes longer than Node's own start, so
 * there is only the command that the line begins with; and where no word names a command, as in `--help`, there are
 * outlines: what the list of commands prints.
 */
async function declarationsFor(argv: readonly string[]): Promise<Declarations> {
  const [first = ''] = argv
  const only = Object.hasOwn(ALIASES, first) ? ALIASES[first] : first
  if (only !== undefined && NAMES.includes(only) && !NEED_ALL.includes(only)) return declarations([only])
  const canRun = argv.some(word => NAMES.includes(word) || Object.hasOwn(ALIASES, word))
  return canRun ? declarations() : new Map(Object.entries(OUTLINES).map(([name, outline]) => [name, outlined(outline)]))
}

/** The declarations of these commands. */
export async function declarations(names: readonly string[] = NAMES): Promise<Declarations> {
  const loads = GROUPS.flatMap(({ commands }) => Object.entries(commands)).filter(([name]) => names.includes(name))
  return new Map(await Promise.all(loads.map(async ([name, load]) => [name, await load()] as const)))
}

/** What the list of commands prints of a command. `npm run man` generates all of them from the declarations. */
interface Outline {
  /** Name and arguments. */
  readonly usage: string
  readonly alias?: string
  readonly summary: string
}

/** A command that can be listed, but not run. */
function outlined({ usage, alias, summary }: Outline): Declaration {
  return {
    register: parent => {
      const command = parent.command(usage).summary(summary).addOption(SOME_FLAG)
      if (alias !== undefined) command.alias(alias)
    },
  }
}

/** Stands for the flags of a command: the list says only that it has some. */
const SOME_FLAG = new Option('--flag')

/** The outlines of the commands that are listed. */
export function outlinesOf(program: Command): Readonly<Record<string, Outline>> {
  const help = program.createHelp()
  const entries = help.visibleCommands(program).map(command => {
    const usage = help.subcommandTerm(command).replace(/^([^ |]+)\S* \[options\]/, '$1')
    const [alias] = command.aliases()
    return [command.name(), { usage, ...(alias === undefined ? {} : { alias }), summary: command.summary() }] as const
  })
  return Object.fromEntries(entries)
}

/** The command tree of a line. `write` receives the texts of --help and --version. */
export async function buildProgram(runtime: ProgramRuntime, write: (text: string) => void): Promise<Command> {
  return programOf(await declarationsFor(runtime.argv), runtime, write)
}

/** The command tree. Nothing heavy is loaded before a command runs. */
export function programOf(declared: Declarations, runtime: ProgramRuntime, write: (text: string) => void): Command {
  const program = new Command('leasectl')
    .usage('COMMAND …')
    .configureOutput({ writeOut: write, writeErr: () => {}, outputError: () => {} })
    .configureHelp({ helpWidth: Math.min(runtime.stdout.columns ?? 100, 120), formatHelp })
    .exitOverride()
    .enablePositionalOptions()
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .allowExcessArguments(false)
  describeGroup(program, runtime, {
    summary: '',
    description: 'Inspect and change event streams in leased blobs.',
    examples: [
      ['ls --failed --since 1h', 'streams that failed in the last hour'],
      ['show orders/4711', 'a stream as a tree: what it waits for, what failed'],
      ["cancel --match 'orders/2026-11/*' --dry-run", 'show which streams would be canceled'],
      ['tail -f orders/4711', 'follow a stream'],
    ],
  })
  for (const { title, commands } of GROUPS) {
    program.commandsGroup(title)
    for (const name of Object.keys(commands)) declared.get(name)?.register(program, runtime)
  }
  return program
}

/** Puts commands before global flags; commander does the reverse. */
function formatHelp(command: Command, helper: Help): string {
  // Our descriptions name the defaults; commander would add the preset of a flag without a value.
  helper.optionDescription = ({ description }) => description
  const sections = Help.prototype.formatHelp.call(helper, command, helper).trimEnd().split('\n\n')
  const flags = sections.filter(section => section.startsWith(EVERYWHERE))
  return `${[...sections.filter(section => !flags.includes(section)), ...flags].join('\n\n')}\n`
}
