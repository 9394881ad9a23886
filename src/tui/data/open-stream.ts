import type { JournalEntry, StreamView } from '../../ops/read-stream.ts'
import type { Unreadable } from '../../ops/summaries.ts'
import type { StreamRow, StreamSnapshot } from '../../store/store.ts'
import { BadDocument } from '../../stream/errors.ts'
import type { StreamEvent } from '../../stream/event.ts'
import { MAX_READ_BYTES } from '../../stream/limits.ts'
import type { Summary } from '../../stream/summary.ts'
import { decodeDocument } from '../../stream/xml/decode.ts'
import { StreamTree } from './stream-tree.ts'
import type { Below, OpenStream, Presence, TreeNode } from './types.ts'

/**
 * The result of one poll of the open stream. `view`: it was read. `listed`: unchanged since it was read, except
 * possibly its row of the listing. `unreadable`: the blob is not an event stream. `missing`: no blob has its name.
 */
export type OpenStreamUpdate =
  | { readonly kind: 'view'; readonly view: StreamView; readonly listed?: StreamRow }
  | { readonly kind: 'listed'; readonly listed: StreamRow }
  | {
      readonly kind: 'unreadable'
      /** Absent if not even the bytes could be read. */
      readonly stored?: StreamSnapshot
      readonly fault: Unreadable
      readonly listed?: StreamRow
    }
  | { readonly kind: 'missing'; readonly atMs?: number }

/** A stream of which nothing is known yet. @param revision where its revisions start */
export function unreadStream(name: string, revision: number): OpenStream {
  return new OpenStreamState({ name, revision, presence: 'waiting' })
}

/** The stream after one more poll; the same value without news. */
export function withUpdate(before: OpenStream, update: OpenStreamUpdate): OpenStream {
  const known =
    before instanceof OpenStreamState ? before.parts : { name: before.name, revision: 0, presence: before.presence }
  const parts = partsAfter(known, update)
  return parts === known ? before : new OpenStreamState({ ...parts, revision: known.revision + 1 })
}

interface Parts {
  readonly name: string
  readonly revision: number
  readonly presence: Presence
  readonly fault?: OpenStream['fault']
  readonly goneMs?: number | undefined
  readonly listed?: StreamRow | undefined
  /** The last readable state. */
  readonly tree?: StreamTree | undefined
  /** The content of the blob, now or before its removal. */
  readonly lines?: Lines | undefined
}

function partsAfter(before: Parts, update: OpenStreamUpdate): Parts {
  const { name, revision, tree, lines } = before
  switch (update.kind) {
    case 'view': {
      const { view, listed = rowOf(view.stored) } = update
      return {
        name,
        revision,
        presence: 'there',
        listed,
        tree: new StreamTree(view, tree),
        lines: new Lines(view.stored.body),
      }
    }
    case 'unreadable': {
      const { stored, fault, listed = stored && rowOf(stored) } = update
      const held = stored === undefined ? lines : new Lines(stored.body)
      return { name, revision, presence: 'unreadable', fault, listed, tree, lines: held }
    }
    case 'listed':
      return isSameRow(before.listed, update.listed) ? before : { ...before, listed: update.listed }
    case 'missing': {
      const presence = before.presence === 'waiting' || before.presence === 'missing' ? 'missing' : 'gone'
      const goneMs = presence === 'gone' ? update.atMs : undefined
      return presence === before.presence ? before : { name, revision, presence, goneMs, tree, lines }
    }
    default:
      return update satisfies never
  }
}

function isSameRow(a: StreamRow | undefined, b: StreamRow): boolean {
  return a?.etag === b.etag && JSON.stringify(a.lease) === JSON.stringify(b.lease)
}

function rowOf({ name, etag, size, modifiedMs, lease, summary }: StreamSnapshot): StreamRow {
  return { name, etag, size, modifiedMs, lease, ...(summary === undefined ? {} : { summary }) }
}

/** The body of a blob, split into lines on demand. */
class Lines {
  #body: Uint8Array | undefined
  #lines: readonly string[] = []

  constructor(body: Uint8Array) {
    this.#body = body
  }

  get all(): readonly string[] {
    if (this.#body !== undefined) this.#lines = storedLines(this.#body)
    this.#body = undefined
    return this.#lines
  }
}

class OpenStreamState implements OpenStream {
  readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }

  get name(): string {
    return this.parts.name
  }

  get revision(): number {
    return this.parts.revision
  }

  get presence(): Presence {
    return this.parts.presence
  }

  get view(): StreamView | undefined {
    return this.parts.tree?.view
  }

  get goneMs(): number | undefined {
    return this.parts.goneMs
  }

  get fault(): OpenStream['fault'] {
    return this.parts.fault
  }

  get listed(): StreamRow | undefined {
    return this.parts.listed
  }

  get summary(): Summary | undefined {
    return this.parts.listed?.summary ?? this.parts.tree?.summary
  }

  get nodes(): readonly TreeNode[] {
    return this.parts.tree?.nodes ?? NO_NODES
  }

  get tail(): readonly JournalEntry[] {
    return this.parts.tree?.tail ?? []
  }

  get text(): readonly string[] {
    return this.parts.lines?.all ?? []
  }

  below(at: number): Below {
    return this.parts.tree?.below(at) ?? { done: 0, failed: 0, canceled: 0, total: 0 }
  }

  event(id: string): StreamEvent | undefined {
    return this.parts.tree?.event(id)
  }

  transactionsOf(id: string): readonly JournalEntry[] {
    return this.parts.tree?.transactionsOf(id) ?? []
  }
}

const NO_NODES: readonly TreeNode[] = []

/** A stored body in lines, decoded as documents are; undecodable bytes of foreign content are replaced. */
function storedLines(body: Uint8Array): readonly string[] {
  return textOf(body).split(/\r\n|\r|\n/)
}

function textOf(body: Uint8Array): string {
  try {
    return decodeDocument(body)
  } catch (error) {
    if (!(error instanceof BadDocument)) throw error
    return new TextDecoder(encodingOf(body)).decode(body.subarray(0, MAX_READ_BYTES))
  }
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
