import type { Description } from '../../cli/command.ts'
import type { Operation } from '../../stream/operations/operation.ts'
import type { OnStreamsOptions } from './options.ts'

/** `cancel`, `abort`, `retry`: what differs between them. */
export interface OnStreams extends Omit<Description, 'kind' | 'formats' | 'effect'> {
  readonly verb: 'cancel' | 'abort' | 'retry'
  /** What it does, for the question. */
  readonly does: string
  /** What was done, for the line that says so. */
  readonly word: string
  /** Help of `-e`. */
  readonly eventHelp: string
  /** The operation on one event or, without one, on the stream as a whole. */
  readonly operation: (event: { readonly event?: string }, options: OnStreamsOptions) => Operation
}
