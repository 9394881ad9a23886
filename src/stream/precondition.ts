import type { StreamDocument } from './document.ts'
import { sumOf } from './fingerprint.ts'
import type { ForeignWrite } from './journal/history.ts'
import { refuse } from './operations/checks.ts'
import type { Refusal } from './operations/operation.ts'

/** The state of a stream that somebody looked at: what was previewed is what is changed (stream-format 5). */
export interface Precondition {
  /** Refuse (`changed`) unless the stream stands at this version and no foreign write has come since. */
  readonly ifVersion?: number
  /**
   * Refuse unless it is in this life, `lc:born`. Another writer may have dropped that from the document: without a version to
   * be compared it is taken for this life, and bears it again once it is changed.
   */
  readonly ifBorn?: string
  /**
   * `sumOf` the events when they were read. A foreign write that was there by then is part of what was looked at; without
   * this any that is not yet recorded breaks the pin. Heartbeats, which raise no version, never break it.
   */
  readonly ifSum?: string
}

/** @param foreign the foreign write that no transaction has recorded */
export function checkPin(
  document: StreamDocument,
  pin: Precondition,
  foreign: ForeignWrite | undefined,
): Refusal | undefined {
  const { ifVersion = document.version, ifBorn = document.born } = pin
  const isOfThatLife = ifBorn === document.born || (document.born === '' && pin.ifVersion === undefined)
  const written = foreign !== undefined && writtenSince(document, pin, foreign)
  if (ifVersion === document.version && isOfThatLife && !written) return undefined
  const root = document.events[0]
  const message = `the stream is no longer what was looked at: ${reason(document, ifVersion, ifBorn)}; look again and repeat`
  return root === undefined ? { code: 'changed', event: '', status: '', message } : refuse('changed', root, message)
}

function writtenSince(document: StreamDocument, pin: Precondition, { op }: ForeignWrite): boolean {
  if (pin.ifSum !== undefined) return pin.ifSum !== sumOf(document.events)
  return pin.ifVersion !== undefined && op === 'foreign'
}

function reason({ version, born }: StreamDocument, ifVersion: number, ifBorn: string): string {
  if (born !== ifBorn) return 'another one has its name now'
  if (version !== ifVersion) return `it stands at version ${version}, not ${ifVersion}`
  return `it stands at version ${version}, but somebody else wrote since`
}
