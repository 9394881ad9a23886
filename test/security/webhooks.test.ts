import { execFile } from 'node:child_process'
import { createServer, request, type Server } from 'node:http'
import { type AddressInfo, BlockList, isIP } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { machineTiming } from '../../src/util/clock.ts'
import { guardedLookup, type Resolve, sideOf } from '../../src/watchdog/hooks/address-policy.ts'
import type { DeliveryAttempt } from '../../src/watchdog/hooks/attempt.ts'
import { postWebhook, type WebhookInput } from '../../src/watchdog/hooks/webhook.ts'
import { trustRow } from '../guarantees/record.ts'
import { repeatWith, sized, trustSeed } from '../guarantees/size.ts'
import { CLOSED, INNER, LOOPBACK_FORMS, PUBLIC } from './addresses.ts'

const row = trustRow('webhooks')
const SEED = trustSeed(20_260_301)

/** An allowed webhook target, and a denied one: two addresses of this machine with the same port. */
const OPEN = '127.0.0.2'
const VICTIM = '127.0.0.1'

let port = 0
const arrived = { open: 0, victim: 0 }
let answer: { status: number; location?: string } = { status: 204 }
const servers: Server[] = []

beforeAll(async () => {
  port = await listening(VICTIM, 0, () => arrived.victim++)
  await listening(OPEN, port, () => arrived.open++)
  await listening('::1', port, () => arrived.victim++).catch(() => row.skipped('::1', 'this machine has no IPv6'))
})
afterAll(() => {
  for (const server of servers) server.close()
})

async function listening(host: string, at: number, came: () => void): Promise<number> {
  const server = createServer((asked, response) => {
    came()
    asked.resume()
    response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location }).end()
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(at, host, resolve))
  servers.push(server)
  return (server.address() as AddressInfo).port
}

function post(url: string, resolve?: Resolve): Promise<DeliveryAttempt> {
  const target = { kind: 'webhook', url, networks: [OPEN], timeoutMs: 30_000, tries: 1 } as const
  return postWebhook(target, inputOf(resolve))
}

function inputOf(resolve: Resolve | undefined): WebhookInput {
  const stop = new AbortController().signal
  return { id: 'done-1', body: '{}', userAgent: 'leasectl/9', nowMs: 0, timing: machineTiming, stop, resolve }
}

/** A name server that returns one address after the other; the last repeatedly. */
function answering(...addresses: string[]): Resolve & { readonly asked: () => number } {
  let asked = 0
  const resolve: Resolve = async () => {
    const address = addresses[Math.min(asked++, addresses.length - 1)] ?? ''
    return [{ address, family: isIP(address) }]
  }
  return Object.assign(resolve, { asked: () => asked })
}

/** The webhook without protection: the address is checked first, and a second lookup is used for the connection. */
async function naivePost(url: string, resolve: Resolve, isAllowed: (address: string) => boolean): Promise<string> {
  const [seen] = await resolve('', {})
  if (seen === undefined || !isAllowed(seen.address)) return 'address-refused'
  return new Promise((done, fail) => {
    const lookup = guardedLookup(['0.0.0.0/0'], resolve)
    request(url, { method: 'POST', agent: false, lookup }, response => {
      response.resume().on('end', () => done(`http-${response.statusCode}`))
    })
      .on('error', fail)
      .end('{}')
  })
}

/** The check of all cases: the victim got no request, and the address was refused. */
const isRefused = (code: string, victimBefore: number) => code === 'address-refused' && arrived.victim === victimBefore

describe('an address', () => {
  test('outside the public internet is refused, directly and as the target of a name', async () => {
    let tried = 0
    const victimBefore = arrived.victim
    for (const address of [...INNER, ...CLOSED]) {
      const host = isIP(address) === 6 ? `[${address.split('%')[0]}]` : address
      const attempts = [
        await post(`http://${host}:${port}/`),
        await post(`http://h.example:${port}/`, answering(address)),
      ]
      for (const { code, output } of attempts)
        expect([address, code, output]).toEqual([address, 'address-refused', output])
      expect(attempts[0]?.output).toMatch(/is a private address|never receives webhooks/)
      tried += attempts.length
    }
    for (const host of LOOPBACK_FORMS) {
      const { code } = await post(`http://${host}:${port}/`)
      expect([host, code, arrived.victim]).toEqual([host, 'address-refused', victimBefore])
      tried += 1
    }
    row.figure('addresses', tried)
    row.figure('requests that arrived', arrived.victim - victimBefore, '0')
    row.injected('inner and closed addresses', tried)
  })

  test('of the public internet is allowed; so is one of an allowed network, but none of a denied one', async () => {
    for (const address of PUBLIC) expect([address, sideOf(address)]).toEqual([address, 'public'])
    const openBefore = arrived.open
    expect((await post(`http://${OPEN}:${port}/`)).code).toBe('http-204')
    expect(arrived.open).toBe(openBefore + 1)
    for (const address of CLOSED) expect([address, sideOf(address)]).toEqual([address, 'closed'])
  })

  test('is judged like a list of blocks, at both ends of each block and within', () => {
    const oracle = new BlockList()
    for (const [first, prefix] of BLOCKS) oracle.addSubnet(first, prefix, 'ipv4')
    const addresses = [...BLOCKS.flatMap(edgesOf), ...randomAddresses(SEED, sized(5_000, 100_000))]
    const differing = addresses.filter(address => (sideOf(address) === 'public') === oracle.check(address))
    expect(differing, repeatWith('test/security/webhooks.test.ts', SEED)).toEqual([])
  })
})

describe('a name', () => {
  test('that changes its address a moment later is judged by the address of the connection', async () => {
    const resolve = answering(OPEN, VICTIM)
    const url = `http://rebinds.example:${port}/`
    const victimBefore = arrived.victim
    expect((await post(url, resolve)).code).toBe('http-204')
    expect(resolve.asked()).toBe(1)
    expect(isRefused((await post(url, resolve)).code, victimBefore)).toBe(true)
    row.injected('name servers that change their mind', 1)

    const code = await naivePost(url, answering(OPEN, VICTIM), address => address === OPEN)
    const failed = !isRefused(code, victimBefore)
    expect(failed).toBe(true)
    row.control('the address is looked at before, and looked up again to connect', failed)
  })

  test('with internal and public addresses is connected to the public ones only', async () => {
    const both: Resolve = async () => [
      { address: VICTIM, family: 4 },
      { address: OPEN, family: 4 },
    ]
    const [openBefore, victimBefore] = [arrived.open, arrived.victim]
    expect((await post(`http://both.example:${port}/`, both)).code).toBe('http-204')
    expect([arrived.open, arrived.victim]).toEqual([openBefore + 1, victimBefore])
  })

  test('without an address, or whose lookup fails, is retried', async () => {
    expect(await post(`http://none.example:${port}/`, async () => [])).toMatchObject({ kind: 'repeat' })
    const down: Resolve = () => Promise.reject(Object.assign(new Error('x'), { code: 'EAI_AGAIN' }))
    expect(await post(`http://down.example:${port}/`, down)).toEqual({ kind: 'repeat', code: 'EAI_AGAIN', output: '' })
  })
})

test('a redirect is not followed', async () => {
  answer = { status: 307, location: `http://${VICTIM}:${port}/latest/meta-data/` }
  const url = `http://${OPEN}:${port}/`
  const victimBefore = arrived.victim
  expect((await post(url)).code).toBe('http-307')
  expect(arrived.victim).toBe(victimBefore)
  row.injected('redirects to an inner address', 1)

  // the victim redirects to itself, which ends with an error
  await fetch(url, { method: 'POST', body: '{}' }).catch(() => {})
  const failed = arrived.victim > victimBefore
  answer = { status: 204 }
  expect(failed).toBe(true)
  row.control('redirects are followed', failed)
})

test('a proxy in the environment is not used', async () => {
  const proxy = `http://${VICTIM}:${port}`
  const env = { PATH: process.env.PATH, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy, http_proxy: proxy, NO_PROXY: '' }
  const module = new URL('../../src/watchdog/hooks/webhook.ts', import.meta.url).href
  const url = `http://${OPEN}:${port}/`
  const target = JSON.stringify({ kind: 'webhook', url, networks: [OPEN], timeoutMs: 30_000, tries: 1 })
  const input = `{ id: 'x', body: '{}', userAgent: 'x', nowMs: 0, stop: new AbortController().signal,
    timing: { pause: (_, signal) => new Promise(go => signal.addEventListener('abort', go)) } }`
  const ours = `const { postWebhook } = await import(${JSON.stringify(module)})
    console.log((await postWebhook(${target}, ${input})).code)`
  const run = async (text: string) =>
    (await promisify(execFile)(process.execPath, ['--no-warnings', '--input-type=module', '-e', text], { env })).stdout

  const before = { ...arrived }
  expect((await run(ours)).trim()).toBe('http-204')
  expect(arrived).toEqual({ open: before.open + 1, victim: before.victim })
  row.injected('proxies in the environment', 1)

  const usual = `const { request } = await import('node:http')
    request(${JSON.stringify(url)}, { method: 'POST' }, response => response.resume()).on('error', () => {}).end('{}')`
  await run(usual)
  const failed = arrived.victim > before.victim
  expect(failed).toBe(true)
  row.control('requests go where the environment says', failed)
})

const BLOCKS: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

function edgesOf([first, prefix]: readonly [string, number]): string[] {
  const value = first.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const size = 2 ** (32 - prefix)
  return [value - 1, value, value + size - 1, value + size].filter(each => each >= 0 && each < 2 ** 32).map(dotted)
}

function* randomAddresses(seed: number, count: number): Generator<string> {
  let state = seed >>> 0
  for (let at = 0; at < count; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield dotted(state)
  }
}

function dotted(value: number): string {
  return [24, 16, 8, 0].map(shift => (value / 2 ** shift) & 255).join('.')
}
