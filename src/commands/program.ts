import { Command, Help } from 'commander'
import * as abort from './abort.ts'
import * as cancel from './cancel.ts'
import * as demo from './demo.ts'
import * as event from './event/event.ts'
import * as help from './help.ts'
import * as init from './init.ts'
import * as lease from './lease/lease.ts'
import * as ls from './ls.ts'
import { EVERYWHERE, everywhere } from './options.ts'
import * as retry from './retry.ts'
import type { Runtime } from './runtime.ts'
import * as show from './show.ts'
import * as tail from './tail.ts'

/** The tree of commands. Nothing heavy is loaded before a command runs. `write` takes help and version texts. */
export function buildProgram(runtime: Runtime, write: (text: string) => void): Command {
  const program = new Command('leasectl')
    .description('Shows and changes event streams kept in leased blobs.')
    .usage('COMMAND …')
    .configureOutput({ writeOut: write, writeErr: () => {}, outputError: () => {} })
    .configureHelp({ helpWidth: Math.min(runtime.stdout.columns ?? 100, 120), formatHelp })
    .exitOverride()
    .enablePositionalOptions()
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .allowExcessArguments(false)
  everywhere(program)
  program.commandsGroup('Streams:')
  for (const command of [init, ls, show, tail, cancel, abort, retry]) command.register(program, runtime)
  program.commandsGroup('Workers and leases:')
  for (const command of [event, lease]) command.register(program, runtime)
  program.commandsGroup('To begin with:')
  demo.register(program, runtime)
  program.commandsGroup('Help:')
  help.register(program, runtime)
  return program
}

/** commander puts flags in front of commands; what one looks for stands first here. */
function formatHelp(command: Command, helper: Help): string {
  const sections = Help.prototype.formatHelp.call(helper, command, helper).trimEnd().split('\n\n')
  const flags = sections.filter(section => section.startsWith(EVERYWHERE))
  return `${[...sections.filter(section => !flags.includes(section)), ...flags].join('\n\n')}\n`
}
