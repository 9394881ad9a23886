import { ServiceError } from '../errors.ts'

/** Consumes one whole `Blob` element: `from` is after its start tag, `to` at its end tag. The bytes are reused afterwards. */
export type TakeBlob = (bytes: Buffer, from: number, to: number) => void

const ROOM_BYTES = 128 * 1024
/** Far above the size of any element: a name of 1 024 characters and 8 KiB of metadata, all written as entities. */
const MAX_ELEMENT_BYTES = 1024 * 1024

const ROOT = Buffer.from('<EnumerationResults')
const BLOBS = Buffer.from('<Blobs')
const BLOBS_END = Buffer.from('</Blobs>')
const BLOB = Buffer.from('<Blob>')
const BLOB_END = Buffer.from('</Blob>')
const BLOB_TAIL = Buffer.from('Blob>')
const LESS = 0x3c
const GREATER = 0x3e
const SLASH = 0x2f
const SPACE = 0x20

/**
 * Finds the blobs in the bytes of a List Blobs answer as they arrive, in chunks of any size. It is not an XML parser: the service
 * writes no comments, and escapes every `<` in values, so the text between two tags need not be parsed. Only incomplete
 * elements are kept, in a separate buffer.
 */
export class ListScan {
  readonly #take: TakeBlob
  #room = Buffer.allocUnsafeSlow(ROOM_BYTES)
  #from = 0
  #to = 0
  #at: 'head' | 'blobs' | 'tail' = 'head'

  constructor(take: TakeBlob) {
    this.#take = take
  }

  push(chunk: Uint8Array): void {
    const bytes = this.#append(chunk)
    if (this.#at === 'head') this.#passHead(bytes)
    if (this.#at === 'blobs') this.#passBlobs(bytes)
    if (this.#to - this.#from > MAX_ELEMENT_BYTES) throw noListing()
  }

  /**
   * Call after the last push. Returns the continuation marker; `undefined` on the last page.
   * @throws ServiceError without a status if the listing is incomplete: repeating the request may return all of it
   */
  end(): string | undefined {
    const tail = this.#room.toString('utf8', this.#from, this.#to)
    if (this.#at === 'head' && !tail.includes('<EnumerationResults')) throw noListing()
    if (this.#at !== 'tail' || !tail.includes('</EnumerationResults>')) throw new ServiceError('AnswerCutOff')
    return elementText(tail, 'NextMarker') || undefined
  }

  /** The buffered bytes; those from `#from` on are not processed yet. */
  #append(chunk: Uint8Array): Buffer {
    if (this.#to + chunk.length > this.#room.length) this.#makeRoom(chunk.length)
    this.#room.set(chunk, this.#to)
    this.#to += chunk.length
    return this.#room.subarray(0, this.#to)
  }

  #makeRoom(more: number): void {
    const kept = this.#room.subarray(this.#from, this.#to)
    if (kept.length + more > this.#room.length) this.#room = Buffer.allocUnsafeSlow(2 * (kept.length + more))
    this.#room.set(kept)
    this.#from = 0
    this.#to = kept.length
  }

  #passHead(bytes: Buffer): void {
    const root = bytes.indexOf(ROOT)
    const tag = root < 0 ? -1 : bytes.indexOf(BLOBS, root)
    const end = tag < 0 ? -1 : bytes.indexOf(GREATER, tag)
    if (end < 0) return
    // An empty list may be an empty-element tag.
    this.#at = bytes[end - 1] === SLASH ? 'tail' : 'blobs'
    this.#from = end + 1
  }

  #passBlobs(bytes: Buffer): void {
    for (let at = afterSpace(bytes, this.#from); ; at = afterSpace(bytes, this.#from)) {
      if (at + BLOBS_END.length > bytes.length) return
      if (startsAt(bytes, at, BLOB)) {
        const end = endOfBlob(bytes, at + BLOB.length)
        if (end < 0) return
        this.#take(bytes, at + BLOB.length, end)
        this.#from = end + BLOB_END.length
      } else if (startsAt(bytes, at, BLOBS_END)) {
        this.#from = at + BLOBS_END.length
        this.#at = 'tail'
        return
      } else {
        const end = endOfOther(bytes, at)
        if (end < 0) return
        this.#from = end
      }
    }
  }
}

/**
 * Start of a blob's end tag; -1 if it has not arrived. A blob may have metadata with the key `Blob`: the tag before its end tag is
 * its start tag. The search string begins with a letter: with `<`, which begins every tag, the search would take three times
 * as long.
 */
function endOfBlob(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(BLOB_TAIL, from); at >= 0; at = bytes.indexOf(BLOB_TAIL, at + 1)) {
    const end = at - 2
    if (startsAt(bytes, end, BLOB_END) && !startsAt(bytes, tagBefore(bytes, end), BLOB)) return end
  }
  return -1
}

function tagBefore(bytes: Buffer, before: number): number {
  let at = before - 1
  while (at > 0 && bytes[at] !== LESS) at -= 1
  return at
}

/** End of an element other than a blob, such as `BlobPrefix`; -1 if it has not arrived. */
function endOfOther(bytes: Buffer, at: number): number {
  if (bytes[at] !== LESS) throw noListing()
  const tagEnd = bytes.indexOf(GREATER, at)
  if (tagEnd < 0) return -1
  if (bytes[tagEnd - 1] === SLASH) return tagEnd + 1
  const [name = ''] = bytes.toString('utf8', at + 1, tagEnd).split(' ')
  const endTag = `</${name}>`
  const end = bytes.indexOf(endTag, tagEnd)
  return end < 0 ? -1 : end + endTag.length
}

/** The answer is not a listing, for example one of a proxy: repeating the request would return the same. */
function noListing(): ServiceError {
  return new ServiceError('NoListing', { status: 200 })
}

function afterSpace(bytes: Buffer, from: number): number {
  let at = from
  while ((bytes[at] ?? LESS) <= SPACE) at += 1
  return at
}

/** Whether the bytes are at this offset. For a few bytes, a loop is cheaper than a call of a Buffer method. */
function startsAt(bytes: Buffer, at: number, wanted: Buffer): boolean {
  for (let i = 0; i < wanted.length; i += 1) if (bytes[at + i] !== wanted[i]) return false
  return true
}

/**
 * The text of the first element of that name; `undefined` if there is none or it is an empty-element tag. Valid only where the
 * service alone defines the element names and elements are not nested: not for metadata.
 */
function elementText(xml: string, name: string): string | undefined {
  const open = `<${name}>`
  const at = xml.indexOf(open)
  if (at < 0) return undefined
  const from = at + open.length
  return plain(xml.slice(from, xml.indexOf('<', from)))
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text with its entities replaced. */
export function plain(text: string): string {
  if (text.indexOf('&') < 0) return text
  return text.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex?: string, dec?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole
    const point = hex === undefined ? Number(dec) : Number.parseInt(hex, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}
