import { describe, expect, test } from 'vitest'
import {
  deliveryEntry,
  faultEntry,
  listeningEntry,
  recoveryEntry,
  shortTime,
  startEntry,
  stopEntry,
  stoppingEntry,
} from '../../../../../src/commands/watchdog/log/entries.ts'
import { jsonSink } from '../../../../../src/commands/watchdog/log/sink.ts'
import { StoreUnreachable } from '../../../../../src/store/errors.ts'
import { carried, expiry, failedPass, sweepReport } from '../../../watchdog/reports.ts'
import { logWorld } from './world.ts'

const KEY = 'Zm9vYmFyY2FuYXJ5a2V5Zm9vYmFyY2FuYXJ5a2V5Zm9vYmFyY2FuYXJ5a2V5Zm9vYmFyY2FuYXJ5a2V5MTIzNA=='
const SIG = 'cANARY%2Bsignature%2Fof%2Fa%2Fsas%3D'

/** OSC 52, CSI, C1, DEL, bidi, zero width, tags, line separators. */
const HOSTILE =
  '\u001b]52;c;aGk=\u0007\u001b[2J\u009b31m\u007f\u202e\u2066\u200b\ufeff\u{e0041}\u2028\r\nforged line\u0085'

describe('on a terminal', () => {
  test('a line is readable: wall clock times, timeouts as typed, no JSON', async () => {
    const { log, lines } = await logWorld({}, true)
    await log.executed?.(carried('ended'))
    expect(lines()).toEqual([
      '14:02:11Z ended    orders/4711 01.02.00 Search: no sign of life since 14:00:11Z (timeout 2m), 0.4s late',
    ])
  })

  test('-o json gives JSON there too', async () => {
    const { log, entries } = await logWorld({ output: 'json' }, true)
    await log.passed?.(sweepReport())
    expect(entries()).toMatchObject([{ kind: 'pass', pass: 'sweep', total: 2 }])
  })

  test('color marks the word, and is omitted unless enabled', async () => {
    for (const [color, painted] of [
      ['always', true],
      ['never', false],
    ] as const) {
      const { log, lines } = await logWorld({ color }, true)
      await log.failed?.(failedPass())
      expect(lines()[0]?.includes('\u001b[31moutage')).toBe(painted)
    }
  })

  test('-q and -v work as for JSON', async () => {
    const quiet = await logWorld({ quiet: true }, true)
    await quiet.log.executed?.(carried('ended'))
    expect(quiet.lines()).toEqual([])
    const verbose = await logWorld({ verbose: true }, true)
    await verbose.log.executed?.(carried('already'))
    expect(verbose.lines()).toHaveLength(1)
  })
})

describe('errors outside the passes', () => {
  test.each([
    ['busy', 'another process holds its lease', 'lease-held'],
    ['unknown', 'no answer; it may have been written', 'unknown'],
    [new DOMException('x', 'TimeoutError'), 'the store did not answer in time', 'store-unreachable'],
    [new StoreUnreachable('no answer'), 'no answer', 'store-unreachable'],
    ['constructor', 'constructor', 'unexpected'],
  ])('of the kind %s are a sentence with a code', (why, message, code) => {
    expect(faultEntry('state', 'not written', why)).toEqual({
      level: 'warn',
      kind: 'state',
      text: `not written: ${message} [${code}]`,
      fields: { code, error: message },
    })
  })

  test('are reported as over by the same kind', () => {
    expect(recoveryEntry('state', 'written again')).toEqual({ level: 'info', kind: 'state', text: 'written again' })
  })
})

describe.each([
  ['JSON', false],
  ['readable lines', true],
] as const)('%s', (_, terminal) => {
  test('contain no control character of foreign text, and are one line each', async () => {
    const { log, lines } = await logWorld({ verbose: true }, terminal)
    const decision = expiry({ stream: HOSTILE, event: HOSTILE, name: HOSTILE, message: HOSTILE, commandId: HOSTILE })
    await log.executed?.(carried('ended', { decision, ended: [HOSTILE] }))
    await log.executed?.(carried('failed', { decision, code: HOSTILE, message: HOSTILE }))
    await log.executed?.(carried('settled', { decision: { ...decision, kind: 'settle', operation: { op: 'settle' } } }))
    await log.planned?.(decision)
    await log.unreadable?.(HOSTILE, HOSTILE)
    await log.failed?.(failedPass({ message: HOSTILE, code: HOSTILE }))
    log.note(deliveryEntry(delivery({ stream: HOSTILE, target: HOSTILE, output: HOSTILE, code: HOSTILE })))
    log.note(faultEntry('shards', HOSTILE, new Error(HOSTILE)))
    log.note(startEntry({ version: '1', store: HOSTILE, pid: 1, settings: { match: HOSTILE } }))
    const told = lines()
    expect(told).toHaveLength(9)
    expect(told.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/)
    if (!terminal) expect(told.join('')).not.toMatch(/[\u200b\ufeff]|[\u{e0000}-\u{e007f}]/u)
  })

  test('contain no secret for signing requests', async () => {
    const { log, lines } = await logWorld({ verbose: true }, terminal)
    for (const secret of SECRETS) {
      const error = Object.assign(new Error(secret), { request: { url: secret }, stack: secret })
      await log.failed?.(failedPass({ code: 'unexpected', message: secret, error }))
      await log.executed?.(carried('failed', { code: secret.slice(0, 5), message: secret }))
      await log.unreadable?.(secret, secret)
      log.note(faultEntry('state', 'cannot be written', new StoreUnreachable(secret, { cause: error })))
      log.note(deliveryEntry(delivery({ output: secret })))
    }
    const told = lines().join('\n')
    expect(told).toContain('sig=…')
    expect(told).toContain('acct.blob.core.windows.net')
    expect(told).not.toContain('Zm9vYmFyY2FuYXJ5')
    expect(told).not.toMatch(/cANARY/i)
  })
})

/** The possible content of an SDK error: a SAS, plain and encoded again, a connection string, headers, user info. */
const SECRETS = [
  `GET https://acct.blob.core.windows.net/box/a?sv=2025-01-05&sp=rw&sig=${SIG} failed`,
  `GET https://acct.blob.core.windows.net/box/a?sig=${SIG}&sv=2025-01-05 failed`,
  `https://proxy/?to=${encodeURIComponent(`https://acct.blob.core.windows.net/?sv=1&sig=${SIG}`)}`,
  `https://proxy/?to=${encodeURIComponent(`https://acct.blob.core.windows.net/?sig=${SIG}`)}`,
  `DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=${KEY};EndpointSuffix=core.windows.net`,
  `BlobEndpoint=https://x;SharedAccessSignature=sv=2025&sig=${SIG}`,
  `{"Authorization":"SharedKey acct:${KEY}"}`,
  `authorization: Bearer cANARYtoken.cANARY.x`,
  `https://user:cANARY@proxy.example/`,
]

describe('start and stop', () => {
  test('are logged with the program, the store, and the reason for stopping', async () => {
    const { log, entries } = await logWorld()
    log.note(startEntry({ version: '1.2.3', store: 'azure:acct/box', pid: 7, settings: { intervalMs: 10_000 } }))
    log.note(stoppingEntry('SIGTERM'))
    log.note(stopEntry(412.4))
    expect(entries()).toMatchObject([
      { kind: 'start', version: '1.2.3', store: 'azure:acct/box', pid: 7, intervalMs: 10_000 },
      { kind: 'stopping', signal: 'SIGTERM' },
      { kind: 'stop', tookMs: 412, msg: 'stopped after 0.4s' },
    ])
  })

  test('warn about an address that others can reach', async () => {
    const { log, entries } = await logWorld()
    log.note(listeningEntry({ address: '127.0.0.1:9464', isLoopback: true }))
    log.note(listeningEntry({ address: '0.0.0.0:9464', isLoopback: false }))
    expect(entries()).toMatchObject([
      { level: 'info', msg: '/livez, /readyz and /metrics are on http://127.0.0.1:9464' },
      { level: 'warn', msg: expect.stringContaining('without authentication') },
    ])
  })
})

test.each([
  ['delivered', 'debug'],
  ['retrying', 'warn'],
  ['given-up', 'error'],
  ['left', 'info'],
] as const)('a delivery to a hook that is %s is of level %s', async (outcome, level) => {
  const { log, entries } = await logWorld({ verbose: true })
  log.note(deliveryEntry(delivery({ outcome })))
  expect(entries()).toMatchObject([{ level, kind: 'hook', hook: 'expired', outcome, tries: 3, code: 'exit-3' }])
})

test('a blocked stderr neither delays the log nor fills the memory', async () => {
  const release = Promise.withResolvers<void>()
  let written = 0
  const write = () => {
    written++
    return release.promise
  }
  const sink = jsonSink({ stderr: { isTty: false, columns: undefined, write }, level: 'info', nowMs: () => 0 })
  for (let lines = 0; lines < 10_500; lines++) sink(stopEntry(lines))
  expect(written).toBe(10_000)
  release.resolve()
  await new Promise(resolve => setImmediate(resolve))
  sink(stopEntry(1))
  expect(written).toBe(10_001)
})

function delivery(more: Partial<Parameters<typeof deliveryEntry>[0]> = {}): Parameters<typeof deliveryEntry>[0] {
  return {
    kind: 'expired',
    stream: 'orders/4711',
    deliveryId: 'id',
    target: '/usr/local/bin/page',
    outcome: 'retrying',
    tries: 3,
    tookMs: 1_234,
    code: 'exit-3',
    output: 'no pager',
    ...more,
  }
}

test.each([
  [0, '0ms'],
  [99.4, '99ms'],
  [412, '0.4s'],
  [9_940, '9.9s'],
  [10_000, '10s'],
  [134_000, '2m14s'],
  [-5, '0ms'],
])('%d ms are shown as %s', (ms, text) => {
  expect(shortTime(ms)).toBe(text)
})
