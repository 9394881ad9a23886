import { ownText } from '../../util/strings.ts'
import type { SeenTransaction, StreamView } from '../read-stream.ts'

/** Why the journal does not go on from where it was seen last. */
export type Break =
  /** Another stream has the name now; its count begins anew. What the former one did last may have been missed. */
  | 'other-life'
  /** The last transaction that was seen is not in the journal: an older copy was put back. */
  | 'older-copy'

/** What a look at a stream finds. */
export interface Found {
  /** Its life, `lc:born`. */
  readonly born: string
  /** All of them, oldest first. */
  readonly transactions: readonly SeenTransaction[]
  /** When the store last wrote it, epoch ms. */
  readonly modifiedMs: number
}

/** What a look at a stream tells that was not told before. */
export interface News {
  readonly transactions: readonly SeenTransaction[]
  readonly broken: Break | undefined
}

export interface PositionOptions {
  /** Everything up to this version is known. */
  readonly version: number
  /** The life (`lc:born`) in which that counts; `''` takes the one that is met first. */
  readonly born: string
  /** When the stream was last written as it was seen at that version, epoch ms. A person may name one that is to come. */
  readonly seenMs?: number
}

/** Up to where the transactions of one stream were told. Holds numbers and one id, nothing of the document. */
export class Position {
  #version: number
  #born: string
  #seenMs: number | undefined
  /** Fingerprints, so that a hundred thousand positions take little: 0 stands for none. */
  #last = 0
  #provisional = 0

  constructor({ version, born, seenMs }: PositionOptions) {
    this.#version = version
    this.#born = born
    this.#seenMs = seenMs
  }

  /** The life that was seen last, `''` before the first. */
  get born(): string {
    return this.#born
  }

  /** Whether a summary that counts says that there is nothing new: heartbeats write without a transaction. */
  isAt(version: number, born: string): boolean {
    return this.#provisional === 0 && version === this.#version && born === this.#born
  }

  /** What the stream tells now, in order. It is told once: the position moves on. */
  news(found: Found): News {
    const broken = this.#rewind(found)
    const transactions: SeenTransaction[] = []
    let provisional = 0
    for (const tx of found.transactions) {
      if (tx.provisional) {
        provisional = fingerprint(JSON.stringify([tx.changes, tx.why]))
        if (provisional !== this.#provisional) transactions.push(tx)
      } else if (tx.version > this.#version) {
        this.#version = tx.version
        this.#provisional = 0
        transactions.push(tx)
      }
    }
    this.#provisional = provisional
    return { transactions, broken }
  }

  /**
   * Another life under the same name, or an older copy that was put back, begins its own count. A writer that merely
   * dropped `lc:born` does neither.
   */
  #rewind(found: Found): Break | undefined {
    const recorded = found.transactions.filter(tx => !tx.provisional)
    const newest = recorded.at(-1)
    const known = this.#last
    const born = this.#born
    const seenMs = this.#seenMs
    const isThere = known !== 0 && recorded.some(tx => identity(tx) === known)
    this.#last = newest === undefined ? 0 : identity(newest)
    this.#seenMs = found.modifiedMs
    if (found.born !== born) this.#born = ownText(found.born)
    if (isThere || seenMs === undefined) return undefined
    if (born !== '' && found.born !== '' && found.born !== born) {
      this.#version = 0
      return 'other-life'
    }
    const newestVersion = newest?.version ?? 0
    if (known === 0 && newestVersion >= this.#version) return undefined
    // What was told and what was not has the same versions now: times tell them apart.
    const later = recorded.find(tx => Date.parse(tx.at) > seenMs)
    this.#version = Math.min(this.#version, later === undefined ? newestVersion : later.version - 1)
    return 'older-copy'
  }
}

/** What a view of a stream finds. */
export function foundIn({ document, stored, transactions }: StreamView): Found {
  return { born: document.born, transactions: transactions(), modifiedMs: stored.modifiedMs }
}

function identity({ version, at, commandId }: SeenTransaction): number {
  return fingerprint(`${version} ${at} ${commandId}`)
}

/** FNV-1a over the text's code units, never 0. */
function fingerprint(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash === 0 ? 1 : hash
}
