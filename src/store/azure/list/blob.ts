import { isStoredName } from '../../names.ts'
import type { Listed } from '../../store.ts'
import { fieldOf, leaseView, type Metadata, NO_FIELDS, type OurFields, summaryOf } from '../metadata.ts'
import { plain, startsAt } from './xml-scan.ts'

/** What is read of every blob: enough to tell whether the rest is wanted. */
export interface BlobHead {
  readonly name: string
  /** In quotes, as headers have it; the service lists it without. */
  readonly etag: string
  /** Where the name ends. */
  readonly nameEnd: number
  /** Accounts with a hierarchical namespace tell of each blob whether it is a file or a directory; others do not. */
  readonly isHierarchical: boolean
  /** A directory of such an account, or the empty blob by which an old driver marks one. */
  readonly isDirectory: boolean
}

const LESS = 0x3c
const GREATER = 0x3e
const ZERO = 0x30
const NAME = Buffer.from('<Name>')
const ETAG = Buffer.from('<Etag>')
const LEASE_STATE = Buffer.from('<LeaseState>')
const LEASED = Buffer.from('leased<')
const BREAKING = Buffer.from('breaking<')
const PROPERTIES_END = Buffer.from('</Properties>')
/** What stands behind the ETag of what is no directory, as every service writes it. */
const OF_FILES = [
  { bytes: Buffer.from('</Etag><Content-Length>'), isHierarchical: false },
  { bytes: Buffer.from('</Etag><ResourceType>file</ResourceType><Content-Length>'), isHierarchical: true },
]

/** Reads the `Blob` elements of a listing. */
export class BlobReader {
  readonly #metadata = new MetadataScan()

  /** Name and ETag of the element between these places. Nothing else is read, unless it may be a directory. */
  head(bytes: Buffer, from: number, to: number): BlobHead {
    const nameAt = startsAt(bytes, from, NAME) ? from + NAME.length : bytes.indexOf(GREATER, from) + 1
    const nameEnd = endOfText(bytes, nameAt, to)
    const name = nameOf(bytes, from, nameAt, nameEnd)
    const tag = bytes.indexOf(ETAG, nameEnd)
    const etagAt = tag < 0 || tag > to ? to : tag + ETAG.length
    const etagEnd = endOfText(bytes, etagAt, to)
    const etag = quoted(plain(bytes.toString('latin1', etagAt, etagEnd)))
    for (const { bytes: behind, isHierarchical } of OF_FILES) {
      if (startsAt(bytes, etagEnd, behind) && bytes[etagEnd + behind.length] !== ZERO)
        return { name, etag, nameEnd, isHierarchical, isDirectory: false }
    }
    return { name, etag, nameEnd, ...this.#kind(bytes, nameEnd, to) }
  }

  /** Whether the lease of the blob whose head was read is held. */
  isLeased(bytes: Buffer, { nameEnd }: BlobHead, to: number): boolean {
    const tag = bytes.indexOf(LEASE_STATE, nameEnd)
    if (tag < 0 || tag > to) return false
    const at = tag + LEASE_STATE.length
    return startsAt(bytes, at, LEASED) || startsAt(bytes, at, BREAKING)
  }

  /**
   * The row of the blob whose head was read; `undefined` for one that an old driver marked as a directory. Its texts may
   * share the memory of this blob's metadata, never that of a page.
   */
  row(bytes: Buffer, { name, etag, nameEnd }: BlobHead, to: number): Listed | undefined {
    const { properties, metadata } = partsOf(bytes, nameEnd, to)
    const { fields, others } = this.#metadata.read(metadata)
    if (isMark(others)) return undefined
    // In the order in which the service writes them.
    const modifiedMs = Date.parse(properties.get('<Last-Modified>') ?? '')
    const size = Number(properties.get('<Content-Length>') ?? 0)
    const md5 = properties.get('<Content-MD5>')
    const type = properties.get('<BlobType>')
    const isStream = (type === undefined || type === 'BlockBlob') && isStoredName(name)
    const state = properties.get('<LeaseState>')
    const duration = state === 'leased' ? properties.get('<LeaseDuration>') : undefined
    // What no stream can be has no summary, whatever it says: whoever reads it learns why.
    const summary = isStream ? summaryOf(fields, { md5: fields.md5 && md5 ? hexOf(md5) : undefined, size }) : undefined
    return {
      name,
      etag,
      size,
      modifiedMs,
      lease: leaseView(state, duration, others),
      ...(summary === undefined ? {} : { summary }),
    }
  }

  #kind(bytes: Buffer, from: number, to: number): Pick<BlobHead, 'isHierarchical' | 'isDirectory'> {
    const { properties, metadata } = partsOf(bytes, from, to)
    const kind = properties.get('<ResourceType>')
    const isDirectory = kind === 'directory' || isMark(this.#metadata.read(metadata).others)
    return { isHierarchical: kind !== undefined, isDirectory }
  }
}

function isMark({ hdi_isfolder: mark }: Metadata): boolean {
  return mark === 'true'
}

/** Up to the end of the properties the service chooses the names of elements, then whoever writes metadata does. */
function partsOf(bytes: Buffer, from: number, to: number): { properties: Properties; metadata: MetadataText } {
  const found = bytes.indexOf(PROPERTIES_END, from)
  const end = found < 0 || found > to ? to : found
  const properties = new Properties(bytes.toString('latin1', from, end))
  return { properties, metadata: { bytes, from: end, to, text: bytes.toString('latin1', end, to) } }
}

/** The properties of a blob. What is read of them holds nothing but ASCII and no entities. */
class Properties {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Cheapest when they are asked for in their order. */
  get(tag: string): string | undefined {
    const behind = this.#find(tag, this.#at)
    const at = behind >= 0 || this.#at === 0 ? behind : this.#find(tag, 0)
    if (at < 0) return undefined
    this.#at = this.#text.indexOf('<', at)
    return this.#text.slice(at, this.#at)
  }

  #find(tag: string, from: number): number {
    const at = this.#text.indexOf(tag, from)
    return at < 0 ? -1 : at + tag.length
  }
}

/** A name with characters that XML cannot hold comes percent-encoded and says so. */
function nameOf(bytes: Buffer, from: number, nameAt: number, nameEnd: number): string {
  const text = plain(bytes.toString('utf8', nameAt, nameEnd))
  const isEncoded = nameAt - from > NAME.length && bytes.toString('latin1', from, nameAt).includes('Encoded="true"')
  return isEncoded ? decoded(text) : text
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function quoted(etag: string): string {
  return etag.startsWith('"') ? etag : `"${etag}"`
}

function hexOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex')
}

function endOfText(bytes: Buffer, from: number, to: number): number {
  let at = from
  while (at < to && bytes[at] !== LESS) at += 1
  return at
}

/** What stands in a `Blob` element behind its properties. */
interface MetadataText {
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
class MetadataScan {
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
