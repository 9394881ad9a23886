import { fieldOf, type Metadata, NO_FIELDS, type OurFields } from '../metadata.ts'
import { plain } from './text.ts'
import { startsAt } from './xml-scan.ts'

/** What stands in a `Blob` element behind its properties. */
export interface MetadataText {
  readonly bytes: Buffer
  /** Where the text begins in the bytes. */
  readonly from: number
  readonly to: number
  /** The bytes from there on, each one character (Latin-1), so that places in both are the same. */
  readonly text: string
}

/** The metadata of one blob, parted. */
export interface ScannedMetadata {
  /** Ours, but the holder. */
  readonly fields: OurFields
  /** All others, with their keys as they are written. */
  readonly others: Metadata
}

/** A key that was met, and at which place among the values of our fields its own is kept; -1 for keys of others. */
interface Slot {
  readonly key: string
  readonly bytes: Buffer
  readonly place: number
}

type Values = (string | undefined)[]

const LESS = 0x3c
const GREATER = 0x3e
const SLASH = 0x2f
const SPACE = 0x20
const SECTION = '<Metadata'
const NONE: Metadata = {}
const FIELDS = Object.keys(NO_FIELDS)
const BLANK: Values = FIELDS.map(() => undefined)
/** More than this many keys in a row are hardly ever left out. */
const LOOK_AHEAD = 6
const MAX_SLOTS = 200

/**
 * Reads the metadata of one blob after the other. The blobs of a listing have mostly the same keys in the same order, each
 * leaves out a few; so what stands at a key is compared with the keys that came next before, byte by byte: cutting it out
 * and looking it up costs several times as much.
 */
export class MetadataScan {
  /** The keys met so far, in their order. */
  #slots: Slot[] = []
  #next = 0
  /** Where reading goes on. */
  #at = 0
  #hasEntities = false

  read(metadata: MetadataText): ScannedMetadata {
    const { bytes, to } = metadata
    const values = BLANK.slice()
    let others: Record<string, string> | undefined
    this.#next = 0
    this.#at = firstChild(metadata)
    this.#hasEntities = metadata.text.indexOf('&') >= 0
    while (this.#at < to && bytes[this.#at + 1] !== SLASH) {
      const { key, place } = this.#slot(metadata, this.#at + 1)
      const value = this.#value(metadata, key.length)
      if (place >= 0) values[place] = value
      else {
        others ??= {}
        others[key] = value
      }
    }
    return { fields: fieldsOf(values), others: others ?? NONE }
  }

  /** The value of the key whose tag begins here. Goes on at the next tag. */
  #value({ bytes, from, to, text }: MetadataText, keyLength: number): string {
    const at = firstOf(GREATER, bytes, this.#at + 1 + keyLength, to) + 1
    if (bytes[at - 2] === SLASH) {
      this.#at = firstOf(LESS, bytes, at, to)
      return ''
    }
    let end = at
    let seen = 0
    for (let byte = bytes[end] ?? LESS; byte !== LESS && end < to; byte = bytes[end] ?? LESS) {
      seen |= byte
      end += 1
    }
    this.#at = firstOf(LESS, bytes, end + keyLength + 3, to)
    const value = seen < 0x80 ? text.slice(at - from, end - from) : bytes.toString('utf8', at, end)
    return this.#hasEntities ? plain(value) : value
  }

  #slot(metadata: MetadataText, at: number): Slot {
    const last = Math.min(this.#next + LOOK_AHEAD, this.#slots.length)
    for (let i = this.#next; i < last; i += 1) {
      const slot = this.#slots[i]
      if (slot === undefined || !startsAt(metadata.bytes, at, slot.bytes)) continue
      if (!endsKey(metadata.bytes[at + slot.bytes.length])) continue
      this.#next = i + 1
      return slot
    }
    return this.#newSlot(metadata, at)
  }

  #newSlot({ bytes, from, to, text }: MetadataText, at: number): Slot {
    let end = at
    while (end < to && !endsKey(bytes[end])) end += 1
    // Not cut out of the text, which would be kept as long as the key.
    const key = Buffer.from(text.slice(at - from, end - from), 'latin1').toString('latin1')
    const slot = { key, bytes: Buffer.from(key, 'latin1'), place: FIELDS.indexOf(fieldOf(key) ?? '') }
    // Keys that differ from blob to blob are of no use here.
    if (this.#slots.length >= MAX_SLOTS) this.#slots = this.#slots.slice(0, this.#next)
    this.#slots.splice(this.#next, 0, slot)
    this.#next += 1
    return slot
  }
}

/** Where the first tag in the section begins; the end if there is none. */
function firstChild({ bytes, from, to, text }: MetadataText): number {
  const section = text.indexOf(SECTION)
  if (section < 0) return to
  const end = firstOf(GREATER, bytes, section + from, to)
  return bytes[end - 1] === SLASH ? to : firstOf(LESS, bytes, end, to)
}

function firstOf(wanted: number, bytes: Buffer, from: number, to: number): number {
  let at = from
  while (at < to && bytes[at] !== wanted) at += 1
  return at
}

/** What ends a key in a tag: `>`, a space, `/`. */
function endsKey(byte = GREATER): boolean {
  return byte === GREATER || byte === SLASH || byte <= SPACE
}

/** The values are in the order of `NO_FIELDS`. Storing each under a key that varies would cost as much as all else. */
function fieldsOf(values: Values): OurFields {
  return {
    codec: values[0],
    v: values[1],
    open: values[2],
    failed: values[3],
    total: values[4],
    created: values[5],
    failed_at: values[6],
    due: values[7],
    claim_end: values[8],
    born: values[9],
    status: values[10],
    outcome: values[11],
    by: values[12],
    root: values[13],
    key: values[14],
    topic: values[15],
    tag: values[16],
    tracking: values[17],
    failed_id: values[18],
    failure: values[19],
    waiting: values[20],
    ready: values[21],
    md5: values[22],
    length: values[23],
  }
}
