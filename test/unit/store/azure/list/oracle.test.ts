import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type BlobItem, BlobServiceClient, type ContainerClient } from '@azure/storage-blob'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { leaseView, readSummary, writeMetadata } from '../../../../../src/store/azure/metadata.ts'
import { compareNames, isReservedName, isStoredName } from '../../../../../src/store/names.ts'
import type { StreamRow, StreamStore } from '../../../../../src/store/store.ts'
import { holder, listed, summary } from '../../../../contract/harness.ts'
import { connectionStringAt, openAzuriteStore, sharedAzurite } from '../../../../support/azurite.ts'
import { blobXml, escaped, listXml, metadataXml, USUAL_MD5 } from '../../../../support/list-xml.ts'

/**
 * The listing of the SDK, which parses the XML of a page completely, is the oracle: ours returns the same, field for
 * field.
 */
async function oracle(container: ContainerClient): Promise<StreamRow[]> {
  const rows: StreamRow[] = []
  for await (const item of container.listBlobsFlat({ includeMetadata: true })) {
    if (!isReservedName(item.name) && item.metadata?.hdi_isfolder !== 'true') rows.push(rowOf(item))
  }
  return rows
}

function rowOf({ name, metadata = {}, properties }: BlobItem): StreamRow {
  const { etag, contentLength: size = 0, lastModified, contentMD5, leaseState, leaseDuration } = properties
  const md5 = contentMD5 && Buffer.from(contentMD5).toString('hex')
  const isStream = isStoredName(name) && (properties.blobType ?? 'BlockBlob') === 'BlockBlob'
  const summary = isStream ? readSummary(metadata, { md5, size }).summary : undefined
  return {
    name,
    etag: `"${etag.replaceAll('"', '')}"`,
    size,
    modifiedMs: lastModified.getTime(),
    lease: leaseView(leaseState, leaseDuration, metadata),
    ...(summary === undefined ? {} : { summary }),
  }
}

const text = fc.string({
  unit: fc.constantFrom(...'aB/09-_.~%&<>"\'+ ;#?=é日😀\u00a0ﬀ', '&amp;', '%20', '</Name>', ']]>', '&#65;'),
  minLength: 1,
  maxLength: 12,
})
const name = text.filter(isStoredName)
const key = fc.constantFrom('blob', 'metadata', 'name', 'etag', 'properties', 'leasestate', 'nextmarker', '_x', 'k1')
const value = fc.string({ unit: fc.constantFrom(...'a&<>"\'% ;/', '&lt;', '%3C', '</Blob>'), maxLength: 20 })
const foreign = fc.dictionary(key, value, { maxKeys: 5 })

describe('a listing of the emulator', () => {
  let container: ContainerClient
  let store: StreamStore & { container: string }

  beforeAll(async () => {
    const { port, connectionString } = await sharedAzurite()
    store = await openAzuriteStore(port)
    container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient(store.container)
    const blobs = fc.tuple(name, foreign, fc.boolean(), fc.nat({ max: 5 }), text)
    const sample = fc.sample(blobs, { numRuns: 60, seed: 7 })
    for (const [at, [blob, metadata, isOurs, , type]] of sample.entries())
      await create(blob, isOurs ? ours(metadata, at) : metadata, type)
    await create('.leasectl/x', {}, 'text/plain')
    await create('folder', { hdi_isfolder: 'true' }, 'text/plain')
    await container.getAppendBlobClient('append').create()
    // Last: a minute later they look different.
    for (const [blob, , , lease] of sample) await take(blob, lease)
  })

  afterAll(() => store.close())

  async function create(blob: string, metadata: Record<string, string>, type: string): Promise<void> {
    const client = container.getBlockBlobClient(blob)
    const body = metadata.hdi_isfolder === undefined ? 'body' : ''
    const blobHTTPHeaders = { blobContentType: encodeURIComponent(type), blobCacheControl: '<LeaseState>leased' }
    await client.upload(body, body.length, { metadata, blobHTTPHeaders }).catch(() => {})
  }

  async function take(blob: string, lease: number): Promise<void> {
    if (lease < 2) return
    const held = container.getBlockBlobClient(blob).getBlobLeaseClient(randomUUID())
    await held.acquireLease(lease === 2 ? -1 : 60).catch(() => {})
    if (lease > 3) await held.breakLease(lease === 4 ? 0 : 60).catch(() => {})
  }

  /** The summary of the body that all have, every third with a holder, every fifth for another body. */
  function ours(metadata: Record<string, string>, at: number): Record<string, string> {
    const record = { holder: holder('é & <grace>'), leaseHash: 'ab' }
    return writeMetadata({
      foreign: metadata,
      summary: summary({ lastBy: `<é & ${at}>`, waitingOn: ['01.00', 'ä,b'], dueMs: at }),
      md5: Buffer.from(at % 5 === 0 ? '' : USUAL_MD5, 'base64').toString('hex'),
      size: 4,
      holder: at % 3 === 0 ? record : undefined,
    })
  }

  it('matches the SDK page by page', async () => {
    const all = await oracle(container)
    expect(new Set(all.map(row => row.lease.state))).toEqual(new Set(['available', 'leased', 'breaking', 'broken']))
    expect(all.filter(row => row.summary !== undefined).length).toBeGreaterThan(10)
    expect(all.filter(row => row.lease.holder !== undefined).length).toBeGreaterThan(2)
    for (const pageSize of [4, 5_000]) {
      const by = await openAzuriteStore((await sharedAzurite()).port, { container: store.container, pageSize })
      expect(await listed(by)).toEqual(all)
      await by.close()
    }
  })

  it('is the same in any order, and by prefix', async () => {
    const all = await oracle(container)
    const byName = (rows: readonly StreamRow[]) => rows.toSorted((a, b) => compareNames(a.name, b.name))
    const by = await openAzuriteStore((await sharedAzurite()).port, { container: store.container, pageSize: 6 })
    expect(byName(await listed(by, { order: 'any' }))).toEqual(byName(all))
    for (const prefix of ['a', '&', '<', '%', '%2', 'é', '😀', '~', '/'])
      expect(byName(await listed(by, { order: 'any', prefix }))).toEqual(
        byName(all.filter(row => row.name.startsWith(prefix))),
      )
    await by.close()
  })
})

describe('a page as the service writes it', () => {
  let page = listXml([])
  const service = createServer((_, response) =>
    response.setHeader('content-type', 'application/xml').setHeader('x-ms-request-id', 'r').end(page),
  )
  let store: StreamStore
  let container: ContainerClient

  beforeAll(async () => {
    await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve))
    const { port } = service.address() as AddressInfo
    store = await openAzuriteStore(port, { container: 'orders' })
    container = BlobServiceClient.fromConnectionString(connectionStringAt(port)).getContainerClient('orders')
  })

  afterAll(async () => {
    await store.close()
    service.closeAllConnections()
    service.close()
  })

  const anyBlob = fc
    .record({
      name: fc.oneof(
        text.map(one => `<Name>${escaped(one)}</Name>`),
        text.map(one => `<Name Encoded="true">${encodeURIComponent(one)}</Name>`),
      ),
      before: fc.constantFrom(
        '',
        '<VersionId>2026-01-01T00:00:00.0000000Z</VersionId><IsCurrentVersion>true</IsCurrentVersion>',
      ),
      etag: fc.constantFrom('<Etag>0x8D1</Etag>', '<Etag>"0x8D2"</Etag>'),
      length: fc.constantFrom('<Content-Length>4</Content-Length>', '<Content-Length>0</Content-Length>'),
      md5: fc.constantFrom(`<Content-MD5>${USUAL_MD5}</Content-MD5>`, '<Content-MD5 />', ''),
      properties: fc.constantFrom('', '<ResourceType>file</ResourceType>', '<Unheard-Of>1</Unheard-Of>'),
      lease: fc.constantFrom(
        '<LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>',
        '<LeaseStatus>locked</LeaseStatus><LeaseState>leased</LeaseState><LeaseDuration>fixed</LeaseDuration>',
        '<LeaseStatus>unlocked</LeaseStatus><LeaseState>broken</LeaseState>',
        '',
      ),
      after: fc.oneof(
        fc.constantFrom('', '<OrMetadata />', '<Metadata /><OrMetadata />', '<Metadata></Metadata>'),
        fc
          .tuple(
            fc.dictionary(fc.constantFrom('Blob', 'Metadata', 'Name', 'Etag', 'LeaseState', 'Blobs', 'é'), text),
            fc.boolean(),
          )
          .map(([foreign, isOurs]) => metadataXml(isOurs ? oursAnd(foreign) : foreign)),
      ),
    })
    .map(blobXml)
  const prefixXml = text.map(one => `<BlobPrefix><Name>${escaped(one)}</Name></BlobPrefix>`)

  function oursAnd(foreign: Record<string, string>): Record<string, string> {
    const md5 = Buffer.from(USUAL_MD5, 'base64').toString('hex')
    const record = { holder: holder('grace'), leaseHash: 'ab' }
    return writeMetadata({ foreign, summary: summary({ key: 'é&<' }), md5, size: 4, holder: record })
  }

  it('reads like the SDK reads it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 4, arbitrary: anyBlob }, prefixXml), { maxLength: 8 }),
        async blobs => {
          page = listXml(blobs)
          expect(await listed(store)).toEqual(await oracle(container))
        },
      ),
      { numRuns: 80 },
    )
  })
})
