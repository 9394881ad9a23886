import { BlobServiceClient, type BlockBlobClient } from '@azure/storage-blob'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSummary, writeMetadata } from '../../../../src/store/azure/metadata.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { changeOptions, given, holder, leased, listed, put, stored, summary } from '../../../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../../../support/azurite.ts'

let store: StreamStore & { container: string }
let blob: (name: string) => BlockBlobClient

beforeAll(async () => {
  const { port, connectionString } = await sharedAzurite()
  store = await openAzuriteStore(port)
  const container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient(store.container)
  blob = name => container.getBlockBlobClient(name)
})

afterAll(() => store.close())

const listedOne = async (name: string) => (await listed(store, { prefix: name }))[0]

describe('metadata of other programs', () => {
  it('are sent again with each write, together with the content headers', async () => {
    await blob('foreign').upload('old', 3, {
      metadata: { team: 'a b=c', owner: '%41' },
      blobHTTPHeaders: {
        blobContentType: 'text/xml; charset=utf-8',
        blobContentEncoding: 'identity',
        blobContentLanguage: 'de',
        blobContentDisposition: 'inline',
        blobCacheControl: 'no-store',
      },
    })
    for (const body of ['new', 'newer']) await store.update('foreign', put(body), changeOptions())
    const found = await blob('foreign').getProperties()
    expect(found.metadata).toMatchObject({ team: 'a b=c', owner: '%41' })
    expect(found).toMatchObject({
      contentType: 'text/xml; charset=utf-8',
      contentEncoding: 'identity',
      contentLanguage: 'de',
      contentDisposition: 'inline',
      cacheControl: 'no-store',
    })
    expect((await stored(store, 'foreign')).summary).toEqual(summary())
  })

  it('do not exist on a new blob, which is application/xml', async () => {
    await given(store, 'typed')
    expect((await blob('typed').getProperties()).contentType).toBe('application/xml')
  })

  it('may leave no room for a summary: all of it but the version is omitted, the rest is kept', async () => {
    const metadata = { big: 'x'.repeat(8_000) }
    await blob('full').upload('old', 3, { metadata })
    expect(await store.update('full', put('new'), changeOptions())).toMatchObject({ kind: 'committed' })
    expect((await blob('full').getProperties()).metadata).toEqual({ ...metadata, leasectl_v: '1' })
    expect((await stored(store, 'full')).summary).toBeUndefined()
  })

  it('have a limit of 8 KiB for names and values together', () => {
    const parts = { summary: summary(), md5: '0'.repeat(32), size: 3, holder: undefined }
    const size = (metadata: Record<string, string>) =>
      Object.entries(metadata).reduce((sum, [key, value]) => sum + key.length + value.length, 0)
    const room = 8_192 - size(writeMetadata({ ...parts, foreign: {} })) - 'big'.length
    expect(size(writeMetadata({ ...parts, foreign: { big: 'x'.repeat(room) } }))).toBe(8_192)
    expect(Object.keys(writeMetadata({ ...parts, foreign: { big: 'x'.repeat(room + 1) } }))).toEqual([
      'big',
      'leasectl_v',
    ])
  })

  it('still leave the version if that alone has room', () => {
    const parts = { summary: summary({ version: 12 }), md5: '0'.repeat(32), size: 3, holder: undefined }
    const room = 8_192 - 'big'.length - 'leasectl_v12'.length
    const kept = (length: number) => writeMetadata({ ...parts, foreign: { big: 'x'.repeat(length) } })
    expect(kept(room)).toMatchObject({ leasectl_v: '12' })
    expect(readSummary(kept(room), { md5: parts.md5, size: 3 })).toEqual({ summary: undefined, versionFloor: 12 })
    expect(Object.keys(kept(room + 1))).toEqual(['big'])
  })
})

describe('a summary', () => {
  it('that a foreign writer copied to another body is ignored, but its version still counts', async () => {
    await given(store, 'stale', 'old', { version: 9 })
    const { metadata = {} } = await blob('stale').getProperties()
    await blob('stale').upload('new', 3, { metadata })
    expect(await stored(store, 'stale')).toMatchObject({ versionFloor: 9 })
    expect((await stored(store, 'stale')).summary).toBeUndefined()
    expect((await listedOne('stale'))?.summary).toBeUndefined()
    await store.update('stale', put('old', { version: 10 }), changeOptions())
    expect((await listedOne('stale'))?.summary).toMatchObject({ version: 10 })
  })

  it('is ignored in a listing if the service has no MD5', async () => {
    await given(store, 'blocks', 'body')
    const { metadata = {} } = await blob('blocks').getProperties()
    const id = Buffer.from('block-1').toString('base64')
    await blob('blocks').stageBlock(id, 'body', 4)
    await blob('blocks').commitBlockList([id], { metadata })
    expect((await listedOne('blocks'))?.summary).toBeUndefined()
    expect((await stored(store, 'blocks')).summary).toBeDefined()
  })

  it('that is unreadable or partial is ignored', async () => {
    await blob('half').upload('x', 1, { metadata: { leasectl_codec: '1', leasectl_v: 'seven', leasectl_md5: 'x' } })
    expect(await stored(store, 'half')).toMatchObject({ versionFloor: 0 })
    expect((await stored(store, 'half')).summary).toBeUndefined()
  })
})

describe('a recorded lease holder', () => {
  it('is kept by writes under its lease and dropped by other writes', async () => {
    await given(store, 'held')
    const leaseId = await leased(store, 'held', 'grace')
    await store.update('held', put('1'), changeOptions({ leaseId }))
    expect((await listedOne('held'))?.lease.holder).toEqual(holder('grace'))
    await store.breakLease('held', 0)
    await store.update('held', put('2'), changeOptions())
    expect(
      Object.keys((await blob('held').getProperties()).metadata ?? {}).filter(key => key.includes('holder')),
    ).toEqual([])
  })

  it('omits the lease id, keeps any text, and is removed by the release', async () => {
    await given(store, 'texts')
    const leaseId = crypto.randomUUID()
    const who = { ...holder('Ädä 😀'), purpose: 'a=b\n%41' }
    await store.acquireLease('texts', { leaseId, durationS: 60, holder: who, record: true })
    const { metadata = {} } = await blob('texts').getProperties()
    expect(JSON.stringify(metadata)).not.toContain(leaseId)
    expect((await stored(store, 'texts')).lease.holder).toEqual(who)
    await store.releaseLease('texts', leaseId)
    const left = (await blob('texts').getProperties()).metadata ?? {}
    expect(Object.keys(left).filter(key => key.includes('holder'))).toEqual([])
    expect((await stored(store, 'texts')).summary).toBeDefined()
  })

  it('leaves body, summary and content headers unchanged', async () => {
    await blob('asis').upload('body', 4, { metadata: { one: '1' }, blobHTTPHeaders: { blobContentType: 'text/xml' } })
    await leased(store, 'asis')
    const found = await blob('asis').getProperties()
    expect([found.contentType, found.contentLength, found.metadata?.one]).toEqual(['text/xml', 4, '1'])
  })
})
