import type { StreamDocument } from './document.ts'
import { sumOf } from './fingerprint.ts'
import type { ForeignWrite } from './journal/history.ts'
import { refuse } from './operations/checks.ts'
import type { Refusal } from './operations/operation.ts'

/**
 * The state of a stream that the caller has read. A change with it applies to exactly the state that was previewed
 * (stream-format 5).
 */
export interface Precondition {
  /** Refuse (`changed`) unless the stream is at this version and no foreign write followed. */
  readonly ifVersion?: number
  /**
   * Refuse unless the stream is this incarnation (`lc:born`). Another writer may have dropped that attribute: without a
   * version to compare, the stream counts as this incarnation, and the change writes the attribute again.
   */
  readonly ifBorn?: string
  /**
   * `sumOf` the events when they were read. A foreign write before that read is then part of the known state; without
   * this field, every unrecorded foreign write breaks the pin. Heartbeats, which raise no version, never break it.
   */
  readonly ifSum?: string
}

/** @param foreign the foreign write that no transaction has recorded yet */
export function checkPrecondition(
  document: StreamDocument,
  pin: Precondition,
  foreign: ForeignWrite | undefined,
): Refusal | undefined {
  const { ifVersion = document.version, ifBorn = document.born } = pin
  const isSameIncarnation = ifBorn === document.born || (document.born === '' && pin.ifVersion === undefined)
  const written = foreign !== undefined && hasForeignWriteSince(document, pin, foreign)
  if (ifVersion === document.version && isSameIncarnation && !written) return undefined
  const root = document.events[0]
  const message = `the stream has changed since it was read: ${reason(document, ifVersion, ifBorn)}; read it again and repeat`
  return root === undefined ? { code: 'changed', event: '', status: '', message } : refuse('changed', root, message)
}

function hasForeignWriteSince(document: StreamDocument, pin: Precondition, { op }: ForeignWrite): boolean {
  if (pin.ifSum !== undefined) return pin.ifSum !== sumOf(document.events)
  return pin.ifVersion !== undefined && op === 'foreign'
}

function reason({ version, born }: StreamDocument, ifVersion: number, ifBorn: string): string {
  if (born !== ifBorn) return 'another one has its name now'
  if (version !== ifVersion) return `it is at version ${version}, not ${ifVersion}`
  return `it is at version ${version}, but another program wrote since`
}
