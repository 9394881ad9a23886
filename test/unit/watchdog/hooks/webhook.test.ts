import { afterEach, describe, expect, test } from 'vitest'
import { SigningSecret, type WebhookTarget } from '../../../../src/watchdog/hooks/target.ts'
import { postWebhook, type WebhookInput } from '../../../../src/watchdog/hooks/webhook.ts'
import { NOW } from '../../ops/support.ts'
import { heldTiming, LOOPBACK, type Receiver, receiver } from './support.ts'

const SECRET = 'a secret of sixteen bytes or more'

let opened: Receiver | undefined
afterEach(async () => opened?.close())

async function open(...given: Parameters<typeof receiver>): Promise<Receiver> {
  opened = await receiver(...given)
  return opened
}

function post(url: string, about: Partial<WebhookTarget> = {}, input: Partial<WebhookInput> = {}) {
  const target = { kind: 'webhook', url, ...LOOPBACK, timeoutMs: 30_000, tries: 1, ...about } as const
  const stop = new AbortController().signal
  const usual = {
    id: 'done-1',
    body: '{"a":"ä"}\n',
    userAgent: 'leasectl/9',
    nowMs: NOW + 999,
    timing: heldTiming(),
    stop,
  }
  return postWebhook(target, { ...usual, ...input })
}

describe('a webhook', () => {
  test('gets the document with its id, the time of this attempt and a signature of all three', async () => {
    const { url, received } = await open()
    const secret = SigningSecret.read(SECRET)
    if (typeof secret === 'string') throw new Error(secret)
    expect(await post(url, { secret })).toEqual({ kind: 'delivered', code: 'http-204', output: '' })
    const [{ headers, body } = { headers: {}, body: '' }] = received
    expect(body).toBe('{"a":"ä"}\n')
    const timestamp = Math.floor(NOW / 1_000)
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'leasectl/9',
      'idempotency-key': 'done-1',
      'webhook-id': 'done-1',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': secret.sign('done-1', timestamp, body),
    })
  })

  test('without a secret is not signed', async () => {
    const { url, received } = await open()
    await post(url)
    expect(received[0]?.headers).not.toHaveProperty('webhook-signature')
  })

  test.each<readonly [number, string]>([
    [200, 'delivered'],
    [299, 'delivered'],
    ...[301, 308, 400, 405, 410, 413, 414, 415, 422, 431].map(status => [status, 'hopeless'] as const),
    ...[302, 307, 401, 403, 404, 408, 409, 425, 429].map(status => [status, 'repeat'] as const),
    [500, 'repeat'],
    [503, 'repeat'],
  ])('that answers %d: %s', async (status, kind) => {
    const { url } = await open(response => response.writeHead(status).end('why \u001b[2J not'))
    expect(await post(url)).toEqual({ kind, code: `http-${status}`, output: 'why  not' })
  })

  test('that redirects is not followed', async () => {
    const { url, received } = await open(response => response.writeHead(307, { location: '/other' }).end())
    expect(await post(url)).toMatchObject({ code: 'http-307' })
    expect(received).toHaveLength(1)
  })

  test.each([
    ['7', 7_000],
    ['99999', 120_000],
    [new Date(NOW + 31_000).toUTCString(), 30_001],
    [new Date(NOW - 31_000).toUTCString(), 0],
    ['soon', undefined],
  ])('that requests a pause, retry-after: %s', async (text, retryAfterMs) => {
    const { url } = await open(response => response.writeHead(503, { 'retry-after': text }).end())
    expect((await post(url)).retryAfterMs).toBe(retryAfterMs)
  })

  test('that is unreachable, or closes the connection, is retried, and its address is not reported', async () => {
    const { url, close } = await open(response => response.destroy())
    const canary = `${url}?token=canary`
    expect(JSON.stringify(await post(canary))).toMatch(/"repeat","code":"ECONNRESET"/)
    await close()
    opened = undefined
    const gone = await post(canary)
    expect(gone).toEqual({ kind: 'repeat', code: 'ECONNREFUSED', output: '' })
  })

  test('that does not answer in time is retried', async () => {
    const timing = heldTiming()
    const { url, came } = await open(() => {})
    const posting = post(url, {}, { timing })
    await came(1)
    timing.passed()
    expect(await posting).toEqual({ kind: 'repeat', code: 'timed-out', output: '' })
  })

  test('in flight when the watchdog stops has an unknown outcome', async () => {
    const stop = new AbortController()
    const { url, came } = await open(() => {})
    const posting = post(url, {}, { stop: stop.signal })
    await came(1)
    stop.abort()
    expect(await posting).toEqual({ kind: 'stopped', code: 'stopped', output: '' })
  })

  test('with an endless answer is read for 4 KiB', async () => {
    const { url } = await open(response => {
      response.writeHead(200)
      const flood = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      }
      response.on('drain', flood)
      flood()
    })
    const { kind, output } = await post(url)
    expect([kind, output.length]).toEqual(['delivered', 4_096])
  })

  test('that accepted counts as delivered, whatever the rest of its answer', async () => {
    const { url } = await open(response => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('yes, b', () => response.destroy())
    })
    expect(await post(url)).toMatchObject({ kind: 'delivered', code: 'http-200' })
  })
})
