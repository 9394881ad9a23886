import type { Command } from 'commander'
import { messageOf, type OnStreams, type OnStreamsOptions, registerOnStreams } from './change/on-streams.ts'
import type { Run } from './command.ts'
import type { Runtime } from './runtime.ts'

const CANCEL: OnStreams = {
  verb: 'cancel',
  word: 'canceled',
  summary: "ends a stream, or one event with everything below it, as canceled: a user's wish",
  examples: [
    ['cancel orders/4711 -m "customer called"', 'the whole stream'],
    ['cancel orders/4711 -e 01.02.00', 'one event and what is open below it'],
  ],
  eventHelp: 'this event instead of the whole stream; may be repeated',
  operation: (event, options) => ({ op: 'cancel', ...event, ...messageOf(options) }),
}

export function register(parent: Command, runtime: Runtime, go?: Run<OnStreamsOptions>): void {
  registerOnStreams(parent, runtime, CANCEL, go)
}
