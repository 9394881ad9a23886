import type { Command } from 'commander'
import type { Operation } from '../../stream/operation.ts'
import { eventIds, streamNamesBesideEvents } from '../arguments.ts'
import { type Description, parsed, type Run, writes } from '../command.ts'
import type { ChangeFlags, GlobalOptions } from '../options.ts'
import type { Runtime } from '../runtime.ts'

/** Arguments and flags of the commands that do one thing to streams, or to events of them. */
export interface OnStreamsOptions extends GlobalOptions, ChangeFlags {
  readonly streams: readonly string[]
  readonly event?: readonly string[]
  readonly skipMissing?: boolean
}

/** `cancel`, `abort`, `retry`: what differs between them. */
export interface OnStreams extends Omit<Description, 'kind' | 'formats'> {
  readonly verb: 'cancel' | 'abort' | 'retry'
  /** What was done, for the line that says so. */
  readonly word: string
  /** Help of `-e`. */
  readonly eventHelp: string
  /** The operation on one event or, without one, on the stream as a whole. */
  readonly operation: (event: { readonly event?: string }, options: OnStreamsOptions) => Operation
}

/** Registers such a command. */
export function registerOnStreams(
  parent: Command,
  runtime: Runtime,
  what: OnStreams,
  go: Run<OnStreamsOptions> = runOnStreams(what),
): void {
  const command = parent
    .command(what.verb)
    .argument('<STREAM...>', 'names of streams', streamNamesBesideEvents)
    .option('-e, --event <id>', what.eventHelp, eventIds)
    .option('--skip-missing', 'go on with the others where one of several is missing')
  writes(command, runtime, what, own => parsed<OnStreamsOptions>(own, ['streams']), go)
}

function runOnStreams({ verb, word, operation }: OnStreams): Run<OnStreamsOptions> {
  return async (options, runtime) => {
    const { changeBatch } = await import('./batch.ts')
    const { streams, event: events = [] } = options
    const make = (event: string | undefined) => operation(event === undefined ? {} : { event }, options)
    return changeBatch({ streams, events, options, verb, word, operation: make }, runtime)
  }
}

/** The reason is the message of the target too. */
export function messageOf({ reason }: OnStreamsOptions): { readonly msg?: string } {
  return reason === undefined ? {} : { msg: reason }
}
