import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseAddress, type StoreAddress } from '../../../../src/store/address.ts'
import { openAzureBlobStore } from '../../../../src/store/azure/store.ts'
import {
  ContainerMissing,
  NotPermitted,
  StoreFull,
  StoreIncompatible,
  StoreUnreachable,
} from '../../../../src/store/errors.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { bytes, changeOptions, holder, listed, summary } from '../../../contract/harness.ts'
import { PATIENT } from './support.ts'

const KEY = Buffer.from('CANARY-the-account-key').toString('base64')
const SIGNATURE = 'CANARY+signature/='
const SAS = `sv=2024-11-04&se=2026-01-02T03%3A04%3A05Z&sig=${encodeURIComponent(SIGNATURE)}`

let service: Server
let says: { status: number; code: string; headers?: Record<string, string> }
let asked: string[]
let opened: StreamStore[]

beforeEach(async () => {
  asked = []
  opened = []
  service = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(says.status, { 'x-ms-request-id': 'r', 'x-ms-error-code': says.code, ...says.headers })
    const text = `<Error><Code>${says.code}</Code><Message>CANARY</Message><AuthenticationErrorDetail>CANARY</AuthenticationErrorDetail></Error>`
    response.end(request.method === 'HEAD' ? '' : text)
  })
  await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve))
})

afterEach(async () => {
  await Promise.all(opened.map(store => store.close()))
  service.closeAllConnections()
  service.close()
})

async function open(text: string, sas = false): Promise<StreamStore> {
  const address = parseAddress(text) as StoreAddress & { kind: 'azure' | 'azurite' }
  const account = address.kind === 'azure' ? address.account : 'devstoreaccount1'
  const credential = sas
    ? ({ kind: 'sas', token: SAS, expiresMs: Date.UTC(2026, 0, 2, 3, 4, 5) } as const)
    : ({ kind: 'key', account, key: KEY } as const)
  const store = await openAzureBlobStore({ address, credential, random: () => 0, ...PATIENT })
  opened.push(store)
  return store
}

const port = (): number => (service.address() as AddressInfo).port
const account = (sas = false): Promise<StreamStore> => open(`http://127.0.0.1:${port()}/acct/orders`, sas)

async function thrownBy(work: Promise<unknown>): Promise<Error & { hint?: string }> {
  return work.then(
    value => Promise.reject(new Error(`no error but ${inspect(value)}`)),
    error => error,
  )
}

describe('refusals of the service', () => {
  it.each([
    [403, 'AuthenticationFailed', NotPermitted, /key or signature/],
    [403, 'AuthorizationFailure', NotPermitted, /firewall|SAS/],
    [403, 'AuthorizationPermissionMismatch', NotPermitted, /Storage Blob Data Contributor/],
    [403, 'KeyBasedAuthenticationNotPermitted', NotPermitted, /az login/],
    [401, 'NoAuthenticationInformation', NotPermitted, /credential/],
    [404, 'ContainerNotFound', ContainerMissing, /--create-container/],
    [409, 'ContainerBeingDeleted', ContainerMissing, /--create-container/],
    [409, 'BlobImmutableDueToPolicy', NotPermitted, /immutability/],
    [413, 'RequestBodyTooLarge', StoreFull, undefined],
    [400, 'InvalidHeaderValue', StoreIncompatible, undefined],
    [503, 'ServerBusy', StoreUnreachable, /Try again/],
    [429, 'TooManyRequests', StoreUnreachable, /Try again/],
  ] as const)('%d %s is an error of its kind with a hint', async (status, code, kind, hint) => {
    says = { status, code }
    const error = await thrownBy((await account()).read('s'))
    expect(error).toBeInstanceOf(kind)
    expect(error.message).toContain(`127.0.0.1:${port()}`)
    expect(error.message).toContain(kind === ContainerMissing ? 'container orders' : code)
    if (hint === undefined) expect(error.hint).toBeUndefined()
    else expect(error.hint).toMatch(hint)
  })

  it('an expired SAS is reported with its expiry', async () => {
    says = { status: 403, code: 'AuthenticationFailed' }
    const error = await thrownBy((await account(true)).read('s'))
    expect(error).toBeInstanceOf(NotPermitted)
    expect(error.message).toContain('the SAS expired at 2026-01-02T03:04:05.000Z')
  })

  it('403 and 5xx never mean that a stream is missing', async () => {
    for (const status of [403, 500]) {
      says = { status, code: 'BlobNotFound' }
      await expect((await account()).read('s')).rejects.toThrow()
    }
  })

  it('reads are tried three times without an answer, once if refused', async () => {
    says = { status: 503, code: 'ServerBusy' }
    await thrownBy((await account()).read('s'))
    expect(asked).toHaveLength(3)
    asked = []
    says = { status: 403, code: 'AuthorizationFailure' }
    await thrownBy((await account()).read('s'))
    expect(asked).toHaveLength(1)
  })

  it('a create without a clear answer is unknown and is sent once', async () => {
    says = { status: 500, code: 'OperationTimedOut' }
    const outcome = await (await account()).create('s', bytes('x'), summary())
    expect(outcome).toMatchObject({ kind: 'unknown', cause: expect.any(StoreUnreachable) })
    expect(asked).toHaveLength(1)
  })
})

describe('a failed connection', () => {
  it('names host and port, and the hint says how to start the emulator', async () => {
    // A closed port that no other process gets.
    const free = 1_023
    const store = await open(`azurite://127.0.0.1:${free}/orders`)
    const error = await thrownBy(store.read('s'))
    expect(error).toBeInstanceOf(StoreUnreachable)
    expect(error.message).toContain(`127.0.0.1:${free}`)
    expect(error.hint).toContain(`npx azurite-blob`)
    expect(error.hint).toContain(String(free))
    await expect(store.create('s', bytes('x'), summary())).rejects.toBeInstanceOf(StoreUnreachable)
    await expect(store.releaseLease('s', crypto.randomUUID())).rejects.toBeInstanceOf(StoreUnreachable)
  })
})

describe('secrets', () => {
  it.each(['AuthenticationFailed', 'InternalError', 'ContainerNotFound', 'InvalidHeaderValue'])(
    'never appear in an error or its causes: %s',
    async code => {
      says = { status: code === 'InternalError' ? 500 : code === 'ContainerNotFound' ? 404 : 403, code }
      for (const sas of [true, false]) {
        const id = crypto.randomUUID()
        const works: ((store: StreamStore) => Promise<unknown>)[] = [
          store => store.read('s'),
          store => store.create('s', bytes('x'), summary()),
          store => store.update('s', () => ({ kind: 'leave' }), changeOptions()),
          store => store.acquireLease('s', { leaseId: id, durationS: 15, holder: holder('ada') }),
          store => store.releaseLease('s', id),
          store => store.createContainer(),
          store => listed(store),
        ]
        for (const work of works) {
          // One for each: a store without answers sends only one request a second.
          const store = await account(sas)
          const end = await work(store).catch((error: unknown) => error)
          const shown = `${inspect(end, { depth: 20, showHidden: true })} ${store.address} ${inspect(store.address)}`
          for (const secret of ['CANARY', KEY, SIGNATURE, encodeURIComponent(SIGNATURE), 'SharedKey'])
            expect(shown).not.toContain(secret)
        }
      }
      expect(asked.some(url => url.includes('CANARY'))).toBe(true)
    },
  )
})
