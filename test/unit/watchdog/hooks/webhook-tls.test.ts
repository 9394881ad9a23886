import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { postWebhook } from '../../../../src/watchdog/hooks/webhook.ts'
import { NOW } from '../../ops/support.ts'
import { heldTiming, LOOPBACK } from './support.ts'

const FIXTURES = new URL('../../../support/fixtures/tls/', import.meta.url)
/** For `receiver.test`, self-signed. Both are public, so they protect nothing. */
const KEY = readFileSync(new URL('key.pem', FIXTURES), 'utf8')
const CERTIFICATE = readFileSync(new URL('certificate.pem', FIXTURES), 'utf8')

const TRUSTED = tls.getCACertificates('default')
afterEach(() => tls.setDefaultCACertificates(TRUSTED))

/** A receiver over TLS at 127.0.0.1, to which every name resolves. */
async function open() {
  const received: string[] = []
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    received.push(`${request.method} ${request.headers.host}`)
    response.writeHead(204).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, received }
}

function post(url: string) {
  const target = { kind: 'webhook', url, ...LOOPBACK, timeoutMs: 30_000, tries: 1 } as const
  const stop = new AbortController().signal
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const about = { id: 'done-1', body: '{}\n', userAgent: 'leasectl/9', nowMs: NOW }
  return postWebhook(target, { ...about, timing: heldTiming(), stop, resolve })
}

test('a webhook over TLS is sent to the host with the certificate for the name, at the checked address', async () => {
  tls.setDefaultCACertificates([CERTIFICATE])
  const { port, received } = await open()
  expect(await post(`https://receiver.test:${port}/`)).toMatchObject({ kind: 'delivered', code: 'http-204' })
  expect(received).toEqual([`POST receiver.test:${port}`])
})

test('a host with a certificate for another name gets no request', async () => {
  tls.setDefaultCACertificates([CERTIFICATE])
  const { port, received } = await open()
  const code = 'ERR_TLS_CERT_ALTNAME_INVALID'
  expect(await post(`https://other.test:${port}/`)).toEqual({ kind: 'repeat', code, output: '' })
  expect(received).toEqual([])
})

test('a host with an untrusted certificate gets no request', async () => {
  const { port, received } = await open()
  const code = 'DEPTH_ZERO_SELF_SIGNED_CERT'
  expect(await post(`https://receiver.test:${port}/`)).toEqual({ kind: 'repeat', code, output: '' })
  expect(received).toEqual([])
})
