import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { transact } from '../../../src/ops/transact/transact.ts'
import { openAzureBlobStore } from '../../../src/store/azure/store.ts'
import { readDocument } from '../../../src/stream/xml/read.ts'

const AHEAD_MS = 3_600_000
const missing = (code: string) => ({ status: 404, code })
const CREATED = { status: 201, code: '' }
const REFUSED = { status: 403, code: 'AuthorizationPermissionMismatch' }

/** A store whose service is an hour ahead and answers as configured; `asked` are the requests, `bodies` their bodies. */
async function storeOn(answers: Record<'HEAD' | 'PUT', { readonly status: number; readonly code: string }>) {
  const asked: string[] = []
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    const method = request.method === 'HEAD' ? 'HEAD' : 'PUT'
    asked.push(method)
    let body = ''
    for await (const part of request.setEncoding('utf8')) body += part
    if (method === 'PUT') bodies.push(body)
    const { status, code } = answers[method]
    const date = new Date(Date.now() + AHEAD_MS).toUTCString()
    response
      .writeHead(status, { date, etag: '"1"', 'x-ms-request-id': 'r', ...(code ? { 'x-ms-error-code': code } : {}) })
      .end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const store = await openAzureBlobStore({
    address: { kind: 'azure', endpoint: `http://127.0.0.1:${port}/acct`, account: 'acct', container: 'streams' },
    credential: { kind: 'key', account: 'acct', key: 'c2VjcmV0' },
  })
  onTestFinished(async () => {
    await store.close()
    server.closeAllConnections()
    server.close()
  })
  const init = (name: string) =>
    transact(
      store,
      name,
      { op: 'init', root: { name: 'Start' }, forks: [], hold: false, born: name },
      { commandId: name, by: 'test' },
    )
  return { init, asked, bodies }
}

it('a new stream has the time of the service, which costs one request', async () => {
  const began = Date.now()
  const { init, asked, bodies } = await storeOn({ HEAD: missing('BlobNotFound'), PUT: CREATED })
  expect(await init('a')).toMatchObject({ kind: 'done' })
  expect(await init('b')).toMatchObject({ kind: 'done' })
  expect(asked).toEqual(['HEAD', 'PUT', 'PUT'])
  for (const body of bodies) {
    const atMs = Date.parse(readDocument(body).at)
    expect(atMs).toBeGreaterThanOrEqual(began + AHEAD_MS - 1_000)
  }
})

it('a refused read still gives the time', async () => {
  const { init, asked } = await storeOn({ HEAD: REFUSED, PUT: CREATED })
  expect(await init('a')).toMatchObject({ kind: 'done' })
  expect(asked).toEqual(['HEAD', 'PUT'])
})

it.each([
  ['container-missing', missing('ContainerNotFound')],
  ['not-permitted', REFUSED],
])('an error that prevents a creation is reported as without that request: %s', async (code, answer) => {
  const { init } = await storeOn({ HEAD: answer, PUT: answer })
  await expect(init('a')).rejects.toMatchObject({ code })
})
