import { Agent, createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openAzuriteStore, sharedAzurite } from './azurite.ts'
import { type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts'

/** Returns the number of requests, and their headers. */
let target: Server
let asked: { target: string | undefined; headers: string[]; body: string }[]
let proxy: FaultProxy | undefined

beforeEach(async () => {
  asked = []
  target = createServer(async (incoming, response) => {
    let body = ''
    for await (const chunk of incoming) body += chunk
    asked.push({ target: incoming.url, headers: incoming.rawHeaders, body })
    response.writeHead(201, ['X-Answer', 'Yes']).end(`answer ${asked.length}`)
  })
  await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve))
})

afterEach(async () => {
  await proxy?.stop()
  target.closeAllConnections()
  target.close()
})

const start = async (faults: Fault[] = [], seed = 1) => {
  proxy = await startFaultProxy({ target: { port: (target.address() as AddressInfo).port }, faults, seed })
  return proxy
}

/** For a caller without an answer: long enough for the request to arrive, on a machine that stalls for a while. */
const PATIENCE_MS = 1_000
/** For waits that end by themselves. */
const LONG = { timeout: 5_000 }

/** The result of a request: status and body, or the error's code. */
function ask(port: number, path = '/a', limitMs = 5_000, agent: Agent | false = false): Promise<string> {
  return new Promise(resolve => {
    const headers = { Host: 'account.example', 'X-Signed': 'Abc' }
    const options = {
      port,
      host: '127.0.0.1',
      method: 'PUT',
      path,
      headers,
      signal: AbortSignal.timeout(limitMs),
      agent,
    }
    const outgoing = request(options, async answer => {
      try {
        let body = ''
        for await (const chunk of answer) body += chunk
        resolve(`${answer.statusCode} ${body}`)
      } catch (error) {
        resolve((error as NodeJS.ErrnoException).code ?? 'error')
      }
    })
    outgoing.on('error', error => resolve((error as NodeJS.ErrnoException).code ?? 'error'))
    outgoing.end('body')
  })
}

describe('fault proxy', () => {
  it('passes on method, path, headers with their case, host and body', async () => {
    const { port } = await start()
    expect(await ask(port, '/a/b?comp=x')).toBe('201 answer 1')
    expect(asked[0]?.body).toBe('body')
    expect(asked[0]?.headers).toEqual(expect.arrayContaining(['Host', 'account.example', 'X-Signed', 'Abc']))
  })

  it.each([
    { kind: 'lose-request', said: 'ECONNRESET', applied: 0 },
    { kind: 'lose-answer', said: 'ECONNRESET', applied: 1 },
    { kind: 'error-before', said: '503 ', applied: 0 },
    { kind: 'error-after', said: '500 ', applied: 1 },
    { kind: 'duplicate', said: '201 answer 2', applied: 2 },
    { kind: 'truncate', said: 'ECONNRESET', applied: 1 },
    { kind: 'reset', said: 'ECONNRESET', applied: 1 },
    { kind: 'duplicate-late', said: '201 answer 1', applied: 1 },
    { kind: 'late', said: 'ECONNRESET', applied: 0 },
  ] as const)('$kind: the caller sees $said, the service got $applied requests', async ({ kind, said, applied }) => {
    const { port, injected } = await start([{ kind, times: 1 }])
    expect(await ask(port)).toBe(said)
    expect(asked).toHaveLength(applied)
    expect(injected.map(one => one.kind)).toEqual([kind])
    expect(await ask(port)).toBe(`201 answer ${applied + 1}`)
  })

  it.each([
    { kind: 'lose-answer', silent: true },
    { kind: 'truncate', silent: true },
    { kind: 'wrong-length', claims: 'more' },
    { kind: 'answer-late' },
  ] as const)('%o: only the time limit of the caller ends it, and the service got the request', async fault => {
    const { port, injected } = await start([fault])
    expect(await ask(port, '/a', PATIENCE_MS)).toBe('ABORT_ERR')
    expect(asked).toHaveLength(1)
    expect(injected.map(({ silent }) => silent)).toEqual(['silent' in fault])
  })

  it.each([
    { kind: 'forged-before', applied: 0 },
    { kind: 'forged-after', applied: 1 },
  ] as const)('$kind: the caller sees a foreign page, the service got $applied requests', async fault => {
    const { port } = await start([{ kind: fault.kind, status: 403, times: 1 }])
    expect(await ask(port)).toMatch(/^403 <!DOCTYPE html>/)
    expect(asked).toHaveLength(fault.applied)
  })

  it('wrong-length: the answer is truncated as its header says', async () => {
    const { port } = await start([{ kind: 'wrong-length', claims: 'less', when: ({ target }) => target === '/long' }])
    expect(await ask(port, '/long-answer')).toBe('201 answer 1')
    expect(await ask(port, '/long')).toMatch(/^201 $|HPE_/)
  })

  it.each([
    [false, 'ECONNRESET'],
    [true, 'ABORT_ERR'],
  ])('dead-socket (silent: %s): strikes requests on a connection that was used before', async (silent, said) => {
    const { port, injected } = await start([{ kind: 'dead-socket', silent }])
    const agent = new Agent({ keepAlive: true })
    expect(await ask(port, '/a', 5_000, agent)).toBe('201 answer 1')
    expect(await ask(port, '/b', silent ? PATIENCE_MS : 5_000, agent)).toBe(said)
    expect(await ask(port, '/c', 5_000, agent)).toBe('201 answer 2')
    agent.destroy()
    expect(injected.map(({ request }) => request.target)).toEqual(['/b'])
  })

  it('duplicate-late: the copy is delivered after the next such request', async () => {
    const { port } = await start([{ kind: 'duplicate-late', times: 1, after: ({ target }) => target === '/next' }])
    expect(await ask(port, '/first')).toBe('201 answer 1')
    await ask(port, '/other')
    expect(asked).toHaveLength(2)
    await ask(port, '/next')
    await expect.poll(() => asked.length, LONG).toBe(4)
  })

  it('forwards to an account on another host: without the account in the path, with the host name', async () => {
    const { port } = target.address() as AddressInfo
    const url = new URL(`http://localhost:${port}`)
    proxy = await startFaultProxy({ target: { url, account: 'ada1' } })
    expect(await ask(proxy.port, '/ada1/box/a?sig=1')).toBe('201 answer 1')
    expect(asked[0]?.target).toBe('/box/a?sig=1')
    expect(asked[0]?.headers).toEqual(expect.arrayContaining(['Host', url.host, 'X-Signed', 'Abc']))
  })

  it('late: delivered on request, or after the named request', async () => {
    const made = await start([
      { kind: 'late', when: request => request.target === '/held' },
      { kind: 'late', when: request => request.target === '/timed', after: request => request.target === '/sign' },
    ])
    await ask(made.port, '/held')
    await made.deliverLate()
    expect(asked).toHaveLength(1)
    await ask(made.port, '/timed')
    await ask(made.port, '/other')
    expect(asked).toHaveLength(2)
    await ask(made.port, '/sign')
    await expect.poll(() => asked.length, LONG).toBe(4)
  })

  it('nth counts the matching requests, times limits them', async () => {
    const { port } = await start([
      { kind: 'error-before', when: request => request.query.get('comp') === 'lease', nth: 2 },
    ])
    const seen: string[] = []
    for (const path of ['/?comp=lease', '/', '/?comp=lease', '/?comp=lease'])
      seen.push((await ask(port, path)).slice(0, 3))
    expect(seen).toEqual(['201', '201', '503', '201'])
  })

  it('the same seed gives the same faults, another seed others', async () => {
    const run = async (seed: number): Promise<string> => {
      const made = await start([{ kind: 'error-before', probability: 0.5 }], seed)
      let said = ''
      for (let i = 0; i < 24; i += 1) said += (await ask(made.port)).startsWith('503') ? 'x' : '.'
      await made.stop()
      return said
    }
    const first = await run(7)
    expect(first).toMatch(/x/)
    expect(first).toMatch(/\./)
    expect(await run(7)).toBe(first)
    expect(await run(8)).not.toBe(first)
    proxy = undefined
  })

  it('counts round trips: overlapping requests are one', async () => {
    const made = await start()
    const both = () => expect.poll(() => made.count('put'), LONG).toBe(2)
    made.add({ kind: 'delay', times: 2, before: both })
    await Promise.all([ask(made.port), ask(made.port)])
    await ask(made.port)
    expect(made.rounds).toBe(2)
    expect(made.count('put')).toBe(3)
  })

  it('keeps the signatures of the SDK valid, and names its operations', async () => {
    proxy = await startFaultProxy({ target: { port: (await sharedAzurite()).port } })
    const store = await openAzuriteStore(proxy.port)
    expect(await store.read('ä b/c')).toBeUndefined()
    await store.close()
    expect(proxy.requests.map(one => one.operation)).toEqual(['container', 'get'])
  })
})
