import type { EventData } from './data.ts'

/** A signal that came before an event waited for it. */
export interface KeptSignal {
  readonly name: string
  /** ISO time. */
  readonly at: string
  readonly by: string
  readonly commandId: string
  /** The input of the event that takes it. */
  readonly data?: EventData
}

/** Maximum number of signals that a stream keeps. */
export const MAX_KEPT_SIGNALS = 100

/** Before the name of a signal in the `attr` of its journal entry. */
const MARK = 'signal:'

/** The `attr` of the journal entry of a signal. It has no blanks, which separate attributes there. */
export function signalMark(name: string): string {
  return `${MARK}${encodeURIComponent(name.toWellFormed())}`
}

/** The name of the signal in such an `attr`; `undefined` for any other text. */
function signalIn(attr: string | undefined): string | undefined {
  if (attr === undefined || !attr.startsWith(MARK)) return undefined
  try {
    return decodeURIComponent(attr.slice(MARK.length))
  } catch {
    return attr.slice(MARK.length)
  }
}

/** The name of the signal that a transaction brought; `undefined` for every other one. */
export function signalOf({
  op,
  changes,
}: {
  readonly op: string
  readonly changes: readonly { readonly attr?: string }[]
}): string | undefined {
  return op === 'signal' ? changes.map(({ attr }) => signalIn(attr)).find(name => name !== undefined) : undefined
}
