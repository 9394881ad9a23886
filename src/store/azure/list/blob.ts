import { isStoredName } from '../../names.ts'
import type { StreamRow } from '../../store.ts'
import { fieldOf, leaseView, type Metadata, NO_FIELDS, type OurFields, summaryOf } from '../metadata.ts'
import { plain } from './xml-scan.ts'

/** The part of a listed blob that is always read: enough to decide whether the rest is needed. */
export interface BlobHead {
  readonly name: string
  /** In quotes, as in headers; listings have it without. */
  readonly etag: string
  /** Whether the account has a hierarchical namespace: its listings mark each blob as a file or a directory. */
  readonly isHierarchical: boolean
  /** Whether it is a directory of such an account, or the empty blob with which an old driver marks one. */
  readonly isDirectory: boolean
  /** XML of name and properties. The service defines the names of these elements. */
  readonly properties: string
  /** Start of the XML after the properties: the metadata, whose element names the writer chooses. */
  readonly restAt: number
}

const PROPERTIES_END = Buffer.from('</Properties>')
/** The XML after the ETag of a file that is not empty, as every service writes it. */
const OF_FILES = /<\/Etag>(<ResourceType>file<\/ResourceType>)?<Content-Length>[1-9]/y

/** Name and ETag of the `Blob` element between two offsets. Nothing else is read, unless it may be a directory. */
export function headOf(bytes: Buffer, from: number, to: number): BlobHead {
  const found = bytes.indexOf(PROPERTIES_END, from)
  const restAt = found < 0 || found > to ? to : found
  const properties = bytes.toString('utf8', from, restAt)
  const nameAt = properties.indexOf('>') + 1
  const nameEnd = properties.indexOf('<', nameAt)
  const name = nameOf(properties.slice(0, nameAt), plain(properties.slice(nameAt, nameEnd)))
  const etag = quoted(plain(textOf(properties, '<Etag>') ?? ''))
  const head = { name: copied(name), etag: copied(etag), properties, restAt }
  OF_FILES.lastIndex = properties.indexOf('</Etag>', nameEnd)
  const file = OF_FILES.exec(properties)
  if (file !== null) return { ...head, isHierarchical: file[1] !== undefined, isDirectory: false }
  const kind = textOf(properties, '<ResourceType>')
  const isDirectory = kind === 'directory' || isMark(metadataOf(bytes.toString('utf8', restAt, to)).others)
  return { ...head, isHierarchical: kind !== undefined, isDirectory }
}

/** Whether the lease of the blob is held or breaking. */
export function isLeased({ properties }: BlobHead): boolean {
  const state = textOf(properties, '<LeaseState>')
  return state === 'leased' || state === 'breaking'
}

/**
 * The row of a blob whose head was read; `undefined` for a directory marker of an old driver. Its strings may share the memory of
 * this blob's metadata, but never that of a page.
 */
export function rowOf(bytes: Buffer, { name, etag, properties, restAt }: BlobHead, to: number): StreamRow | undefined {
  const { fields, others } = metadataOf(bytes.toString('utf8', restAt, to))
  if (isMark(others)) return undefined
  const modifiedMs = Date.parse(textOf(properties, '<Last-Modified>') ?? '')
  const size = Number(textOf(properties, '<Content-Length>') ?? 0)
  const md5 = textOf(properties, '<Content-MD5>')
  const type = textOf(properties, '<BlobType>')
  const isStream = (type === undefined || type === 'BlockBlob') && isStoredName(name)
  const state = textOf(properties, '<LeaseState>')
  const duration = state === 'leased' ? textOf(properties, '<LeaseDuration>') : undefined
  // A blob that cannot be a stream has no summary, whatever its metadata: reading it reports the reason.
  const summary = isStream ? summaryOf(fields, { md5: fields.md5 && md5 ? hexOf(md5) : undefined, size }) : undefined
  const lease = leaseView(state, duration, others)
  return { name, etag, size, modifiedMs, lease, ...(summary === undefined ? {} : { summary }) }
}

function isMark({ hdi_isfolder: mark }: Metadata): boolean {
  return mark === 'true'
}

/** The text of a property. Of the properties read here, only the ETag can contain entities. */
function textOf(properties: string, tag: string): string | undefined {
  const at = properties.indexOf(tag)
  if (at < 0) return undefined
  const from = at + tag.length
  return properties.slice(from, properties.indexOf('<', from))
}

/** A name with characters that are not valid in XML is percent-encoded, with an attribute that says so. */
function nameOf(tag: string, text: string): string {
  if (!tag.includes('Encoded="true"')) return text
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

/** A copy with its own memory: a substring keeps the whole string alive. */
function copied(text: string): string {
  return Buffer.from(text).toString()
}

/** The start tag of the section. */
const SECTION = /<Metadata\b[^>]*>\s*/g
/** One element of the section: key and value. No input makes it backtrack. */
const ELEMENT = /<([^\s/>]+)(?=[\s/>])[^>]*?(?:\/>|>([^<]*)<\/[^>]*>)\s*/y

/** The metadata of one blob: our fields without the holder, and all others with their keys unchanged. */
function metadataOf(text: string): { readonly fields: OurFields; readonly others: Metadata } {
  const fields: OurFields = { ...NO_FIELDS }
  const others: Record<string, string> = {}
  SECTION.lastIndex = 0
  const [section = '/>'] = SECTION.exec(text) ?? []
  if (section.includes('/>')) return { fields, others }
  ELEMENT.lastIndex = SECTION.lastIndex
  for (let element = ELEMENT.exec(text); element !== null; element = ELEMENT.exec(text)) {
    const [, key = '', value = ''] = element
    const field = fieldOf(key)
    if (field === undefined) others[key] = plain(value)
    else fields[field] = plain(value)
  }
  return { fields, others }
}
