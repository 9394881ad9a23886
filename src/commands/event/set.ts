import { type Command, Option } from 'commander'
import { type Run, writes } from '../../cli/command.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { requiredText } from '../../cli/values.ts'
import { SETTABLE, type SettableAttributes } from '../../stream/operations/operation.ts'
import { changeEvent } from './change-event.ts'
import {
  type AttributeFlags,
  attributeFlags,
  claimantOf,
  type EventOptions,
  eventCommand,
  parseEvent,
} from './flags.ts'

export interface SetOptions extends EventOptions, AttributeFlags {
  readonly name?: string
}

export function register(parent: Command, runtime: Runtime, go: Run<SetOptions> = run): void {
  const command = eventCommand(parent, 'set').addOption(
    new Option('--name <text>', 'name of the step').argParser(requiredText('--name')),
  )
  const description = {
    summary: 'changes attributes of an event; an empty value removes one',
    examples: [
      ['event set orders/4711 01.02.00 --timeout 10m', 'more time'],
      ['event set orders/4711 01.02.00 --tag ""', 'removes the tag'],
    ],
  } as const
  writes(attributeFlags(command, { clearing: true }), runtime, description, parseEvent<SetOptions>, go)
}

export const run: Run<SetOptions> = async (options, runtime) => {
  const { event } = options
  const attributes: SettableAttributes = Object.fromEntries(
    SETTABLE.flatMap(name => (options[name] === undefined ? [] : [[name, options[name]]])),
  )
  if (Object.keys(attributes).length === 0)
    throw new UsageError('set needs an attribute', { hint: 'for example --timeout 10m' })
  const operation = { op: 'set', event, attributes, ...claimantOf(options, runtime) } as const
  return changeEvent(options, operation, 'changed', runtime)
}
