import { Command, Help } from 'commander'
import * as abort from './abort.ts'
import * as cancel from './cancel.ts'
import { describeGroup } from './command.ts'
import * as complete from './completion/complete.ts'
import * as completion from './completion/completion.ts'
import * as context from './context/context.ts'
import * as demo from './demo.ts'
import * as doctor from './doctor.ts'
import * as event from './event/event.ts'
import * as exportStreams from './export.ts'
import * as help from './help.ts'
import * as importStreams from './import.ts'
import * as init from './init.ts'
import * as lease from './lease/lease.ts'
import * as log from './log.ts'
import * as ls from './ls.ts'
import { EVERYWHERE } from './options.ts'
import * as retry from './retry.ts'
import * as rm from './rm.ts'
import type { Runtime } from './runtime.ts'
import * as show from './show.ts'
import * as tail from './tail.ts'
import * as wait from './wait.ts'

/** The tree of commands. Nothing heavy is loaded before a command runs. `write` takes help and version texts. */
export function buildProgram(runtime: Runtime, write: (text: string) => void): Command {
  const program = new Command('leasectl')
    .usage('COMMAND …')
    .configureOutput({ writeOut: write, writeErr: () => {}, outputError: () => {} })
    .configureHelp({ helpWidth: Math.min(runtime.stdout.columns ?? 100, 120), formatHelp })
    .exitOverride()
    .enablePositionalOptions()
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .allowExcessArguments(false)
  describeGroup(program, runtime, {
    summary: '',
    description: 'Shows and changes event streams kept in leased blobs.',
    examples: [
      ['ls --failed --since 1h', 'what failed in the last hour'],
      ['show orders/4711', 'a stream as a tree: what it waits on, what failed'],
      ["cancel --match 'orders/2026-11/*' --dry-run", 'what would be canceled'],
      ['tail -f orders/4711', 'what happens now'],
    ],
  })
  program.commandsGroup('Look:')
  for (const command of [ls, show, tail, log, wait, doctor, exportStreams]) command.register(program, runtime)
  program.commandsGroup('Change:')
  for (const command of [init, cancel, abort, retry, rm, importStreams]) command.register(program, runtime)
  program.commandsGroup('Workers and leases:')
  for (const command of [event, lease]) command.register(program, runtime)
  program.commandsGroup('Settings and help:')
  for (const command of [context, completion, complete, demo, help]) command.register(program, runtime)
  return program
}

/** commander puts flags in front of commands; what one looks for stands first here. */
function formatHelp(command: Command, helper: Help): string {
  const sections = Help.prototype.formatHelp.call(helper, command, helper).trimEnd().split('\n\n')
  const flags = sections.filter(section => section.startsWith(EVERYWHERE))
  return `${[...sections.filter(section => !flags.includes(section)), ...flags].join('\n\n')}\n`
}
