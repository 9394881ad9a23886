import type { EventStore, Stored } from '../store/store.ts'
import type { StreamDocument } from '../stream/document.ts'
import { BadDocument } from '../stream/errors.ts'
import { highestVersion } from '../stream/journal/history.ts'
import { parseBody } from './transact/plan.ts'

/** A document that is to be put where another may be. */
export interface Candidate {
  readonly body: Uint8Array
  readonly document: StreamDocument
}

/** How a document stands to what has its name. */
export type Standing =
  /** The very same bytes. */
  | { readonly kind: 'same' }
  /** Another document, which may be replaced. */
  | { readonly kind: 'other'; readonly etag: string; readonly version: number }
  /** The same stream at a higher version: versions never go back (stream-format 5). */
  | { readonly kind: 'older'; readonly version: number; readonly found: number }
  /** What is there cannot be read: nothing is written over it. */
  | { readonly kind: 'unreadable'; readonly message: string }

/** Looks at what has the name, `undefined` for nothing. Takes no lease. */
export async function lookAt(store: EventStore, name: string, candidate: Candidate): Promise<Standing | undefined> {
  const current = await store.read(name)
  return current && standingOf(candidate, current)
}

/** How a document stands to a stored one. */
export function standingOf({ body, document }: Candidate, current: Stored): Standing {
  if (sameBytes(body, current.body)) return { kind: 'same' }
  const there = parsed(current)
  if (there instanceof BadDocument) return { kind: 'unreadable', message: there.message }
  const found = highestVersion(there, current.versionFloor)
  const version = highestVersion(document, 0)
  const sameLife = there.born !== '' && there.born === document.born
  if (sameLife && version < found) return { kind: 'older', version, found }
  return { kind: 'other', etag: current.etag, version: found }
}

/**
 * Whether other bytes than the document's may have been written upon it: nothing but another life or a lower version
 * rules that out, and foreign writers may take both away.
 */
export function mayStandOn({ document }: Candidate, current: Stored): boolean {
  const there = parsed(current)
  if (there instanceof BadDocument || there.born === '' || document.born === '') return true
  return there.born === document.born && highestVersion(there, current.versionFloor) >= highestVersion(document, 0)
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0
}

function parsed({ body, name }: Stored): StreamDocument | BadDocument {
  try {
    return parseBody(body, name)
  } catch (error) {
    if (error instanceof BadDocument) return error
    throw error
  }
}
