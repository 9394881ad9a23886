import type { Command } from 'commander'
import { eventIds, streamNames } from './arguments.ts'
import { parsed, type Run, writes } from './command.ts'
import type { ChangeFlags, GlobalOptions } from './options.ts'
import type { Runtime } from './runtime.ts'

export interface CancelOptions extends GlobalOptions, ChangeFlags {
  readonly streams: readonly string[]
  readonly event?: readonly string[]
}

export function register(parent: Command, runtime: Runtime, go: Run<CancelOptions> = run): void {
  const command = parent
    .command('cancel')
    .argument('<STREAM...>', 'names of streams', streamNames)
    .option('-e, --event <id>', 'this event instead of the whole stream; may be repeated', eventIds)
  const description = {
    summary: "ends a stream, or one event with everything below it, as canceled: a user's wish",
    examples: [
      ['cancel orders/4711 -m "customer called"', 'the whole stream'],
      ['cancel orders/4711 -e 01.02.00', 'one event and what is open below it'],
    ],
  } as const
  writes(command, runtime, description, parse, go)
}

const parse = (command: Command) => parsed<CancelOptions>(command, ['streams'])

export const run: Run<CancelOptions> = async (options, runtime) => {
  const { changeBatch } = await import('./change/batch.ts')
  const msg = options.reason === undefined ? {} : { msg: options.reason }
  const { streams, event: events = [] } = options
  return changeBatch(
    {
      streams,
      events,
      options,
      verb: 'cancel',
      word: 'canceled',
      operation: event => ({ op: 'cancel', ...(event === undefined ? {} : { event }), ...msg }),
    },
    runtime,
  )
}
