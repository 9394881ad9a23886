import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { answerProblem, type RawAnswer } from '../../../../src/store/azure/answers.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { bytes, changeOptions, holder, listed, stored, summary, text } from '../../../contract/harness.ts'
import { behindProxy } from './support.ts'

const STATUSES = [200, 302, 403, 404, 407, 412, 511] as const

const append = (id: string) => (current: { readonly body: Uint8Array }) => {
  const body = text(current.body)
  if (body.includes(id)) return { kind: 'leave' as const }
  return { kind: 'put' as const, body: bytes(`${body}${id};`), summary: summary() }
}

async function scene(atEnd = onTestFinished) {
  const found = await behindProxy({ random: () => 0 })
  atEnd(found.end)
  return found
}

describe('an answer of an intermediary', () => {
  test.each(STATUSES)('with HTTP %d is not an answer: every operation retries and completes', async status => {
    const { direct, proxy, store } = await scene()
    const leaseId = randomUUID()
    const works: readonly (readonly [string, (over: StreamStore) => Promise<unknown>])[] = [
      ['read', over => over.read('s')],
      ['list', over => listed(over)],
      ['list in any order', over => listed(over, { order: 'any' })],
      ['create', async over => (await over.create('new', bytes('x'), summary())).kind],
      ['change', async over => (await over.update('s', append('a'), changeOptions())).kind],
      ['acquire', over => over.acquireLease('s', { leaseId, durationS: 60, holder: holder('ada') })],
      ['renew', over => over.renewLease('s', leaseId)],
      ['change the lease', over => over.changeLeaseId('s', leaseId, leaseId)],
      ['release', over => over.releaseLease('s', leaseId)],
      ['break', over => over.breakLease('s', 0)],
      ['remove', async over => over.remove('s', { etag: (await stored(direct, 's')).etag })],
      ['create the container', over => over.createContainer()],
    ]
    for (const [name, work] of works) {
      proxy.reset()
      proxy.add({ kind: 'forged-before', status, times: 1 })
      const outcome = await work(store)
      proxy.heal()
      expect(proxy.injected, name).toHaveLength(1)
      // A write that may have been applied is reported as such; all others are done.
      if (name === 'create') expect(outcome).toBe('unknown')
      else expect(outcome, name).not.toMatchObject({ kind: expect.stringMatching(/unknown|lost|held|missing/) })
    }
    expect(await direct.read('s')).toBeUndefined()
  })

  test.each(STATUSES)('with HTTP %d after an applied Put is not a refusal: a read decides', async status => {
    const { direct, proxy, store } = await scene()
    for (const write of ['lease', 'optimistic'] as const) {
      proxy.add({ kind: 'forged-after', on: 'put', status, times: 1 })
      expect(await store.update('s', append(write), changeOptions({ write }))).toMatchObject({
        kind: 'committed',
      })
    }
    expect(text((await stored(direct, 's')).body)).toBe('lease;optimistic;')
  })

  // It waits for all retries.
  test.concurrent.for(STATUSES)(
    'with HTTP %d and no other answer makes the service unreachable, and the error quotes it',
    async (status, { expect, onTestFinished }) => {
      const { proxy, store } = await scene(onTestFinished)
      proxy.add({ kind: 'forged-before', status })
      const why = new RegExp(`^127\\.0\\.0\\.1:\\d+ does not answer: HTTP ${status} text/html without x-ms-request-id$`)
      for (const work of [() => store.read('s'), () => listed(store)]) {
        const error = await work().catch(thrown => thrown)
        expect(error).toBeInstanceOf(StoreUnreachable)
        expect(error.message).toMatch(why)
        expect(error.hint).toMatch(/did not come from Azure/)
      }
      const { unknown } = await store.inspect()
      expect(Object.values(unknown).join()).toContain(`HTTP ${status}`)
    },
  )

  test('does not set the clock', async () => {
    const { direct, proxy, store } = await scene()
    proxy.add({ kind: 'forged-before', status: 200, times: 1 })
    proxy.add({ kind: 'forged-before', status: 403, times: 1 })
    await store.read('s')
    expect(Math.abs(store.nowMs() - direct.nowMs())).toBeLessThan(60 * 60 * 1_000)
  })

  test.each([301, 302, 303, 307, 308])(
    'that redirects (%d) is not followed, neither to the same host nor to another',
    async status => {
      const { proxy, store } = await scene()
      const met: string[] = []
      const stranger = createServer((request, response) => {
        met.push(`${request.method} ${request.url} ${request.headers.authorization}`)
        response.end('welcome')
      })
      await new Promise<void>(resolve => stranger.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void stranger.close())
      for (const location of [`http://127.0.0.1:${(stranger.address() as AddressInfo).port}/steal`, '/login']) {
        proxy.reset()
        proxy.add({ kind: 'forged-before', status, location, times: 1 })
        expect(await store.read('s')).toMatchObject({ name: 's' })
        expect(proxy.requests.map(({ operation }) => operation)).toEqual(['get', 'get'])
        expect(proxy.requests.map(({ target }) => target)).not.toContainEqual(expect.stringContaining('login'))
      }
      expect(met).toEqual([])
    },
  )
})

describe('the answers of the service', () => {
  const answer = (method: string, path: string, status: number, headers: Record<string, string>): RawAnswer => ({
    status,
    headers: { get: name => headers[name] },
    request: { method, url: `http://h/a/c${path}` },
  })
  const id = { 'x-ms-request-id': '1' }
  const whole = { ...id, etag: '"1"' }

  test.each([
    ['GET', '/s', 200, whole, undefined],
    ['GET', '/s', 200, id, 'HTTP 200 without ETag'],
    ['HEAD', '/s', 200, id, 'HTTP 200 without ETag'],
    ['PUT', '/s?comp=lease', 201, id, 'HTTP 201 without ETag'],
    ['PUT', '/s?sig=comp=list&sv=1', 201, id, 'HTTP 201 without ETag'],
    ['DELETE', '/s', 202, id, undefined],
    ['GET', '?restype=container&comp=list', 200, id, undefined],
    ['GET', '?sig=x&restype=account&comp=properties', 200, id, undefined],
    ['GET', '?restype=service&comp=properties', 200, id, undefined],
    ['GET', '?restype=container', 200, id, 'HTTP 200 without ETag'],
    ['GET', '/s', 404, id, undefined],
    ['PUT', '/s', 412, id, undefined],
    ['GET', '/s', 302, whole, 'HTTP 302, a redirect'],
    ['GET', '/s', 404, { 'content-type': 'text/html; charset=x' }, 'HTTP 404 text/html without x-ms-request-id'],
    ['GET', '/s', 404, { 'content-type': '\u001b[2J/x' }, 'HTTP 404 without x-ms-request-id'],
  ] as const)('%s %s %d: %o', (method, path, status, headers, problem) => {
    expect(answerProblem(answer(method, path, status, headers))).toBe(problem)
  })
})
