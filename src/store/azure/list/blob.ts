import { isStoredName } from '../../names.ts'
import type { Listed } from '../../store.ts'
import { leaseView, type Metadata, summaryOf } from '../metadata.ts'
import { MetadataScan, type MetadataText } from './metadata.ts'
import { plain } from './text.ts'
import { startsAt } from './xml-scan.ts'

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
