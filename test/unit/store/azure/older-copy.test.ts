import { BlobServiceClient, type BlockBlobClient } from '@azure/storage-blob'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readStream } from '../../../../src/ops/read-stream.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { listed, stored } from '../../../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../../../support/azurite.ts'
import { init, resultOf, run } from '../../ops/support.ts'

let store: StreamStore & { container: string }
let blob: (name: string) => BlockBlobClient

beforeAll(async () => {
  const { port, connectionString } = await sharedAzurite()
  store = await openAzuriteStore(port)
  const container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient(store.container)
  blob = name => container.getBlockBlobClient(name)
})

afterAll(() => store.close())

/** The bytes of version 1 and the metadata of version 3, as a storage tool has them. */
async function copyOf(name: string) {
  await run(store, name, init(['A', 'B']))
  const { body } = await stored(store, name)
  await run(store, name, { op: 'complete', event: '01.00' })
  await run(store, name, { op: 'complete', event: '02.00' })
  const { metadata = {} } = await blob(name).getProperties()
  return { body: Buffer.from(body), metadata }
}

const historyOf = async (name: string) =>
  (await readStream(store, name))?.transactions().map(({ version, op, provisional }) => [version, op, provisional])

describe('an older copy that was uploaded without leasectl', () => {
  it('with its old metadata is detected by every reader, and never listed as the latest', async () => {
    const { body, metadata } = await copyOf('resent')
    await blob('resent').upload(body, body.length, { metadata })
    expect((await listed(store, { prefix: 'resent' }))[0]?.summary).toBeUndefined()
    expect(await historyOf('resent')).toEqual([
      [1, 'init', false],
      [1, 'foreign', true],
    ])
    expect(resultOf(await run(store, 'resent', { op: 'complete', event: '01.00' })).version).toBe(5)
  })

  it('with only the version is detected as well', async () => {
    const { body, metadata } = await copyOf('bare')
    const version = Object.entries(metadata).filter(([key]) => key.toLowerCase() === 'leasectl_v')
    await blob('bare').upload(body, body.length, { metadata: Object.fromEntries(version) })
    expect(resultOf(await run(store, 'bare', { op: 'complete', event: '01.00' })).version).toBe(5)
  })

  it('without metadata is indistinguishable from the latest', async () => {
    const { body } = await copyOf('dropped')
    await blob('dropped').upload(body, body.length)
    expect(await historyOf('dropped')).toEqual([[1, 'init', false]])
  })
})
