import type { Command } from 'commander'
import { act, describeGroup, type Run } from '../cli/command.ts'
import { type GlobalOptions, optionsOf } from '../cli/options.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { choice } from '../cli/values.ts'
import { nearest } from '../util/nearest.ts'
import * as add from './context/add.ts'
import * as test from './context/context-test.ts'
import * as list from './context/list.ts'
import * as remove from './context/remove.ts'
import type { ContextOptions } from './context/run-show.ts'
import * as use from './context/use.ts'

/** `context …`: stores under names. Alone it shows the current one. */
export function register(parent: Command, runtime: Runtime, go: Run<ContextOptions> = run): void {
  const group = parent.command('context').usage('[COMMAND | -]')
  group.argument('[-]', 'back to the context before', text => onlyBack(text, group))
  describeGroup(group, runtime, {
    summary: 'names for stores: add, list, use, remove, test',
    description: 'Names for stores. Alone it shows the current one. Touches a list of your own, never a stream.',
    examples: [
      ['context add prod --store azure:orders4711/events --protected', 'a name for a store'],
      ['context use prod', 'the store of the commands to come'],
      ['context -', 'back to the one before'],
      ['ls -c prod', 'for one command'],
    ],
  })
  act(group, runtime, 'reads', parse, go)
  for (const command of [add, list, use, remove, test]) command.register(group, runtime)
}

function parse(command: Command): ContextOptions {
  const options: GlobalOptions = optionsOf(command)
  if (options.output !== undefined) choice('-o', ['text', 'json'])(options.output)
  return { ...options, back: command.args.length > 0 }
}

/** What is no command ends up as an argument here. */
function onlyBack(text: string, group: Command): string {
  if (text === '-') return text
  const words = group.commands.flatMap(command => [command.name(), ...command.aliases()])
  const near = nearest(text, words)
  throw new UsageError(`unknown command '${text}'`, {
    hint: near === undefined ? `One of ${words.join(', ')}.` : `Did you mean ${near}?`,
  })
}

export const run: Run<ContextOptions> = async (options, runtime) => {
  if (options.back) {
    runtime.begin('writes')
    const { useContext } = await import('./context/run-use.ts')
    return useContext({ ...options, name: '-' }, runtime)
  }
  const { showContext } = await import('./context/run-show.ts')
  return showContext(options, runtime)
}
