import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { exitOf } from '../../../../src/cli/exit-codes.ts'
import { ListenFailed, type Listening } from '../../../../src/http/listen.ts'
import type { Handlers } from '../../../../src/http/probes.ts'
import { listen } from '../../../../src/watchdog/http/server.ts'

const LOOPBACK = { host: '127.0.0.1', port: 0 }

const WELL: Handlers = {
  livez: () => ({ ok: true, reasons: ['alive'] }),
  readyz: () => ({ ok: true, reasons: ['ready', 'standby: holds none of 8 shards'] }),
  metrics: () => ({ contentType: 'text/plain; version=0.0.4', text: async () => 'a 1\n' }),
}

let stop: AbortController
beforeEach(() => {
  stop = new AbortController()
})
afterEach(() => stop.abort())

function start(handlers: Partial<Handlers> = {}): Promise<Listening> {
  return listen(LOOPBACK, { ...WELL, ...handlers }, stop.signal)
}

interface Answered {
  readonly status: number | undefined
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

/** fetch would keep the connection, and follow redirects. */
function ask({ address }: Listening, path: string, method = 'GET'): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const asked = request(`http://${address}`, { path, method, agent: false }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode, text, headers: response.headers }))
    })
    asked.on('error', reject).end()
  })
}

describe('answers', () => {
  test('are plain text, one reason per line, and not cached', async () => {
    const { status, text, headers } = await ask(await start(), '/readyz')
    expect([status, text]).toEqual([200, 'ready\nstandby: holds none of 8 shards\n'])
    expect(headers).toMatchObject({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
  })

  test('are 503 with the reasons if there is a problem', async () => {
    const server = await start({ livez: () => ({ ok: false, reasons: ['dead: the loop has ended'] }) })
    expect(await ask(server, '/livez')).toMatchObject({ status: 503, text: 'dead: the loop has ended\n' })
    expect(await ask(server, '/readyz')).toMatchObject({ status: 200 })
  })

  test('of metrics have their own type, also with a query after the path', async () => {
    const answered = await ask(await start(), '/metrics?x=1')
    expect(answered).toMatchObject({
      status: 200,
      text: 'a 1\n',
      headers: { 'content-type': WELL.metrics().contentType },
    })
  })

  test('to HEAD are those to GET without the body', async () => {
    const { status, text, headers } = await ask(await start(), '/readyz', 'HEAD')
    expect([status, text, headers['content-length']]).toEqual([200, '', '38'])
  })

  test.each(['/', '/livez/', '//livez', '/LIVEZ', '/..%2fmetrics'])('to %s are 404 and list the paths', async path => {
    expect(await ask(await start(), path)).toMatchObject({
      status: 404,
      text: 'not found; paths:\n/livez\n/readyz\n/metrics\n',
    })
  })

  test.each(['POST', 'DELETE', 'OPTIONS'])('to %s are 405 with the allowed methods', async method => {
    const answered = await ask(await start(), '/metrics', method)
    expect(answered).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })

  test('never contain internal errors', async () => {
    const metrics = () => ({ contentType: 'text/plain', text: () => Promise.reject(new Error('sig=canary')) })
    const readyz = () => {
      throw new Error('/home/me/secret.ts')
    }
    const server = await start({ metrics, readyz })
    for (const path of ['/metrics', '/readyz']) {
      expect(await ask(server, path)).toMatchObject({ status: 500, text: 'internal error\n' })
    }
  })

  test('to a malformed request, or one with too long a header, are 400 and 431', async () => {
    const { address } = await start()
    expect(await raw(address, 'no http at all\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
    expect(await raw(address, `GET /livez HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(9_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    )
  })
})

describe('an address', () => {
  test('with port 0 is reported with the chosen port', async () => {
    const { address, isLoopback } = await start()
    expect(address).toMatch(/^127\.0\.0\.1:[1-9]\d*$/)
    expect(isLoopback).toBe(true)
  })

  test('that other machines can reach is reported as such', async () => {
    const { isLoopback } = await listen({ host: '0.0.0.0', port: 0 }, WELL, stop.signal)
    expect(isLoopback).toBe(false)
  })

  test('that is in use is refused as busy with a stable code', async () => {
    const other = createServer()
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    const bound = other.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0
    const failed = await listen({ ...LOOPBACK, port }, WELL, stop.signal).catch(error => error)
    await new Promise(resolve => other.close(resolve))
    expect(failed).toBeInstanceOf(ListenFailed)
    expect(failed).toMatchObject({
      code: 'listen-failed',
      message: `cannot listen on 127.0.0.1:${port}: the port is in use`,
    })
    expect(exitOf(failed.code)).toBe(9)
  })

  test('of another machine is refused, with advice', async () => {
    const failed = await listen({ host: '192.0.2.1', port: 0 }, WELL, stop.signal).catch(error => error)
    expect(failed).toMatchObject({
      code: 'listen-failed',
      message: 'cannot listen on 192.0.2.1:0: this machine has no such address',
      hint: expect.stringContaining('127.0.0.1'),
    })
  })
})

describe('connections that send almost nothing', () => {
  test('do not block probes, however many there are: the one that waits longest is closed', async () => {
    const server = await start()
    const cut: number[] = []
    const slow = Array.from({ length: 80 }, (_, at) =>
      raw(server.address, 'GET /livez HTTP/1.1\r\nx: ').then(() => cut.push(at)),
    )
    expect(await ask(server, '/livez')).toMatchObject({ status: 200 })
    expect(cut.length).toBeLessThan(80)
    await server.close()
    await Promise.all(slow)
  })

  test('are closed even if they were answered before', async () => {
    const server = await start()
    const kept = Array.from({ length: 40 }, () => raw(server.address, 'GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n'))
    expect(await ask(server, '/livez')).toMatchObject({ status: 200 })
    await server.close()
    await Promise.allSettled(kept)
  })
})

describe('shutdown', () => {
  test('follows the signal and closes idle connections', async () => {
    const server = await start()
    const kept = raw(server.address, 'GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n', () => stop.abort())
    expect(await kept).toMatch(/alive/)
    await expect(ask(server, '/livez')).rejects.toThrow('ECONNREFUSED')
  })

  test('does not wait for an incomplete request', async () => {
    const server = await start()
    const half = raw(server.address, 'GET /liv')
    await ask(server, '/livez')
    await server.close()
    expect(await half).toBe('')
  })

  test('may be requested twice', async () => {
    const server = await start()
    await server.close()
    await server.close()
    await expect(ask(server, '/livez')).rejects.toThrow('ECONNREFUSED')
  })

  test('follows an earlier signal at once', async () => {
    stop.abort()
    await expect(ask(await start(), '/livez')).rejects.toThrow('ECONNREFUSED')
  })
})

/** Everything received until the connection ends. @param answered called as soon as data have arrived */
function raw(address: string, sent: string, answered: () => void = () => {}): Promise<string> {
  const [host, port] = address.split(':')
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), host, () => socket.write(sent))
    socket.setEncoding('utf8').on('data', chunk => {
      text += chunk
      answered()
    })
    socket.on('error', reject).on('close', () => resolve(text))
  })
}
