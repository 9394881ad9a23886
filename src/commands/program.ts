import { Command, Help } from 'commander'
import { commandIn } from '../cli/argv.ts'
import { describeGroup, type FailureFormat } from '../cli/command.ts'
import { EVERYWHERE } from '../cli/options.ts'
import * as abort from './abort.ts'
import * as ack from './ack.ts'
import * as cancel from './cancel.ts'
import * as check from './check.ts'
import * as completion from './completion.ts'
import * as context from './context.ts'
import * as demo from './demo.ts'
import * as doctor from './doctor.ts'
import * as event from './event.ts'
import * as events from './events.ts'
import * as exec from './exec.ts'
import * as exportStreams from './export.ts'
import * as help from './help.ts'
import * as importStreams from './import.ts'
import * as init from './init.ts'
import * as lab from './lab.ts'
import * as lease from './lease.ts'
import * as log from './log.ts'
import * as ls from './ls.ts'
import * as resume from './resume.ts'
import * as retry from './retry.ts'
import * as rm from './rm.ts'
import * as runs from './runs.ts'
import * as show from './show.ts'
import * as signal from './signal.ts'
import * as stats from './stats.ts'
import * as subscribe from './subscribe.ts'
import * as subscription from './subscription.ts'
import * as suspend from './suspend.ts'
import * as tail from './tail.ts'
import type { ProgramRuntime } from './top/dashboard.ts'
import * as top from './top.ts'
import * as wait from './wait.ts'
import * as watchdog from './watchdog.ts'
import * as work from './work.ts'
import * as workers from './workers.ts'

interface Registered {
  readonly register: (parent: Command, runtime: ProgramRuntime) => void
  readonly failure?: FailureFormat
}

interface Group {
  readonly title: string
  readonly names: readonly string[]
  /** In the order of `names`. */
  readonly commands: readonly Registered[]
}

const GROUPS: readonly Group[] = [
  {
    title: 'Inspect:',
    names: ['ls', 'show', 'events', 'workers', 'tail', 'log', 'stats', 'wait', 'check', 'doctor', 'export'],
    commands: [ls, show, events, workers, tail, log, stats, wait, check, doctor, exportStreams],
  },
  {
    title: 'Modify:',
    names: ['init', 'cancel', 'abort', 'retry', 'suspend', 'resume', 'signal', 'ack', 'rm', 'import'],
    commands: [init, cancel, abort, retry, suspend, resume, signal, ack, rm, importStreams],
  },
  { title: 'Monitor:', names: ['top', 'watchdog'], commands: [top, watchdog] },
  {
    title: 'Workers and leases:',
    names: ['exec', 'work', 'subscribe', 'subscription', 'event', 'lease', 'lab'],
    commands: [exec, work, subscribe, subscription, event, lease, lab],
  },
  {
    title: 'Settings and help:',
    names: ['context', 'runs', 'completion', '__complete', '__quick-check', 'demo', 'help'],
    commands: [
      context,
      runs,
      completion,
      { register: completion.registerComplete },
      { register: doctor.registerQuickCheck },
      demo,
      help,
    ],
  },
]

const COMMANDS: ReadonlyMap<string, Registered | undefined> = new Map(
  GROUPS.flatMap(({ names, commands }) => names.map((name, at) => [name, commands[at]])),
)

const ALIASES: Readonly<Record<string, string>> = { list: 'ls', delete: 'rm' }

/** Commands that list the other commands. */
const NEED_ALL: readonly string[] = ['help', '__complete']

/** The failure format of the command, if it has its own. The arguments may be invalid. */
export function failureFormat(argv: readonly string[]): FailureFormat | undefined {
  return COMMANDS.get(commandIn(argv) ?? '')?.failure
}

/**
 * The command that the line begins with. Only its flags are created then: creating those of all thirty commands takes half
 * as long as Node's own start. `undefined` if the line begins otherwise.
 */
function onlyCommand([first = '']: readonly string[]): string | undefined {
  const name = Object.hasOwn(ALIASES, first) ? ALIASES[first] : first
  if (name === undefined || NEED_ALL.includes(name)) return undefined
  return COMMANDS.has(name) ? name : undefined
}

/** The command tree. Nothing heavy is loaded before a command runs. `write` receives the texts of --help and --version. */
export function buildProgram(runtime: ProgramRuntime, write: (text: string) => void): Command {
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
  const only = onlyCommand(runtime.argv)
  for (const { title, names, commands } of GROUPS) {
    program.commandsGroup(title)
    for (const [at, command] of commands.entries()) {
      if (only === undefined || only === names[at]) command.register(program, runtime)
    }
  }
  return program
}

/** Puts commands before global flags; commander does the reverse. */
function formatHelp(command: Command, helper: Help): string {
  const sections = Help.prototype.formatHelp.call(helper, command, helper).trimEnd().split('\n\n')
  const flags = sections.filter(section => section.startsWith(EVERYWHERE))
  return `${[...sections.filter(section => !flags.includes(section)), ...flags].join('\n\n')}\n`
}
