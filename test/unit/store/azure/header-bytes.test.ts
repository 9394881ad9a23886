import { request } from 'node:http'
import { BlobSASPermissions, BlobServiceClient } from '@azure/storage-blob'
import { expect, it, onTestFinished } from 'vitest'
import { changeOptions, leased, put } from '../../../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../../../support/azurite.ts'

/**
 * Headers are bytes; Node reads and writes them as Latin-1. Changes by the parts between are not tested: the SDK
 * removes a byte A0 at either end, and the emulator returns another Content-Disposition than it was given.
 */
const latin1 = (text: string) => Buffer.from(text).toString('latin1')
const VALUES: Readonly<Record<string, string>> = {
  'Latin-1': 'f\u00fcr J\u00fcrgen',
  'UTF-8': latin1('für 言葉'),
  'every byte beyond ASCII': `<${Array.from({ length: 128 }, (_, at) => String.fromCharCode(at + 128)).join('')}>`,
}

interface Answered {
  readonly status: number | undefined
  readonly cache: unknown
  readonly team: unknown
}

function ask(method: string, url: string, headers: Readonly<Record<string, string>>, body = ''): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>()
  // With a text as body Node would write the headers in UTF-8.
  const bytes = Buffer.from(body)
  const sent = { 'x-ms-version': '2021-12-02', 'content-length': String(bytes.length), ...headers }
  request(url, { method, headers: sent }, answer => {
    answer.resume()
    const { 'cache-control': cache, 'x-ms-meta-team': team } = answer.headers
    resolve({ status: answer.statusCode, cache, team })
  })
    .on('error', reject)
    .end(bytes)
  return promise
}

it.each(Object.entries(VALUES))('header bytes of other writers are sent back unchanged: %s', async (_, value) => {
  const { port, connectionString } = await sharedAzurite()
  const store = await openAzuriteStore(port)
  onTestFinished(() => store.close())
  const container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient(store.container)
  const permissions = BlobSASPermissions.parse('rcw')
  const url = await container.getBlobClient('s').generateSasUrl({ permissions, expiresOn: new Date('2100-01-01') })
  const headers = { 'x-ms-blob-type': 'BlockBlob', 'x-ms-blob-cache-control': value, 'x-ms-meta-team': value }
  expect(await ask('PUT', url, headers, 'old')).toMatchObject({ status: 201 })
  const kept = { status: 200, cache: value, team: value }
  expect(await ask('HEAD', url, {})).toEqual(kept)
  expect(await store.update('s', put('new'), changeOptions())).toMatchObject({ kind: 'committed' })
  expect(await ask('HEAD', url, {})).toEqual(kept)
  await leased(store, 's')
  expect(await ask('HEAD', url, {})).toEqual(kept)
})
