/** A blob as the service lists it. */
export interface ListedBlob {
  readonly name: string
  readonly etag: string
  readonly size: number
  readonly modifiedMs: number
  /** Lower-case hex; absent for a blob put together from blocks. */
  readonly md5: string | undefined
  readonly leaseState: string | undefined
  readonly leaseDuration: string | undefined
  readonly metadata: Readonly<Record<string, string>>
}

export interface ListingPage {
  readonly blobs: readonly ListedBlob[]
  /** Where the next page begins; `undefined` after the last. */
  readonly marker: string | undefined
}

/**
 * Picks the fields that are needed out of a List Blobs answer. No XML parser: the text comes from the service, whose
 * elements carry no attributes but `Encoded`, and in which every `<` of a value is an entity. Directories of accounts
 * with a hierarchical namespace are left out. `undefined` if the text is no such answer.
 */
export function scanListing(xml: string): ListingPage | undefined {
  const end = xml.lastIndexOf('</EnumerationResults>')
  if (end < 0) return undefined
  const blobs: ListedBlob[] = []
  for (let from = xml.indexOf('<Blob>'); from >= 0; ) {
    const to = xml.indexOf('</Blob>', from)
    if (to < 0) return undefined
    const blob = scanBlob(xml.slice(from, to))
    if (blob !== undefined) blobs.push(blob)
    from = xml.indexOf('<Blob>', to)
  }
  const marker = field(xml.slice(xml.lastIndexOf('</Blobs>') + 1, end), 'NextMarker')
  return { blobs, marker: marker === '' ? undefined : marker }
}

function scanBlob(xml: string): ListedBlob | undefined {
  const metadata = scanMetadata(xml)
  if (field(xml, 'ResourceType') === 'directory' || metadata.hdi_isfolder === 'true') return undefined
  const md5 = field(xml, 'Content-MD5')
  return {
    name: nameOf(xml),
    etag: field(xml, 'Etag') ?? '',
    size: Number(field(xml, 'Content-Length')),
    modifiedMs: Date.parse(field(xml, 'Last-Modified') ?? ''),
    md5: md5 ? Buffer.from(md5, 'base64').toString('hex') : undefined,
    leaseState: field(xml, 'LeaseState'),
    leaseDuration: field(xml, 'LeaseDuration'),
    metadata,
  }
}

/** A name with characters that XML cannot hold comes percent-encoded and says so. */
function nameOf(xml: string): string {
  const encoded = '<Name Encoded="true">'
  const at = xml.indexOf(encoded)
  if (at < 0) return field(xml, 'Name') ?? ''
  return decodeURIComponent(plain(xml.slice(at + encoded.length, xml.indexOf('</Name>', at))))
}

function scanMetadata(xml: string): Record<string, string> {
  const metadata: Record<string, string> = {}
  const from = xml.indexOf('<Metadata')
  if (from < 0) return metadata
  const element = /<([A-Za-z_][\w.-]*)>([^<]*)<\//g
  element.lastIndex = from + '<Metadata'.length
  for (let found = element.exec(xml); found !== null; found = element.exec(xml)) {
    const [, key = '', value = ''] = found
    if (key in OTHER_ELEMENTS) break
    metadata[key] = plain(value)
  }
  return metadata
}

/** What may follow the metadata of a blob. */
const OTHER_ELEMENTS: Readonly<Record<string, true>> = {
  OrMetadata: true,
  Tags: true,
  Key: true,
  Value: true,
  HasVersionsOnly: true,
}

/** The text of the first element of that name. */
function field(xml: string, name: string): string | undefined {
  const open = `<${name}>`
  const at = xml.indexOf(open)
  return at < 0 ? undefined : plain(xml.slice(at + open.length, xml.indexOf('</', at)))
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function plain(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex?: string, dec?: string, name?: string) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
    return dec !== undefined ? String.fromCodePoint(Number(dec)) : (ENTITIES[name ?? ''] ?? whole)
  })
}
