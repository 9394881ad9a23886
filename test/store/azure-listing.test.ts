import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BlobServiceClient } from '@azure/storage-blob'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scanListing } from '../../src/store/azure-list-scan.ts'
import type { EventStore } from '../../src/store/store.ts'
import { listed, namesOf } from '../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'

const item = (name: string, more = '', properties = ''): string =>
  `<Blob>${name}<Properties><Last-Modified>Thu, 01 Jan 2026 00:00:00 GMT</Last-Modified><Etag>0x8D1</Etag>` +
  `<Content-Length>4</Content-Length><Content-MD5>hBotaJrYa9FhFEdFPCLG/A==</Content-MD5>${properties}</Properties>${more}</Blob>`

const page = (blobs: string, marker = '<NextMarker />'): string =>
  `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="x"><Prefix>a</Prefix><Blobs>${blobs}</Blobs>${marker}</EnumerationResults>`

describe('scanListing', () => {
  it('picks the fields of each blob', () => {
    const properties =
      '<LeaseStatus>locked</LeaseStatus><LeaseState>leased</LeaseState><LeaseDuration>fixed</LeaseDuration>'
    const metadata = '<Metadata><one>1</one><_Two>a%20b</_Two><empty></empty></Metadata><OrMetadata />'
    expect(
      scanListing(page(item('<Name>a/b</Name>', metadata, properties), '<NextMarker>2!76!x</NextMarker>')),
    ).toEqual({
      blobs: [
        {
          name: 'a/b',
          etag: '0x8D1',
          size: 4,
          modifiedMs: Date.UTC(2026, 0, 1),
          md5: '841a2d689ad86bd1611447453c22c6fc',
          leaseState: 'leased',
          leaseDuration: 'fixed',
          metadata: { one: '1', _Two: 'a%20b', empty: '' },
        },
      ],
      marker: '2!76!x',
    })
  })

  it('reads entities and encoded names', () => {
    const names = [
      item('<Name>&lt;a &amp;amp; &quot;b&#x1F600;&#38;</Name>'),
      item('<Name Encoded="true">a%EF%BF%BE%26amp%3B</Name>'),
    ]
    expect(scanListing(page(names.join('')))?.blobs.map(blob => blob.name)).toEqual(['<a &amp; "b😀&', 'a\uFFFE&amp;'])
  })

  it('leaves directories out', () => {
    const blobs = [
      item('<Name>d1</Name>', '', '<ResourceType>directory</ResourceType>'),
      item('<Name>d2</Name>', '<Metadata><hdi_isfolder>true</hdi_isfolder></Metadata>'),
      item('<Name>f</Name>', '<Metadata />', '<ResourceType>file</ResourceType>'),
    ]
    expect(scanListing(page(blobs.join('')))?.blobs.map(blob => blob.name)).toEqual(['f'])
  })

  it('says nothing of a text that is cut off or something else', () => {
    const whole = page(item('<Name>a</Name>'))
    expect(scanListing(whole)?.blobs).toHaveLength(1)
    expect(scanListing(whole.slice(0, -5))).toBeUndefined()
    expect(scanListing('<Error><Code>x</Code></Error>')).toBeUndefined()
    expect(scanListing('')).toBeUndefined()
  })
})

describe('listing through the service', () => {
  let store: EventStore & { container: string }
  let proxy: FaultProxy
  const names = Array.from({ length: 30 }, (_, i) => `s/${String(i).padStart(2, '0')}`)

  beforeAll(async () => {
    const { port, connectionString } = await sharedAzurite()
    proxy = await startFaultProxy({ target: { port } })
    store = await openAzuriteStore(proxy.port)
    const container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient(store.container)
    for (const name of names)
      await container.getBlockBlobClient(name).upload(name, name.length, { metadata: { K: 'v&<' } })
  })

  afterAll(async () => {
    await store.close()
    await proxy.stop()
  })

  it('scans what the service sends, past the parser of the SDK', async () => {
    const container = BlobServiceClient.fromConnectionString(
      (await sharedAzurite()).connectionString,
    ).getContainerClient(store.container)
    const parsed: object[] = []
    for await (const { name, properties } of container.listBlobsFlat()) {
      parsed.push({
        name,
        etag: `"${properties.etag.replaceAll('"', '')}"`,
        size: properties.contentLength,
        modifiedMs: properties.lastModified.getTime(),
      })
    }
    const scanned = (await listed(store)).map(({ name, etag, size, modifiedMs }) => ({ name, etag, size, modifiedMs }))
    expect(scanned).toEqual(parsed)
    expect(scanned).toHaveLength(30)
  })

  it('takes a page that only the scan can read: the parser of the SDK never sees it', async () => {
    const broken = page(item('<Name>a</Name>')).replace('</Blobs>', '</Blobs><Unclosed>')
    const service = createServer((_, response) => response.setHeader('content-type', 'application/xml').end(broken))
    await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve))
    const { port } = service.address() as AddressInfo
    const through = await openAzuriteStore(port, { container: 'orders' })
    expect(await namesOf(through)).toEqual(['a'])
    await through.close()
    service.closeAllConnections()
    service.close()
  })

  it('asks page by page, and no further than it is read', async () => {
    proxy.reset()
    expect(await namesOf(store, { limit: 3 })).toEqual(names.slice(0, 3))
    expect(proxy.count('list')).toBe(1)
    expect(proxy.requests[0]?.query.get('maxresults')).toBe('13')
  })

  it('goes on behind a name without reading what is before it', async () => {
    proxy.reset()
    expect(await namesOf(store, { after: 's/27' })).toEqual(['s/28', 's/29'])
    expect(proxy.requests[0]?.query.get('startFrom')).toBe('s/27')
  })

  it.each(['lose-request', 'lose-answer', 'error-before', 'truncate'] as const)(
    '%s: the page is asked for again',
    async kind => {
      proxy.reset()
      proxy.add({ kind, on: 'list', times: 1 })
      expect(await namesOf(store)).toEqual(names)
      expect(proxy.injected).toHaveLength(1)
      expect(proxy.count('list')).toBe(2)
    },
  )
})
