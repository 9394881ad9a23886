import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { AzureCredential } from '../../../../src/store/azure/credential.ts'
import { openAzureBlobStore } from '../../../../src/store/azure/store.ts'
import type { AzureFacts, InspectOptions } from '../../../../src/store/facts.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { summary } from '../../../contract/harness.ts'
import { PATIENT, StoppedClock } from './support.ts'

/** The answer of a server that is not the service: status, headers, body. */
interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** By request: the container's properties, the account, the service's properties, a write. */
interface Answers {
  readonly container?: Answer
  readonly account?: Answer
  readonly service?: Answer
  readonly put?: Answer
}

const REFUSED: Answer = { status: 403, headers: { 'x-ms-error-code': 'AuthorizationPermissionMismatch' } }
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** A store whose service answers as configured; `asked` counts requests. */
async function storeOn(
  answers: Answers,
  credential?: AzureCredential,
): Promise<{ store: StreamStore; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://host')
    const what = request.method === 'PUT' ? 'put' : questionOf(searchParams)
    asked.push(what)
    const { status = what === 'put' ? 201 : 200, headers = {}, body = '' } = answers[what] ?? REFUSED
    request.resume().on('end', () => {
      response.writeHead(status, { 'x-ms-version': '2025-11-05', 'x-ms-request-id': 'r', etag: '"1"', ...headers })
      response.end(body)
    })
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const store = await openAzureBlobStore({
    address: { kind: 'azure', endpoint: `http://127.0.0.1:${port}/acct`, account: 'acct', container: 'streams' },
    credential: credential ?? { kind: 'key', account: 'acct', key: 'c2VjcmV0' },
    machine: new StoppedClock(),
    ...PATIENT,
  })
  onTestFinished(() => store.close())
  return { store, asked }
}

function questionOf(parameters: URLSearchParams): 'container' | 'account' | 'service' {
  if (parameters.get('restype') === 'account') return 'account'
  return parameters.get('restype') === 'service' ? 'service' : 'container'
}

async function factsOf(store: StreamStore, options?: InspectOptions): Promise<AzureFacts> {
  const facts = await store.inspect(options)
  if (facts.kind !== 'azure') throw new Error(facts.kind)
  return facts
}

const serviceBody = (policy: string) =>
  `<?xml version="1.0"?><StorageServiceProperties>${policy}</StorageServiceProperties>`

describe('the facts of a container', () => {
  it('are from the container, the account and the service', async () => {
    const { store } = await storeOn({
      container: {
        headers: {
          'x-ms-blob-public-access': 'blob',
          'x-ms-has-immutability-policy': 'true',
          'x-ms-has-legal-hold': 'false',
          'x-ms-lease-state': 'leased',
        },
      },
      account: {
        headers: { 'x-ms-sku-name': 'Standard_GRS', 'x-ms-account-kind': 'StorageV2', 'x-ms-is-hns-enabled': 'true' },
      },
      service: {
        headers: { 'content-type': 'application/xml' },
        body: serviceBody('<DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days></DeleteRetentionPolicy>'),
      },
    })
    expect(await factsOf(store)).toMatchObject({
      emulator: false,
      container: 'streams',
      auth: { kind: 'key' },
      serviceVersion: '2025-11-05',
      latencyMs: expect.any(Number),
      publicAccess: 'blob',
      immutabilityPolicy: true,
      legalHold: false,
      containerLease: 'leased',
      accountKind: 'StorageV2',
      sku: 'Standard_GRS',
      hierarchicalNamespace: true,
      softDeleteDays: 7,
    })
  })

  it('show disabled soft delete as 0 days', async () => {
    const body = serviceBody('<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy>')
    const { store } = await storeOn({ service: { headers: { 'content-type': 'application/xml' }, body } })
    expect((await factsOf(store)).softDeleteDays).toBe(0)
  })

  it('are unknown without permission, with the reason; skew and latency are known anyway', async () => {
    const { store, asked } = await storeOn({})
    const facts = await factsOf(store)
    expect(facts).toMatchObject({ latencyMs: expect.any(Number), clockAheadMs: expect.any(Number) })
    expect(facts).not.toHaveProperty('publicAccess')
    expect(facts.unknown).toMatchObject({
      publicAccess: 'AuthorizationPermissionMismatch (HTTP 403)',
      sku: 'AuthorizationPermissionMismatch (HTTP 403)',
      softDeleteDays: 'AuthorizationPermissionMismatch (HTTP 403)',
    })
    expect(asked).toEqual(['container', 'account', 'service'])
  })

  it('compare the clock of this machine with the Date header', async () => {
    const answer = { headers: { date: new Date(Date.now() + 60_000).toUTCString() } }
    const { store } = await storeOn({ container: answer, account: answer, service: { status: 403, ...answer } })
    const { clockAheadMs = 0 } = await factsOf(store)
    expect(Math.abs(clockAheadMs + 60_000)).toBeLessThan(10_000)
  })

  it('cost one request to a service that does not answer', async () => {
    const { store } = await storeOn({})
    for (const server of servers) server.close()
    const facts = await factsOf(store)
    expect(facts).not.toHaveProperty('latencyMs')
    expect(facts.unknown).toMatchObject({ publicAccess: 'ECONNREFUSED', softDeleteDays: 'ECONNREFUSED' })
  })

  it.each([
    [{ 'x-ms-version-id': '2026-01-01T00:00:00.0000000Z' }, true],
    [{}, false],
  ])('show after a write whether writes leave versions: %j', async (headers, versioning) => {
    const { store } = await storeOn({ put: { headers: { etag: '"1"', ...headers } } })
    expect((await factsOf(store)).unknown).toHaveProperty('versioning')
    await store.create('a', Buffer.from('x'), summary())
    const facts = await factsOf(store)
    expect(facts.versioning).toBe(versioning)
    expect(facts.unknown).not.toHaveProperty('versioning')
  })

  it('include permissions and expiry of a SAS, but never its signature', async () => {
    const token = 'sv=2025-11-05&sp=rl&se=2026-01-01T00%3A00%3A00Z&sig=c2VjcmV0'
    const { store } = await storeOn({}, { kind: 'sas', token, expiresMs: Date.UTC(2026, 0, 1) })
    const facts = await factsOf(store)
    expect(facts.auth).toEqual({ kind: 'sas', permissions: 'rl', expiresMs: Date.UTC(2026, 0, 1) })
    expect(JSON.stringify(facts)).not.toMatch(/sig=|c2VjcmV0/)
  })
})
