import type { Command } from 'commander'
import { type Run, writes } from '../../cli/command.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { changeEvent } from './change-event.ts'
import {
  type AttributeFlags,
  attributeFlags,
  attributesOf,
  claimantOf,
  type EventOptions,
  eventCommand,
  parseEvent,
  successorFlags,
} from './flags.ts'

export interface AdvanceOptions extends EventOptions, AttributeFlags {
  readonly next?: string
  readonly fork?: readonly string[]
  readonly join?: string
  readonly more?: boolean
}

export function register(parent: Command, runtime: Runtime, go: Run<AdvanceOptions> = run): void {
  const command = successorFlags(eventCommand(parent, 'advance')).option('--more', 'advance it a second time')
  const description = {
    summary: "an event's own work is done: adds its next step or a fork; attributes go to the new events",
    examples: [
      ['event advance orders/4711 01.00 --fence 7 --next SearchDone', 'the next step'],
      ['event advance orders/4711 01.01 --fork Search,Search --join SearchDone', 'two threads and a join'],
    ],
  } as const
  writes(attributeFlags(command), runtime, description, parseEvent<AdvanceOptions>, go)
}

export const run: Run<AdvanceOptions> = async (options, runtime) => {
  const { event, next, fork = [], join, more } = options
  if (next === undefined && fork.length === 0) {
    throw new UsageError('advance needs a successor', { hint: '--next NAME, or --fork A,B,C' })
  }
  if (join !== undefined && fork.length === 0)
    throw new UsageError('--join needs --fork', { hint: `--fork A,B --join ${join}` })
  const attributes = attributesOf(options)
  const operation = {
    op: 'advance',
    event,
    forks: fork.map(name => ({ ...attributes, name })),
    ...(next === undefined ? {} : { next: { ...attributes, name: next } }),
    ...(join === undefined ? {} : { join: { ...attributes, name: join } }),
    ...(more ? { more } : {}),
    ...claimantOf(options, runtime),
  } as const
  return changeEvent(options, operation, 'advanced', runtime)
}
