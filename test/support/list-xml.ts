/** The fields of a blob in the XML of a listing; omitted ones have defaults. */
export interface BlobXml {
  /** The element itself: some names are encoded. */
  readonly name?: string
  readonly etag?: string
  readonly length?: string
  readonly md5?: string
  readonly lease?: string
  /** More properties, and content between name and properties. */
  readonly properties?: string
  readonly before?: string
  /** Content after the properties. */
  readonly after?: string
}

export const USUAL_MD5 = 'hBotaJrYa9FhFEdFPCLG/A=='

/** A `Blob` element with its properties as the service orders them. */
export function blobXml(blob: BlobXml = {}): string {
  const { name = '<Name>a</Name>', etag = '<Etag>0x8D1</Etag>', length = '<Content-Length>4</Content-Length>' } = blob
  const md5 = blob.md5 ?? `<Content-MD5>${USUAL_MD5}</Content-MD5>`
  const lease = blob.lease ?? '<LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>'
  return (
    `<Blob>${name}${blob.before ?? ''}<Properties><Creation-Time>Thu, 01 Jan 2026 00:00:00 GMT</Creation-Time>` +
    `<Last-Modified>Thu, 01 Jan 2026 00:00:01 GMT</Last-Modified>${etag}${blob.properties ?? ''}${length}` +
    `<Content-Type>application/xml</Content-Type><Content-Encoding /><Content-Language /><Content-CRC64 />${md5}` +
    `<Cache-Control /><Content-Disposition /><BlobType>BlockBlob</BlobType><AccessTier>Hot</AccessTier>` +
    `<AccessTierInferred>true</AccessTierInferred>${lease}<ServerEncrypted>true</ServerEncrypted></Properties>` +
    `${blob.after ?? '<OrMetadata />'}</Blob>`
  )
}

/** A whole answer. */
export function listXml(blobs: readonly string[], marker = '<NextMarker />'): string {
  const list = blobs.length === 0 ? '<Blobs />' : `<Blobs>${blobs.join('')}</Blobs>`
  return (
    '\ufeff<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="https://acct.blob.core.windows.net/" ' +
    `ContainerName="orders"><Prefix>a</Prefix><MaxResults>5000</MaxResults>${list}${marker}</EnumerationResults>`
  )
}

export function metadataXml(metadata: Readonly<Record<string, string>>): string {
  const elements = Object.entries(metadata).map(([key, value]) => `<${key}>${escaped(value)}</${key}>`)
  return `<Metadata>${elements.join('')}</Metadata><OrMetadata />`
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
