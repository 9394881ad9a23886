import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type Handlers, PATHS } from '../../src/http/probes.ts'
import { type ListenLimits, listen } from '../../src/watchdog/http/server.ts'
import { trustRow } from '../guarantees/record.ts'

const row = trustRow('endpoint')

const CANARY = 'canary_metric 1\n'

const HANDLERS: Handlers = {
  livez: () => ({ ok: true, reasons: [CANARY] }),
  readyz: () => ({ ok: false, reasons: [CANARY] }),
  metrics: () => ({ contentType: 'text/plain', text: async () => CANARY }),
}

const stop = { all: new AbortController() }
const sockets: Socket[] = []
afterEach(() => {
  stop.all.abort()
  stop.all = new AbortController()
  for (const socket of sockets.splice(0)) socket.destroy()
})

async function started(names: readonly string[] = [], handlers = HANDLERS, limits: ListenLimits = {}): Promise<number> {
  const { address } = await listen({ host: '127.0.0.1', port: 0, names }, handlers, stop.all.signal, limits)
  return Number(address.split(':')[1])
}

/** Everything received on one connection until it ends. */
function raw(port: number, sent: string): Promise<string> {
  return new Promise(resolve => {
    let text = ''
    const socket = opened(port, sent)
    socket.setEncoding('latin1').on('data', chunk => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
  })
}

function opened(port: number, sent: string): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(sent, 'latin1'))
  socket.on('error', () => {})
  sockets.push(socket)
  return socket
}

const request = (path: string, headers: readonly string[], method = 'GET', version = '1.1') =>
  `${[`${method} ${path} HTTP/${version}`, ...headers, 'connection: close'].join('\r\n')}\r\n\r\n`

/** Pages of other sites, under their own name or one that resolves to this machine, and malformed HTTP requests. */
const STRANGERS: readonly (readonly string[])[] = [
  ...['evil.example', 'evil.example:80', 'EVIL.EXAMPLE.', '127.0.0.1.evil.example', 'localhost.evil.example'].map(host),
  ...['127.0.0.1@evil.example', 'evil.example#127.0.0.1', '127.0.0.1 evil.example', '127.0.0.1,evil.example'].map(host),
  ...['evil.example/127.0.0.1', 'evil.example\\127.0.0.1', '[evil.example]', '[::1', '::1', '0x7f.1', '2130706433'].map(
    host,
  ),
  ...['', ' ', ':9464', '127.0.0.1:x', '127.0.0.1:123456', 'l\u00f6calhost', 'localhost\u0000', 'localhost\u00a0'].map(
    host,
  ),
  [...host('127.0.0.1'), ...host('evil.example')],
  [...host('evil.example'), ...host('127.0.0.1')],
  [],
  ...['http://evil.example', 'https://127.0.0.1', 'http://127.0.0.1:3000', 'http://localhost', 'null', ''].map(
    origin => [...host('127.0.0.1'), `origin: ${origin}`],
  ),
  ...['cross-site', 'same-site', 'anything'].map(site => [...host('localhost'), `sec-fetch-site: ${site}`]),
]

/** Probes, scrapers, port forwardings and people. */
const KNOWN: readonly (readonly string[])[] = [
  ...['127.0.0.1', '127.0.0.1:9464', '10.244.0.17:9464', '[::1]:9464', '[fd00::17]:9464', 'localhost:8080'].map(host),
  ...['LOCALHOST', 'localhost.', 'ops-1:9464', 'watchdog.monitoring.svc:9464', 'Watchdog.Monitoring.svc.'].map(host),
  [...host('localhost'), 'sec-fetch-site: none'],
  [...host('localhost'), 'sec-fetch-site: same-origin'],
]

function host(name: string): string[] {
  return [`host: ${name}`]
}

/** The number of foreign clients that read data, for each path and method, and the number of requests. */
async function readByStrangers(port: number): Promise<{ asked: number; answered: string[] }> {
  const asks = PATHS.flatMap(path =>
    ['GET', 'HEAD', 'POST', 'OPTIONS'].flatMap(method => STRANGERS.map(headers => request(path, headers, method))),
  )
  const answered: string[] = []
  for (const ask of asks) if (hasRead(await raw(port, ask))) answered.push(ask)
  return { asked: asks.length, answered }
}

const hasRead = (answer: string) =>
  answer.includes('canary') || /^HTTP\/1\.1 (200|503)/.test(answer) || /access-control-/i.test(answer)

describe('a client', () => {
  test('from another site, with an unknown host name or an unusual request reads nothing', async () => {
    const port = await started(['ops-1', 'watchdog.monitoring.svc'])
    const { asked, answered } = await readByStrangers(port)
    expect(answered).toEqual([])
    row.figure('requests', asked)
    row.figure('answered to strangers', answered.length, '0')
    row.injected('strange names, origins and sites', STRANGERS.length)
  })

  test('with an address, localhost, or an allowed name is answered', async () => {
    const port = await started(['ops-1', 'watchdog.monitoring.svc'])
    for (const headers of KNOWN) {
      expect([headers, (await raw(port, request('/livez', headers))).split('\r\n')[0]]).toEqual([
        headers,
        'HTTP/1.1 200 OK',
      ])
    }
    // checks of load balancers, older than Host
    expect(await raw(port, request('/livez', [], 'GET', '1.0'))).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('reads data if every name is allowed, and if no client is checked', async () => {
    const careless = await readByStrangers(await started(['evil.example']))
    expect(careless.answered.length).toBeGreaterThan(0)
    row.control('the name is let in', careless.answered.length > 0)

    const blind = await readByStrangers(await blindServer())
    expect(blind.answered.length).toBeGreaterThan(careless.answered.length)
    row.control('nobody is looked at', blind.answered.length > 0)
  })
})

async function blindServer(): Promise<number> {
  const server: Server = createServer({ requireHostHeader: false }, (_, response) => response.end(CANARY))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stop.all.signal.addEventListener('abort', () => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

describe('a request', () => {
  const LOCAL = host('localhost')

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    '%s changes nothing: 405',
    async method => {
      const answer = await raw(await started(), request('/metrics', LOCAL, method))
      expect(answer).toMatch(/^HTTP\/1\.1 405 /)
      expect(answer).toMatch(/\r\nallow: GET, HEAD\r\n/)
      expect(answer).toMatch(/\r\nconnection: close\r\n/i)
    },
  )

  test('with CONNECT or an upgrade is refused', async () => {
    const port = await started()
    expect(await raw(port, request('10.0.0.1:80', LOCAL, 'CONNECT'))).not.toMatch(/ 200 /)
    const upgrade = await raw(port, request('/livez', [...LOCAL, 'upgrade: websocket']))
    expect(upgrade).not.toMatch(/ 101 /)
  })

  test.each([
    ['of a given length', ['content-length: 9'], 'canary=1\n'],
    ['in chunks', ['transfer-encoding: chunked'], '3\r\nabc\r\n0\r\n\r\n'],
    ['that waits for a 100 response', ['content-length: 9', 'expect: 100-continue'], ''],
    ['of 100 GB', ['content-length: 100000000000'], ''],
  ])('with a body %s is not read: 400', async (_, headers, body) => {
    const answer = await raw(await started(), request('/metrics', [...LOCAL, ...headers]) + body)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).not.toContain('canary')
  })

  test('with an unknown expectation is answered as if there were none', async () => {
    expect(await raw(await started(), request('/livez', [...LOCAL, 'expect: miracles']))).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('is answered with headers that forbid other sites to read, cache, frame or sniff', async () => {
    const answer = await raw(await started(), request('/metrics', LOCAL))
    expect(answer).not.toMatch(/access-control-|set-cookie|x-powered-by|\r\nserver:/i)
    expect(answer).toMatch(/\r\nx-content-type-options: nosniff\r\n/)
    expect(answer).toMatch(/\r\ncross-origin-resource-policy: same-origin\r\n/)
    expect(answer).toMatch(/\r\ncache-control: no-store\r\n/)
  })
})

describe('slow clients', () => {
  const LARGE: Handlers = {
    ...HANDLERS,
    metrics: () => ({ contentType: 'text/plain', text: async () => 'x'.repeat(8 * 1_024 * 1_024) }),
  }

  const CONNECTIONS = 4

  /** Connections that request much and read none of it; resolves when no more are accepted. */
  async function fillUp(port: number): Promise<void> {
    for (let at = 0; at < CONNECTIONS; at += 1) {
      const socket = opened(port, request('/metrics', host('localhost')))
      await new Promise(resolve => socket.once('readable', resolve).once('close', resolve))
    }
  }

  const probe = async (port: number) => /^HTTP\/1\.1 200 /.test(await raw(port, request('/livez', host('localhost'))))

  test('that send their request slowly are disconnected, and do not block probes', async () => {
    const port = await started()
    const slow = Array.from({ length: 300 }, (_, at) =>
      raw(port, 'GET /livez HTTP/1.1\r\nhost: localhost\r\n'.slice(0, at % 40)),
    )
    expect(await probe(port)).toBe(true)
    const drip = setInterval(() => {
      for (const socket of sockets) if (!socket.destroyed) socket.write('x')
    }, 100)
    const ends = await Promise.all(slow)
    clearInterval(drip)
    expect(ends.filter(hasRead)).toEqual([])
    row.injected('connections that send next to nothing', slow.length)
  })

  test('that read the answer slowly are disconnected, and do not block probes', async () => {
    const port = await started([], LARGE, { connections: CONNECTIONS, answerMs: 250 })
    await fillUp(port)
    let tries = 1
    while (!(await probe(port))) tries += 1
    expect(tries).toBeGreaterThan(0)
    row.injected('connections that read nothing', CONNECTIONS)
  })

  test('that read the answer slowly block all others if they are not disconnected', async () => {
    const port = await started([], LARGE, { connections: CONNECTIONS, answerMs: 600_000 })
    await fillUp(port)
    const failed = !(await probe(port))
    expect(failed).toBe(true)
    row.control('slow readers are not cut off', failed)
  })
})
