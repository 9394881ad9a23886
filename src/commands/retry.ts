import type { Command } from 'commander'
import { eventIds, streamNames } from './arguments.ts'
import { parsed, type Run, writes } from './command.ts'
import type { ChangeFlags, GlobalOptions } from './options.ts'
import type { Runtime } from './runtime.ts'

export interface RetryOptions extends GlobalOptions, ChangeFlags {
  readonly streams: readonly string[]
  readonly event?: readonly string[]
}

export function register(parent: Command, runtime: Runtime, go: Run<RetryOptions> = run): void {
  const command = parent
    .command('retry')
    .argument('<STREAM...>', 'names of streams', streamNames)
    .option('-e, --event <id>', 'reopen this event; may be repeated', eventIds)
  const description = {
    summary: 'reopens aborted and canceled events; without -e all failed leaves that may be retried, at once',
    examples: [
      ['retry orders/4711 -m "gateway is back"', 'every failed leaf, in one transaction'],
      ['retry orders/4711 -e 03.00', 'one event'],
    ],
  } as const
  writes(command, runtime, description, parse, go)
}

const parse = (command: Command) => parsed<RetryOptions>(command, ['streams'])

export const run: Run<RetryOptions> = async (options, runtime) => {
  const { changeBatch } = await import('./change/batch.ts')
  return changeBatch(
    {
      streams: options.streams,
      events: options.event ?? [],
      options,
      verb: 'retry',
      word: 'reopened',
      operation: event => ({ op: 'retry', ...(event === undefined ? {} : { event }) }),
    },
    runtime,
  )
}
