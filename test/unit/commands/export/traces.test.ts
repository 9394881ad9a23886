import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { before, given, namesOf, unreadable } from '../batch/support.ts'
import { cli, newWorld, type World } from '../support.ts'
import { filesIn, folder, textOf } from '../transfer/support.ts'

async function withStreams(...names: string[]): Promise<World> {
  const world = newWorld()
  await given(world, names, ['A', 'B'])
  return world
}

interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: object }[] }
    readonly scopeSpans: readonly { readonly spans: readonly { readonly traceId: string }[] }[]
  }[]
}

const spansIn = ({ resourceSpans }: Traces) =>
  resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))

describe('one file for all streams', () => {
  test('is made for a trace viewer', async () => {
    const file = join(folder(), 'trace.json')
    const ran = await cli(await withStreams('a', 'b'), ['export', '--all', '-o', 'chrome', '--to', file])
    expect(ran).toMatchObject({ exit: 0, stderr: '2 streams: 2 done\n' })
    expect(ran.stdout).toBe(`✓ done     a  written  ${file}\n✓ done     b  written  ${file}\n`)
    const { traceEvents } = JSON.parse(textOf(file)) as { traceEvents: { ph: string; pid: number }[] }
    expect(traceEvents.filter(({ ph }) => ph === 'X').map(({ pid }) => pid)).toEqual([1, 1, 1, 2, 2, 2])
  })

  test('has one line of OTLP per stream', async () => {
    const file = join(folder(), 'traces.jsonl')
    const env = { OTEL_SERVICE_NAME: 'orders' }
    expect(
      (await cli(await withStreams('a', 'b'), ['export', '--all', '-o', 'otlp', '--to', file], { env })).exit,
    ).toBe(0)
    const lines = textOf(file)
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Traces)
    expect(lines.map(line => spansIn(line).length)).toEqual([3, 3])
    expect(lines[0]?.resourceSpans[0]?.resource.attributes[0]).toEqual({
      key: 'service.name',
      value: { stringValue: 'orders' },
    })
  })

  test.each(['chrome', 'otlp'])('with -o %s without --to goes to stdout, complete even if empty', async format => {
    const all = await cli(await withStreams('a', 'b'), ['export', '--all', '-o', format])
    expect(all).toMatchObject({ exit: 0, stderr: '2 streams: 2 done\n' })
    expect(all.stdout).toContain('00')
    const none = await cli(newWorld(), ['export', '--all', '-o', format])
    expect(none).toMatchObject({ exit: 0, stdout: format === 'chrome' ? expect.stringContaining('[') : '' })
    if (format === 'chrome') expect(JSON.parse(none.stdout)).toMatchObject({ traceEvents: [] })
  })

  test('that exists is left alone without --replace', async () => {
    const file = join(folder(), 'trace.json')
    writeFileSync(file, 'mine')
    const argv = ['export', '--all', '-o', 'chrome', '--to', file]
    expect(await cli(await withStreams('a'), argv)).toMatchObject({ exit: 5, stdout: '' })
    expect(textOf(file)).toBe('mine')
    expect((await cli(await withStreams('a'), [...argv, '--replace'])).exit).toBe(0)
    expect(textOf(file)).toContain('traceEvents')
  })

  test('omits and reports an unreadable document: exit 7', async () => {
    const world = await withStreams('a', 'c')
    await unreadable(world, 'b')
    const ran = await cli(world, ['export', '--all', '-o', 'otlp'])
    expect(ran.exit).toBe(7)
    expect(ran.stdout.trimEnd().split('\n')).toHaveLength(2)
    expect(ran.stderr).toMatch(/failed +1: b/)
  })

  test('is removed if the disk is full, which is reported', async () => {
    const ran = await cli(await withStreams('a'), ['export', '--all', '-o', 'chrome', '--to', '/dev/full'])
    expect(ran).toMatchObject({ exit: 9, stdout: '' })
    expect(ran.stderr).toMatch(/no space left for \/dev\/full \(ENOSPC\) .*\[store-full\]/)
  })

  test('is removed on an interrupt', async () => {
    const world = await withStreams(...namesOf(20))
    const to = folder()
    const interruption = new AbortController()
    const store = before(world.store, 'read', name => {
      if (name === 's010') interruption.abort('SIGINT')
    })
    const argv = ['export', '--all', '-o', 'chrome', '--to', join(to, 'f'), '--concurrency', '1']
    expect((await cli(world, argv, { store, signal: interruption.signal })).exit).toBe(130)
    expect(filesIn(to)).toEqual([])
  })

  test('is refused if a folder is in its place, or none around it', async () => {
    const to = folder()
    const argv = (path: string) => ['export', '--all', '-o', 'chrome', '--to', path]
    expect((await cli(await withStreams('a'), argv(to))).exit).toBe(2)
    expect((await cli(await withStreams('a'), argv(join(to, 'no', 'file')))).exit).toBe(9)
    expect(filesIn(to)).toEqual([])
  })
})

interface Answer {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** A collector on this machine that gives these answers, the last one repeatedly. */
async function collector(...answers: readonly Answer[]) {
  const requests: { readonly request: IncomingMessage; readonly body: Traces }[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const answer = answers[requests.length] ?? answers.at(-1) ?? { status: 200, body: '{}' }
    requests.push({ request, body: JSON.parse(text) as Traces })
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

describe('a collector', () => {
  const send = (world: World, url: string, env: Record<string, string> = {}) =>
    cli(world, ['export', '--all', '-o', 'otlp', '--endpoint', url], { env })

  test('gets several streams in one request, at /v1/traces unless the path says otherwise', async () => {
    const { url, requests } = await collector()
    const ran = await send(await withStreams('a', 'b'), url)
    expect(ran).toMatchObject({ exit: 0, stdout: '✓ done     a  sent\n✓ done     b  sent\n' })
    expect(requests.map(({ request: { method, url: path } }) => [method, path])).toEqual([['POST', '/v1/traces']])
    expect(requests[0]?.request.headers['content-type']).toBe('application/json')
    expect(requests.flatMap(({ body }) => spansIn(body))).toHaveLength(6)
    await send(await withStreams('a'), `${url}/otlp`)
    expect(requests[1]?.request.url).toBe('/otlp')
  })

  test('gets at most 500 spans at a time', async () => {
    const { url, requests } = await collector()
    const world = await withStreams(...namesOf(200))
    await given(
      world,
      ['x'],
      Array.from({ length: 1_100 }, () => 'A'),
    )
    expect((await send(world, url)).exit).toBe(0)
    expect(requests.map(({ body }) => spansIn(body).length)).toEqual([498, 102, 500, 500, 101])
  })

  test('gets the headers of the environment, which are never printed', async () => {
    const { url, requests } = await collector({ status: 401, body: 'se%cret' })
    const ran = await send(await withStreams('a'), url, {
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20se%25cret, x-tenant = t1',
    })
    expect(requests[0]?.request.headers).toMatchObject({ authorization: 'Bearer se%cret', 'x-tenant': 't1' })
    expect(ran.exit).toBe(4)
    expect(ran.stdout + ran.stderr).not.toMatch(/se%25cret|se%cret/)
  })

  test.each(['Bearer secret', 'a=%zz-secret', 'a=secret%0d%0aX: y', '=secret'])(
    'gets no request if the headers are unreadable: exit 2, not repeated: %s',
    async headers => {
      const { url, requests } = await collector()
      const ran = await send(await withStreams('a'), url, { OTEL_EXPORTER_OTLP_HEADERS: headers })
      expect(ran.exit).toBe(2)
      expect(ran.stderr).not.toContain('secret')
      expect(requests).toEqual([])
    },
  )

  test.each([
    [401, 4, 'not-permitted'],
    [403, 4, 'not-permitted'],
    [400, 9, 'endpoint-refused'],
    [404, 9, 'endpoint-refused'],
    [500, 9, 'endpoint-unreachable'],
  ])('that answers %i ends the export with exit %i, at the first request', async (status, exit, code) => {
    const { url, requests } = await collector({ status })
    const ran = await send(await withStreams(...namesOf(170)), url)
    expect(ran).toMatchObject({ exit })
    expect(ran.stderr).toContain(`HTTP ${status}`)
    expect(ran.stderr).toContain(`[${code}]`)
    expect(requests).toHaveLength(1)
  })

  test('is not followed to another address', async () => {
    const elsewhere = await collector()
    const { url } = await collector({ status: 307, headers: { location: elsewhere.url } })
    const ran = await send(await withStreams('a'), url, { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=x' })
    expect(ran).toMatchObject({ exit: 9 })
    expect(ran.stderr).toContain('not followed')
    expect(elsewhere.requests).toEqual([])
  })

  test('that is busy gets the request again', async () => {
    const { url, requests } = await collector({ status: 503 }, { status: 200, body: '{}' })
    expect((await send(await withStreams('a'), url)).exit).toBe(0)
    expect(requests).toHaveLength(2)
  })

  test('that refuses some spans is reported', async () => {
    const body = JSON.stringify({ partialSuccess: { rejectedSpans: '2', errorMessage: 'too \u001b[31mold' } })
    const { url } = await collector({ status: 200, body })
    const ran = await send(await withStreams('a', 'b'), url)
    expect(ran.exit).toBe(7)
    expect(ran.stdout).toContain('refused 2 of the spans of this request: too ␛[31mold')
  })

  test('that is unreachable is exit 9', async () => {
    const ran = await send(await withStreams('a'), 'http://127.0.0.1:9')
    expect(ran).toMatchObject({ exit: 9 })
    expect(ran.stderr).toContain('does not answer')
  })
})
