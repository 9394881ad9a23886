import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { headOf, rowOf } from '../../../../../src/store/azure/list/blob.ts'
import { ListScan } from '../../../../../src/store/azure/list/xml-scan.ts'
import { writeMetadata } from '../../../../../src/store/azure/metadata.ts'
import type { StreamRow } from '../../../../../src/store/store.ts'
import { encodeSummary } from '../../../../../src/stream/summary.ts'
import { holder, summary } from '../../../../contract/harness.ts'
import { blobXml, escaped, listXml, metadataXml, USUAL_MD5 } from '../../../../support/list-xml.ts'

const MD5 = Buffer.from(USUAL_MD5, 'base64').toString('hex')

interface Scanned {
  readonly rows: readonly (StreamRow & { isDirectory: boolean; isHierarchical: boolean })[]
  readonly marker: string | undefined
}

/** Reads the pieces of a page one after the other, as they would arrive. */
function scan(...pieces: readonly (string | Uint8Array)[]): Scanned {
  const rows: Scanned['rows'][number][] = []
  const scanner = new ListScan((bytes, from, to) => {
    const head = headOf(bytes, from, to)
    const { isDirectory, isHierarchical } = head
    const row = rowOf(bytes, head, to)
    if (row !== undefined) rows.push({ ...row, isDirectory, isHierarchical })
  })
  for (const piece of pieces) scanner.push(Buffer.from(piece as string))
  return { marker: scanner.end(), rows }
}

const namesIn = (xml: string): string[] => scan(xml).rows.map(row => row.name)

describe('a page of the listing', () => {
  it('yields the fields of a row for each blob', () => {
    const wanted = summary({ lastBy: 'é & <ada>', failure: 'a, b' })
    const metadata = writeMetadata({ foreign: { K: 'v' }, summary: wanted, md5: MD5, size: 4, holder: undefined })
    const blob = blobXml({ name: '<Name>a/b</Name>', after: metadataXml(metadata) })
    expect(scan(listXml([blob], '<NextMarker>2!76!a&amp;b</NextMarker>'))).toEqual({
      rows: [
        {
          name: 'a/b',
          etag: '"0x8D1"',
          size: 4,
          modifiedMs: Date.UTC(2026, 0, 1, 0, 0, 1),
          lease: { state: 'available' },
          summary: wanted,
          isDirectory: false,
          isHierarchical: false,
        },
      ],
      marker: '2!76!a&b',
    })
  })

  it('assigns each field of a summary', () => {
    const whole = summary({
      outcome: 'errors',
      key: 'key',
      topic: 'topic',
      tag: 'tag',
      trackingId: 'tracking',
      failedAtMs: -1,
      failedId: 'failed-id',
      failure: 'failure',
      open: 2,
      failed: 3,
      total: 4,
      dueMs: 5,
      claimEndMs: 6,
      readySinceMs: 7,
      waitingOn: ['w,1', 'w2'],
      ready: ['r1', 'r2'],
    })
    const metadata = writeMetadata({ foreign: {}, summary: whole, md5: MD5, size: 4, holder: undefined })
    expect(Object.keys(metadata)).toHaveLength(Object.keys(encodeSummary(whole)).length + 2)
    expect(scan(listXml([blobXml({ after: metadataXml(metadata) })])).rows[0]?.summary).toEqual(whole)
  })

  it('omits a summary that belongs to another body', () => {
    const metadata = writeMetadata({ foreign: {}, summary: summary(), md5: MD5, size: 4, holder: undefined })
    const stale = [
      { length: '<Content-Length>5</Content-Length>' },
      { md5: '<Content-MD5>AAAAAAAAAAAAAAAAAAAAAA==</Content-MD5>' },
      { md5: '<Content-MD5 />' },
      { md5: '' },
    ]
    const unmarked = { ...metadata, leasectl_md5: '' }
    expect(scan(listXml([blobXml({ md5: '', after: metadataXml(unmarked) })])).rows[0]).not.toHaveProperty('summary')
    for (const part of stale)
      expect(scan(listXml([blobXml({ ...part, after: metadataXml(metadata) })])).rows[0]).not.toHaveProperty('summary')
  })

  it('has the holder of the lease while there is one', () => {
    const record = { holder: holder('grace'), leaseHash: 'ab' }
    const metadata = metadataXml(writeMetadata({ foreign: {}, summary: summary(), md5: MD5, size: 4, holder: record }))
    const lease = '<LeaseStatus>locked</LeaseStatus><LeaseState>leased</LeaseState><LeaseDuration>fixed</LeaseDuration>'
    const over = '<LeaseStatus>unlocked</LeaseStatus><LeaseState>expired</LeaseState>'
    const { rows } = scan(listXml([blobXml({ lease, after: metadata }), blobXml({ lease: over, after: metadata })]))
    expect(rows.map(row => row.lease)).toEqual([
      { state: 'leased', duration: 'fixed', holder: holder('grace') },
      { state: 'expired' },
    ])
  })

  it('decodes entities, encoded names, and ETags with or without quotes', () => {
    const blobs = [
      { name: '<Name>&lt;a &amp;amp; &quot;b&#x1F600;&#38;&apos;&gt;</Name>', etag: '<Etag>"0x1"</Etag>' },
      { name: '<Name Encoded="true">a%EF%BF%BE%26amp%3B%2Fé</Name>', etag: '<Etag>&quot;0x2&quot;</Etag>' },
      { name: '<Name Encoded="true">50% off</Name>', etag: '<Etag>0x3</Etag>' },
      { name: '<Name> a </Name>', etag: '' },
    ]
    const { rows } = scan(listXml(blobs.map(blobXml)))
    expect(rows.map(row => [row.name, row.etag])).toEqual([
      ['<a &amp; "b😀&\'>', '"0x1"'],
      ['a\uFFFE&amp;/é', '"0x2"'],
      ['50% off', '"0x3"'],
      [' a ', '""'],
    ])
  })

  it('never reads a metadata key as an element of the service', () => {
    const keys = ['Blob', 'Blobs', 'BlobPrefix', 'Metadata', 'Properties', 'Name', 'Etag', 'LeaseState', 'NextMarker']
    const more = ['ResourceType', 'OrMetadata', 'EnumerationResults', '__proto__', 'constructor', 'leasectl___proto__']
    const orders = [[...keys, ...more], [...keys, ...more].toReversed()]
    for (const order of orders) {
      const hostile = metadataXml(Object.fromEntries(order.map(key => [key, `directory ${key}`])))
      const empty = `<Metadata>${order.map(key => `<${key} />`).join('')}</Metadata>`
      const hollow = `<Metadata>${order.map(key => `<${key}></${key}>`).join('')}</Metadata>`
      const blobs = [hostile, empty, hollow].map((after, i) => blobXml({ name: `<Name>${i}</Name>`, after }))
      const { rows, marker } = scan(listXml(blobs))
      expect(rows.map(row => row.name)).toEqual(['0', '1', '2'])
      expect(rows.every(row => row.etag === '"0x8D1"' && row.lease.state === 'available' && !row.isDirectory)).toBe(
        true,
      )
      expect(marker).toBeUndefined()
    }
  })

  it('reads a blob whose metadata have no elements as one without them, however long they are', () => {
    for (const garbage of [`<${'a'.repeat(400_000)}`, `<a>${'b'.repeat(400_000)}`, '<a'.repeat(200_000)]) {
      const { rows } = scan(listXml([blobXml({ after: `<Metadata>${garbage}` }), blobXml({ name: '<Name>b</Name>' })]))
      expect(rows.map(row => [row.name, row.summary, row.lease.state])).toEqual([
        ['a', undefined, 'available'],
        ['b', undefined, 'available'],
      ])
    }
  })

  it('skips unknown elements', () => {
    const tags = '<Tags><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tags>'
    const rules = '<OrMetadata><or-1_2>complete</or-1_2></OrMetadata>'
    const blobs = [
      '<BlobPrefix><Name>dir/</Name><Properties><Etag>0x9</Etag></Properties></BlobPrefix>',
      blobXml({
        before: '<VersionId>2026-01-01T00:00:00.0000000Z</VersionId><IsCurrentVersion>true</IsCurrentVersion>',
      }),
      '<Surprise with="attribute"/>',
      blobXml({ name: '<Name>b</Name>', properties: '<New>1</New>', after: `<Metadata /><New />${tags}${rules}` }),
      '<BlobPrefix><Name>z/</Name></BlobPrefix>',
    ]
    expect(namesIn(listXml(blobs))).toEqual(['a', 'b'])
    expect(namesIn(listXml(blobs).replaceAll('><', '>\r\n  <'))).toEqual(['a', 'b'])
  })

  it('may be empty, in any notation', () => {
    const empty = { rows: [], marker: undefined }
    for (const list of ['<Blobs />', '<Blobs/>', '<Blobs></Blobs>'])
      expect(scan(listXml([]).replace('<Blobs />', list))).toEqual(empty)
    expect(scan(listXml([], '<NextMarker>on</NextMarker>')).marker).toBe('on')
    expect(scan(listXml([], '<NextMarker></NextMarker>')).marker).toBeUndefined()
  })

  it('recognizes directories, and accounts that have them', () => {
    const kind = (type: string) => `<ResourceType>${type}</ResourceType>`
    const none = '<Content-Length>0</Content-Length>'
    const { rows } = scan(
      listXml([
        blobXml({ name: '<Name>d</Name>', properties: kind('directory'), length: none }),
        blobXml({ name: '<Name>d/empty</Name>', properties: kind('file'), length: none }),
        blobXml({ name: '<Name>d/f</Name>', properties: kind('file') }),
        blobXml({ name: '<Name>d/g</Name>', length: none, lease: kind('directory') }),
        blobXml({ name: '<Name>flat</Name>', length: none }),
      ]),
    )
    expect(rows.map(row => [row.name, row.isDirectory, row.isHierarchical])).toEqual([
      ['d', true, true],
      ['d/empty', false, true],
      ['d/f', false, true],
      ['d/g', true, true],
      ['flat', false, false],
    ])
  })

  it('omits blobs that an old driver marked as directories', () => {
    const mark = metadataXml({ hdi_isfolder: 'true' })
    const empty = blobXml({ name: '<Name>b</Name>', length: '<Content-Length>0</Content-Length>', after: mark })
    expect(namesIn(listXml([blobXml({ after: mark }), empty, blobXml({ name: '<Name>c</Name>' })]))).toEqual(['c'])
    const bytes = Buffer.from(empty.slice('<Blob>'.length))
    expect(headOf(bytes, 0, bytes.indexOf('</Blob>')).isDirectory).toBe(true)
  })
})

describe('the bytes of a page', () => {
  const metadata = { Blob: 'é&<', Metadata: '', leasectl_codec: '1', other: 'ü'.repeat(40), leasectl_by: '%C3%A9' }
  const blobs = ['é', '日本', '😀/&<', 'x'.repeat(300)].map((name, i) =>
    blobXml({
      name: `<Name>${escaped(name)}</Name>`,
      after: i % 2 === 0 ? metadataXml(metadata) : '<Metadata /><OrMetadata />',
    }),
  )
  const page = Buffer.from(listXml(blobs, '<NextMarker>é&amp;</NextMarker>'))
  const whole = scan(page)

  it('may be split at any byte', () => {
    expect(whole.rows).toHaveLength(4)
    expect(whole.marker).toBe('é&')
    const cut = fc.array(fc.integer({ min: 0, max: page.length }), { maxLength: 30 })
    fc.assert(
      fc.property(cut, cuts => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), page.length]
        const pieces = places.slice(1).map((to, i) => page.subarray(places[i], to))
        expect(scan(...pieces)).toEqual(whole)
      }),
    )
    expect(scan(...Array.from(page, byte => Uint8Array.of(byte)))).toEqual(whole)
  })

  it('count as truncated until the last tag arrives: never as a shorter listing', () => {
    for (let to = page.indexOf('<EnumerationResults') + 20; to < page.length; to += 7)
      expect(() => scan(page.subarray(0, to))).toThrow(
        expect.objectContaining({ code: 'AnswerCutOff', ambiguous: true }),
      )
    expect(() => scan(page.subarray(0, -1))).toThrow('AnswerCutOff')
  })

  it.each([
    '',
    '<html>Sign in</html>',
    '<Error><Code>x</Code></Error>',
    '{}',
    `${listXml([]).slice(0, -30)}`.slice(45),
  ])('are not a listing: %s', text => {
    expect(() => scan(text)).toThrow(expect.objectContaining({ code: 'NoListing', ambiguous: false }))
  })

  it('are not a listing if another element is between the blobs, or if one blob never ends', () => {
    const [head = ''] = listXml(['x']).split('x</Blobs>')
    expect(() => scan(`${head} text ${blobXml()}`)).toThrow('NoListing')
    expect(() => scan(head, '<Blob><Name>', ...Array.from({ length: 20 }, () => 'x'.repeat(100_000)))).toThrow(
      'NoListing',
    )
  })

  it('are not kept after they were read', () => {
    const kept: string[] = []
    const scanner = new ListScan((bytes, from, to) => {
      kept.push(headOf(bytes, from, to).name)
      bytes.fill(0x20, from, to)
    })
    scanner.push(page)
    scanner.end()
    expect(kept).toEqual(whole.rows.map(row => row.name))
  })
})
