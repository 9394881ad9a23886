import type { Command } from 'commander'
import { eventIds, streamNames } from './arguments.ts'
import { parsed, type Run, writes } from './command.ts'
import type { ChangeFlags, GlobalOptions } from './options.ts'
import type { Runtime } from './runtime.ts'

export interface AbortOptions extends GlobalOptions, ChangeFlags {
  readonly streams: readonly string[]
  readonly event?: readonly string[]
}

export function register(parent: Command, runtime: Runtime, go: Run<AbortOptions> = run): void {
  const command = parent
    .command('abort')
    .argument('<STREAM...>', 'names of streams', streamNames)
    .option('-e, --event <id>', 'this event instead of the whole stream; may be repeated', eventIds)
  const description = {
    summary: 'ends a stream, or one event, as aborted by force; what is open below becomes canceled',
    examples: [
      ['abort orders/4711 -m "customer called"', 'the whole stream'],
      ['abort orders/4711 -e 01.02.00', 'one event and what is open below it'],
    ],
  } as const
  writes(command, runtime, description, parse, go)
}

const parse = (command: Command) => parsed<AbortOptions>(command, ['streams'])

export const run: Run<AbortOptions> = async (options, runtime) => {
  const { changeBatch } = await import('./change/batch.ts')
  const msg = options.reason === undefined ? {} : { msg: options.reason }
  const { streams, event: events = [] } = options
  return changeBatch(
    {
      streams,
      events,
      options,
      verb: 'abort',
      word: 'aborted',
      operation: event => ({ op: 'abort', ...(event === undefined ? {} : { event }), ...msg }),
    },
    runtime,
  )
}
