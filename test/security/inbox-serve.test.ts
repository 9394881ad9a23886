import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { InboxServer } from '../../src/inbox/serve/server.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { type Serving, type ServingOptions, startServing } from '../support/serving.ts'

const servers: InboxServer[] = []
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await Promise.all(servers.splice(0).map(server => server.stop()))
})

async function start(options: ServingOptions = {}): Promise<Serving> {
  const serving = await startServing(openMemoryStore(), options)
  servers.push(serving.server)
  return serving
}

function opened(port: number, sent: string): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(sent, 'latin1'))
  socket.on('error', () => {})
  sockets.push(socket)
  return socket
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

const statuses = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

const head = (...headers: readonly string[]) =>
  `${['POST /inboxes/orders HTTP/1.1', 'host: localhost', 'content-type: application/json', ...headers].join('\r\n')}\r\n\r\n`

const LAST = 'connection: close'
const RECORD = '{"id":"a"}'
const SMUGGLED = `POST /inboxes/orders HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 10\r\n${LAST}\r\n\r\n{"id":"x"}`

describe('a request whose end is ambiguous', () => {
  test.each([
    ['with both lengths', `${head('content-length: 4', 'transfer-encoding: chunked', LAST)}0\r\n\r\n${SMUGGLED}`],
    ['with both lengths, the other way', head('transfer-encoding: chunked', 'content-length: 0') + SMUGGLED],
    ['with two lengths', head('content-length: 10', 'content-length: 0') + SMUGGLED],
    ['with two equal lengths', head('content-length: 10', 'content-length: 10', LAST) + RECORD],
    ['with a list of lengths', head('content-length: 10, 10', LAST) + RECORD],
    ['with a signed length', head('content-length: +10', LAST) + RECORD],
    ['with a hexadecimal length', head('content-length: 0xa', LAST) + RECORD],
    ['with an unknown transfer coding', head('transfer-encoding: xchunked', LAST) + RECORD],
    ['with chunked that is not last', head('transfer-encoding: chunked, identity', LAST) + RECORD],
    ['with a space before the colon', head('content-length : 10', LAST) + RECORD],
    ['with a folded header', head('x: y', ' content-length: 10', LAST) + RECORD],
    ['with a chunk size that is none', `${head('transfer-encoding: chunked', LAST)}zz\r\n{"id":"a"}\r\n0\r\n\r\n`],
    ['with a negative chunk size', `${head('transfer-encoding: chunked', LAST)}-a\r\n{"id":"a"}\r\n0\r\n\r\n`],
    ['with a chunk longer than said', `${head('transfer-encoding: chunked', LAST)}3\r\n{"id":"a"}\r\n0\r\n\r\n`],
    ['with a huge chunk size', `${head('transfer-encoding: chunked', LAST)}fffffffffffffffff\r\n{"id":"a"}`],
    ['with line feeds alone', head('content-length: 10', LAST).replaceAll('\r\n', '\n') + RECORD],
    ['with two hosts', head('host: evil.example', 'content-length: 10', LAST) + RECORD],
    ['with two types', head('content-type: text/plain', 'content-length: 10', LAST) + RECORD],
    ['with two idempotency keys', `${head('idempotency-key: a', 'idempotency-key: b', 'content-length: 2', LAST)}{}`],
    ['with a NUL in a header', head('x: a\u0000b', 'content-length: 10', LAST) + RECORD],
  ])('%s puts nothing, and nothing behind it is a request', async (_, sent) => {
    const { port, ids } = await start()
    expect(statuses(await raw(port, sent)).filter(status => status !== 400)).toEqual([])
    expect(await ids()).toEqual([])
  })

  test('is told apart from one that is not', async () => {
    const { port, ids } = await start()
    const sent = `${head('transfer-encoding: chunked')}4\r\n{"id\r\n6\r\n":"a"}\r\n0\r\n\r\n${SMUGGLED}`
    expect(statuses(await raw(port, sent))).toEqual([202, 202])
    expect(await ids()).toEqual(['a', 'x'])
  })
})

describe('a client', () => {
  test('that pipelines requests gets its answers in order', async () => {
    const { port, ids } = await start()
    const one = (id: string, ...more: readonly string[]) => `${head('content-length: 10', ...more)}{"id":"${id}"}`
    const answer = await raw(port, `${one('a')}${one('b')}${head('content-length: 1')}7${one('c', LAST)}`)
    expect(statuses(answer)).toEqual([202, 202, 400, 202])
    expect([...answer.matchAll(/"ids":\["(.)"\]/g)].map(([, id]) => id)).toEqual(['a', 'b', 'c'])
    expect(await ids()).toEqual(['a', 'b', 'c'])
  })

  test('that pipelines without end is disconnected, and holds nothing', async () => {
    const { port, server } = await start()
    const answer = await raw(port, (head('content-length: 10') + RECORD).repeat(2_000))
    expect(statuses(answer).length).toBeLessThan(2_000)
    while (server.requests > 0) await new Promise(resolve => setImmediate(resolve))
    expect(server.bufferedBytes).toBe(0)
  })

  test('that leaves in the middle of its body puts nothing, and holds nothing', async () => {
    const { port, server, ids } = await start()
    const socket = opened(port, `${head('content-length: 1000')}${RECORD}`)
    while (server.bufferedBytes === 0) await new Promise(resolve => setImmediate(resolve))
    socket.destroy()
    while (server.requests > 0) await new Promise(resolve => setImmediate(resolve))
    expect([server.bufferedBytes, await ids()]).toEqual([0, []])
  })

  test('that sends its header or body slowly is disconnected after a time', async () => {
    const { port, ids } = await start({ limits: { headerMs: 200, requestMs: 400 } })
    const slow = [
      raw(port, 'POST /inboxes/orders HTTP/1.1\r\nhost: loc'),
      raw(port, `${head('content-length: 1000')}{"id"`),
      raw(port, `${head('transfer-encoding: chunked')}5\r\n{"id"\r\n`),
    ]
    const drip = setInterval(() => {
      for (const socket of sockets) if (!socket.destroyed) socket.write('x')
    }, 50)
    const answers = await Promise.all(slow)
    clearInterval(drip)
    expect(answers.flatMap(statuses).filter(status => status === 202)).toEqual([])
    expect(await ids()).toEqual([])
  })

  test('that sends a body of gigabytes is answered with 413 and disconnected, and little of it is held', async () => {
    const { port, server } = await start()
    let most = 0
    const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`
    const answer = await new Promise<string>(resolve => {
      let text = ''
      const socket = opened(port, head('transfer-encoding: chunked'))
      const fill = () => {
        while (!socket.destroyed && socket.write(chunk)) most = Math.max(most, server.bufferedBytes)
        most = Math.max(most, server.bufferedBytes)
      }
      socket.on('drain', fill).once('connect', fill)
      socket.setEncoding('latin1').on('data', data => {
        text += data
      })
      socket.on('close', () => resolve(text))
    })
    expect(statuses(answer)).toEqual([413])
    expect(answer).toMatch(/\r\nconnection: close\r\n/i)
    expect(most).toBeLessThanOrEqual(4 * 1024 * 1024)
    expect(server.bufferedBytes).toBe(0)
  })

  test('that says its body is too large is not asked to send it', async () => {
    const { port } = await start()
    const answer = await raw(port, head('content-length: 99999999999', 'expect: 100-continue', LAST))
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('that waits for 100 is asked for its body if it is welcome', async () => {
    const { port, ids } = await start()
    const text = await new Promise<string>(resolve => {
      let all = ''
      const socket = opened(port, head('content-length: 10', 'expect: 100-continue', LAST))
      socket.setEncoding('latin1').on('data', chunk => {
        if (all === '') socket.write(RECORD)
        all += chunk
      })
      socket.on('close', () => resolve(all))
    })
    expect(statuses(text)).toEqual([100, 202])
    expect(await ids()).toEqual(['a'])
  })

  test('with CONNECT, an upgrade or no HTTP at all is not let through', async () => {
    const { port, ids } = await start()
    for (const sent of [
      'CONNECT 10.0.0.1:80 HTTP/1.1\r\nhost: localhost\r\n\r\n',
      `GET /inboxes/orders HTTP/1.1\r\nhost: localhost\r\nupgrade: h2c\r\nconnection: upgrade, close\r\n\r\n`,
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\u0016\u0003\u0001\u0002\u0000',
      `POST /inboxes/orders HTTP/0.9\r\n\r\n${RECORD}`,
      `POST /inboxes/orders HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(9_000)}\r\n\r\n`,
    ]) {
      const found = statuses(await raw(port, sent))
      expect([sent.slice(0, 30), found.filter(status => status < 400)]).toEqual([sent.slice(0, 30), []])
    }
    expect(await ids()).toEqual([])
  })

  test('among very many idle and half-open ones is answered', async () => {
    const { port, server, ids } = await start({ limits: { connections: 400 } })
    const idle = Array.from({ length: 600 }, (_, at) => opened(port, head().slice(0, at % 60)))
    await Promise.all(idle.slice(-20).map(socket => new Promise(resolve => socket.once('connect', resolve))))
    expect(statuses(await raw(port, head('content-length: 10', LAST) + RECORD))).toEqual([202])
    expect(await server.connections()).toBeLessThanOrEqual(400)
    expect(await ids()).toEqual(['a'])
  })

  test('whose requests go beyond the limit at a time is answered with 429', async () => {
    const { url } = await start({ limits: { requests: 0 } })
    const init = { method: 'POST', body: RECORD, headers: { 'content-type': 'application/json' } }
    expect((await fetch(url, init)).status).toBe(429)
  })
})
