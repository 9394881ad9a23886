import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { removeInbox } from '../../../../src/inbox/manage.ts'
import type { InboxServer } from '../../../../src/inbox/serve/server.ts'
import { BearerTokens } from '../../../../src/inbox/serve/tokens.ts'
import type { BlockLog } from '../../../../src/store/block-log.ts'
import { NotPermitted, StoreFull, StoreUnreachable } from '../../../../src/store/errors.ts'
import { openMemoryStore } from '../../../../src/store/memory.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { openAzuriteStore, sharedAzurite } from '../../../support/azurite.ts'
import { type ServingOptions, startServing } from '../../../support/serving.ts'

const TOKEN = '0123456789abcdef0123456789abcdef'
const JSON_TYPE = { 'content-type': 'application/json' }
const LINES_TYPE = { 'content-type': 'application/x-ndjson' }

const servers: InboxServer[] = []
const folders: string[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(server => server.stop()))
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

async function start(store: StreamStore = openMemoryStore(), options: ServingOptions = {}) {
  const serving = await startServing(store, options)
  servers.push(serving.server)
  return serving
}

async function post(url: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = JSON_TYPE) {
  const response = await fetch(url, { method: 'POST', body, headers })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}

function sqlite(): StreamStore {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-serve-'))
  folders.push(folder)
  return openSqliteStore(join(folder, 'a.db'))
}

const STORES: readonly (readonly [string, () => Promise<StreamStore>])[] = [
  ['memory', async () => openMemoryStore()],
  ['SQLite', async () => sqlite()],
  ['Azurite', async () => openAzuriteStore((await sharedAzurite()).port)],
]

describe.each(STORES)('on %s', (_, open) => {
  test('a record, an array and lines are accepted with their ids once they are in the inbox', async () => {
    const { url, ids } = await start(await open())
    expect(await post(url, '{"id":"a"}')).toMatchObject({
      status: 202,
      body: { apiVersion: 'leasectl/v1', inbox: 'orders', ids: ['a'] },
    })
    expect(await ids()).toEqual(['a'])
    expect(await post(url, '[{"id":"c"},{"id":"b"}]')).toMatchObject({ status: 202, body: { ids: ['c', 'b'] } })
    expect(await post(url, '{"id":"d"}\n{"id":"e"}\n', LINES_TYPE)).toMatchObject({ status: 202 })
    expect(await ids()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test('of a request with a bad record none is put', async () => {
    const { url, ids } = await start(await open())
    const answer = await post(url, '[{"id":"a"},{"id":""},{"id":"b"}]')
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'bad-records', applied: 'no', retryable: false, records: [{ index: 1 }], badCount: 1 } },
    })
    expect(await ids()).toEqual([])
  })

  test('many requests at a time are all in the inbox, each once', async () => {
    const { url, ids } = await start(await open())
    const wanted = Array.from({ length: 200 }, (_, at) => `r${String(at).padStart(3, '0')}`)
    const answers = await Promise.all(wanted.map(id => post(url, JSON.stringify({ id }))))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    expect(await ids()).toEqual(wanted)
  })
})

describe('a request', () => {
  test('with Idempotency-Key has its id from there', async () => {
    const { url, ids } = await start()
    expect(await post(url, '{"v":1}', { ...JSON_TYPE, 'idempotency-key': '"k-1"' })).toMatchObject({ status: 202 })
    expect(await post(url, '{"v":1}', { ...JSON_TYPE, 'idempotency-key': 'k-2' })).toMatchObject({
      body: { ids: ['k-2'] },
    })
    expect(await post(url, '{"id":"x"}', { ...JSON_TYPE, 'idempotency-key': 'k-3' })).toMatchObject({ status: 400 })
    const bytes = (text: string) => Buffer.from(text).toString('latin1')
    for (const [key, id] of [
      ['Größe-1', 'Größe-1'],
      ['"a \\"b\\" 订单"', 'a "b" 订单'],
    ] as const)
      expect(await post(url, JSON.stringify({ id }), { ...JSON_TYPE, 'idempotency-key': bytes(key) })).toMatchObject({
        ...{ status: 202, body: { ids: [id] } },
      })
    expect(await post(url, '{}', { ...JSON_TYPE, 'idempotency-key': '\u00fc' })).toMatchObject({ status: 400 })
    expect(await ids()).toEqual(['Größe-1', 'a "b" 订单', 'k-1', 'k-2'].sort())
  })

  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/json; charset=latin1', 415],
    ['application/json; charset="UTF-8"', 202],
    ['Application/JSON', 202],
    ['application/ndjson', 202],
  ])('of type %s is answered with %i', async (type, status) => {
    const { url } = await start()
    expect(await post(url, '{"id":"a"}', { 'content-type': type })).toMatchObject({ status })
  })

  test('that is compressed is not taken: 415', async () => {
    const { url } = await start()
    const answer = await post(url, '{"id":"a"}', { ...JSON_TYPE, 'content-encoding': 'gzip' })
    expect(answer).toMatchObject({ status: 415, body: { error: { code: 'wrong-type' } } })
  })

  test('for another inbox or path is answered with 404, with another method with 405', async () => {
    const { url } = await start()
    for (const path of ['/inboxes/others', '/inboxes/orders/', '/inboxes/', '/', '/inboxes/%6frders', '/x']) {
      expect(await post(new URL(path, url).href, '{"id":"a"}')).toMatchObject({ status: 404 })
    }
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
      const response = await fetch(url, { method })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })

  test('that is too large is answered with 413, before or while it is read', async () => {
    const { url, ids } = await start(openMemoryStore(), { limits: { bodyBytes: 1_000_000 } })
    expect(await post(url, `{"id":"a","x":"${'y'.repeat(2_000_000)}"}`)).toMatchObject({ status: 413 })
    const body = new ReadableStream({
      start(controller) {
        for (let at = 0; at < 20; at++) controller.enqueue(new Uint8Array(100_000).fill(0x20))
        controller.close()
      },
    })
    const init = { method: 'POST', body, headers: JSON_TYPE, duplex: 'half' as const }
    expect(await fetch(url, init)).toMatchObject({ status: 413 })
    expect(await ids()).toEqual([])
  })

  test('finds probes and metrics beside the inboxes', async () => {
    const { url } = await start(openMemoryStore(), { tokens: BearerTokens.read(TOKEN, 'test') })
    for (const path of ['/livez', '/readyz', '/metrics']) {
      expect((await fetch(new URL(path, url))).status).toBe(200)
      expect((await fetch(new URL(path, url), { method: 'POST' })).status).toBe(405)
    }
  })
})

describe('with tokens', () => {
  test('a request without a valid one is answered with 401, whatever it asks for', async () => {
    const { url, ids } = await start(openMemoryStore(), { tokens: BearerTokens.read(TOKEN, 'test') })
    for (const authorization of ['', 'Bearer x', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`]) {
      const answer = await post(url, '{"id":"a"}', { ...JSON_TYPE, authorization })
      expect(answer).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
    expect(await post(new URL('/inboxes/none', url).href, '1')).toMatchObject({ status: 401 })
    expect(await post(url, '{"id":"a"}', { ...JSON_TYPE, authorization: `Bearer ${TOKEN}` })).toMatchObject({
      status: 202,
    })
    expect(await ids()).toEqual(['a'])
  })
})

describe('a page of another site', () => {
  test('cannot put where no token is needed', async () => {
    const { url, ids } = await start()
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      expect(await post(url, '{"id":"a"}', { ...JSON_TYPE, ...headers })).toMatchObject({ status: 403 })
    }
    expect(await ids()).toEqual([])
  })
})

/** A store whose appends wait, or fail, as told. */
function faulty(store: StreamStore) {
  const state = { isAway: false, isFull: false, gate: Promise.resolve() }
  const { log, read } = { log: store.log.bind(store), read: store.read.bind(store) }
  const faultyLog = (name: string): BlockLog => {
    const real = log(name)
    const append = real.append.bind(real)
    return Object.assign(real, {
      append: async (block: Uint8Array) => {
        await state.gate
        if (state.isAway) throw new StoreUnreachable('no answer')
        if (state.isFull) throw new StoreFull('no room')
        return append(block)
      },
    })
  }
  const faultyRead: StreamStore['read'] = async (...given) => {
    if (state.isAway) throw new StoreUnreachable('no answer')
    return read(...given)
  }
  return { store: Object.assign(store, { log: faultyLog, read: faultyRead }), state }
}

describe('while the store is away', () => {
  test('requests are answered with 503 at once, and accepted again as soon as it is back', async () => {
    const { store, state } = faulty(openMemoryStore())
    const seen: string[] = []
    const { url, served } = await start(store, {
      observer: { outage: () => seen.push('outage'), recovered: () => seen.push('recovered') },
    })
    const stop = new AbortController()
    const watching = served.watch(stop.signal)
    state.isAway = true
    const first = await post(url, '{"id":"a"}')
    expect(first).toMatchObject({ status: 503, body: { error: { applied: 'unknown', retryable: true } } })
    expect(first.headers.get('retry-after')).toBe('2')
    expect(await post(url, '{"id":"a"}')).toMatchObject({ status: 503, body: { error: { applied: 'no' } } })
    expect(served.trouble).toBe('the store fails: store-unreachable')
    state.isAway = false
    while ((await post(url, '{"id":"b"}')).status !== 202) await new Promise(resolve => setImmediate(resolve))
    expect([served.trouble, seen]).toEqual([undefined, ['outage', 'recovered']])
    stop.abort()
    await watching
  })

  test('of a full store the answers say that it is full', async () => {
    const { store, state } = faulty(openMemoryStore())
    const { url } = await start(store)
    state.isFull = true
    expect(await post(url, '{"id":"a"}')).toMatchObject({ status: 503, body: { error: { code: 'store-full' } } })
    expect(await post(url, '{"id":"a"}')).toMatchObject({
      status: 503,
      body: { error: { code: 'store-full', message: 'the store fails: store-full', applied: 'no' } },
    })
  })

  test('no more is buffered than the limit: further requests are answered with 429', async () => {
    const { store, state } = faulty(openMemoryStore())
    const gate = Promise.withResolvers<void>()
    state.gate = gate.promise
    const { url, server, ids } = await start(store, { limits: { bufferedBytes: 5_000 } })
    const body = (id: number) => `{"id":${id},"x":"${'y'.repeat(900)}"}`
    const answers = Array.from({ length: 20 }, (_, id) => post(url, body(id)))
    const first = await Promise.any(answers)
    expect(first).toMatchObject({ status: 429, body: { error: { code: 'busy', applied: 'no', retryable: true } } })
    expect(first.headers.get('retry-after')).toBe('1')
    expect(server.bufferedBytes).toBeLessThanOrEqual(5_000)
    gate.resolve()
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([202, 429]))
    expect((await ids()).length).toBe(statuses.filter(status => status === 202).length)
    expect([server.bufferedBytes, server.requests]).toEqual([0, 0])
  })
})

test('a store that can be read, but not written, is back only once a put succeeds', async () => {
  const memory = openMemoryStore()
  let fault: Error | undefined = new NotPermitted('no right to write')
  const log = memory.log.bind(memory)
  const store: StreamStore = Object.assign(memory, {
    log: (name: string): BlockLog => {
      const real = log(name)
      const append = real.append.bind(real)
      return Object.assign(real, {
        append: async (block: Uint8Array) => {
          if (fault !== undefined) throw fault
          return append(block)
        },
      })
    },
  })
  const seen: string[] = []
  const { url, served } = await start(store, {
    observer: { outage: () => seen.push('outage'), recovered: () => seen.push('recovered') },
  })
  const look = async () => {
    const nowMs = performance.now()
    const later = vi.spyOn(performance, 'now').mockImplementation(() => nowMs + 6_000)
    await served.look(new AbortController().signal)
    later.mockRestore()
  }
  expect(await post(url, '{"id":"a"}')).toMatchObject({ status: 503 })
  expect(served.trouble).toBe('the store fails: not-permitted')
  await look()
  // Let in again, to find out, and said to nobody.
  expect([served.trouble, seen]).toEqual([undefined, ['outage']])
  expect(await post(url, '{"id":"a"}')).toMatchObject({ status: 503 })
  expect([served.trouble, seen]).toEqual(['the store fails: not-permitted', ['outage']])
  await look()
  fault = undefined
  expect(await post(url, '{"id":"a"}')).toMatchObject({ status: 202 })
  expect([served.trouble, seen]).toEqual([undefined, ['outage', 'recovered']])
})

describe('with two regions', () => {
  test('an answer says where the records are, and one region that is away refuses nothing', async () => {
    const { store: also, state } = faulty(openMemoryStore())
    const { url, served, ids } = await start(openMemoryStore(), { also })
    expect(await post(url, '[{"id":"a"},{"id":"b"}]')).toMatchObject({
      status: 202,
      body: { ids: ['a', 'b'], regions: { both: 2, first: 0, second: 0 } },
    })
    state.isAway = true
    expect(await post(url, '{"id":"c"}')).toMatchObject({ status: 202, body: { regions: { both: 0, first: 1 } } })
    await served.look(new AbortController().signal)
    expect(served.trouble).toBeUndefined()
    expect(await ids()).toEqual(['a', 'b', 'c'])
  })

  test('requests are answered with 503 at once while both are away, until a look finds one', async () => {
    const first = faulty(openMemoryStore())
    const second = faulty(openMemoryStore())
    const { url, served } = await start(first.store, { also: second.store })
    first.state.isAway = true
    second.state.isAway = true
    expect(await post(url, '{"id":"a"}')).toMatchObject({ status: 503, body: { error: { applied: 'unknown' } } })
    expect(await post(url, '{"id":"a"}')).toMatchObject({ status: 503, body: { error: { applied: 'no' } } })
    expect(served.trouble).toBe('the store fails: store-unreachable')
    first.state.isAway = false
    await served.look(new AbortController().signal)
    expect(await post(url, '{"id":"a"}')).toMatchObject({ status: 202, body: { regions: { both: 0, first: 1 } } })
    expect(served.trouble).toBeUndefined()
  })
})

describe('an inbox that was removed', () => {
  test('is not found from then on', async () => {
    const store = openMemoryStore()
    const seen: string[] = []
    const { url, served, inbox } = await start(store, { observer: { gone: name => seen.push(name) } })
    await removeInbox(store, inbox)
    await served.look(new AbortController().signal)
    expect(await post(url, '{"id":"a"}')).toMatchObject({ status: 404 })
    expect([seen, served.trouble]).toEqual([['orders'], 'removed: orders'])
  })
})

describe('a server that stops', () => {
  test('answers what it took, and takes no more', async () => {
    const { store, state } = faulty(openMemoryStore())
    const gate = Promise.withResolvers<void>()
    state.gate = gate.promise
    const { url, server, ids } = await start(store)
    const taken = Array.from({ length: 10 }, (_, id) => post(url, `{"id":${id}}`))
    while (server.requests < 10) await new Promise(resolve => setImmediate(resolve))
    const stopped = server.stop()
    expect(await post(url, '{"id":"late"}')).toMatchObject({ status: 503, body: { error: { code: 'stopping' } } })
    gate.resolve()
    expect((await Promise.all(taken)).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 202))
    await stopped
    await expect(post(url, '{"id":"later"}')).rejects.toThrow()
    expect((await ids()).length).toBe(10)
  })

  test('gives up a body that does not come to its end', async () => {
    const { server, port, ids } = await start(openMemoryStore())
    const socket = connect(port, '127.0.0.1')
    const answer = new Promise<string>(resolve => {
      let text = ''
      socket.on('data', chunk => {
        text += String(chunk)
      })
      socket.on('close', () => resolve(text))
    })
    const head = `POST /inboxes/orders HTTP/1.1\r\nhost: localhost:${port}\r\ncontent-type: application/json\r\n`
    socket.write(`${head}content-length: 100\r\n\r\n{"id":`)
    while (server.requests < 1) await new Promise(resolve => setImmediate(resolve))
    await server.stop()
    expect(await answer).toMatch(/^HTTP\/1.1 503 .*"stopping"/s)
    expect(await ids()).toEqual([])
  })
})
