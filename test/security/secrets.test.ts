import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StoreUnreachable } from '../../src/store/errors.ts'
import { openStore } from '../../src/store/open.ts'
import type { EventStore } from '../../src/store/store.ts'
import { cli, newWorld, STATE_HOME } from '../commands/support.ts'
import { trustRow } from '../trust/record.ts'
import { sized } from '../trust/size.ts'
import { CLIENT_SECRET, connectionStrings, HOOK_SECRET, hitsIn, KEY, SAS, secretEnvironment } from './canaries.ts'
import { commandLines, uncalled } from './lines.ts'

const row = trustRow('secrets')

/** What a service may answer that has lost its mind: each answer repeats the request with what signs it. */
const ANSWERS = {
  'not permitted': [403, 'AuthenticationFailed'],
  'no container': [404, 'ContainerNotFound'],
  'a bad request': [400, 'InvalidHeaderValue'],
  'no XML': [200, ''],
} as const
type Answer = keyof typeof ANSWERS
type Way = 'key' | 'SAS'

const CASES = sized<readonly (readonly [Answer, readonly Way[]])[]>(
  [
    ['not permitted', ['SAS']],
    ['no XML', ['key']],
  ],
  (Object.keys(ANSWERS) as Answer[]).map(answer => [answer, ['key', 'SAS']] as const),
)

let service: Server
let endpoint = ''
let says: Answer = 'not permitted'
let signed = 0

beforeAll(async () => {
  service = createServer((request, response) => {
    const { url = '', headers } = request
    if (hitsIn(url).length > 0 || headers.authorization?.startsWith('SharedKey ')) signed += 1
    request.resume()
    const [status, code] = ANSWERS[says]
    const echo = `${url} ${headers.authorization} ${SAS} AccountKey=${KEY}`.replaceAll('&', '&amp;')
    const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${echo}</Message><Detail>${echo}</Detail></Error>`
    const told = code === '' ? {} : { 'x-ms-error-code': code }
    response.writeHead(status, { ...told, 'content-type': 'application/xml', date: new Date().toUTCString() }).end(body)
  })
  await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve))
  endpoint = `http://127.0.0.1:${(service.address() as AddressInfo).port}/acct`
})
afterAll(() => {
  service.close()
  service.closeAllConnections()
})

/** Files that command lines name: documents, and secrets where they belong. */
const FILES = mkdtempSync(join(tmpdir(), 'leasectl-secrets-'))
const PRIVATE = ['credential', 'hook.secret']
writeFileSync(join(FILES, 'a.xml'), '<EventStream><Event name="A" status="init" id="00"/></EventStream>')
writeFileSync(join(FILES, 'credential'), `AZURE_STORAGE_KEY=${KEY}\n`, { mode: 0o600 })
writeFileSync(join(FILES, 'hook.secret'), HOOK_SECRET, { mode: 0o600 })
writeFileSync(
  join(FILES, 'w.yaml'),
  [
    'on-done: {webhook: https://127.0.0.1:1/x, secret-file: hook.secret}',
    'webhooks: {allow: 127.0.0.1, networks: 127.0.0.1}',
  ].join('\n'),
)
chmodSync(FILES, 0o700)
mkdirSync(join(FILES, 'out'))
afterAll(() => rmSync(FILES, { recursive: true, force: true }))

const LINES = commandLines(FILES)

/** All that a command line says over a store, with all that helps to find faults. */
async function saidBy(argv: readonly string[], store: EventStore, connectionString: string): Promise<string> {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const loud = [...argv.slice(0, end), '--debug', '-v', ...argv.slice(end)]
  let said = ''
  for (const line of sized([loud], [argv, loud])) {
    const setting = { env: secretEnvironment(connectionString), store, others: { 'azure:acct/events': store } }
    const { stdout, stderr, questions } = await cli(newWorld(), line, setting)
    said += stdout + stderr + questions.join('')
  }
  return said
}

/** What each command line says that must not be said. */
async function leaksOver(stores: Partial<Record<Way, EventStore>>, lines = LINES): Promise<string[]> {
  const leaks: string[] = []
  for (const [path, argv] of lines) {
    for (const which of ['key', 'SAS'] as const) {
      const store = stores[which]
      const hits = store === undefined ? [] : hitsIn(await saidBy(argv, store, connectionStrings(endpoint)[which]))
      if (hits.length > 0) leaks.push(`${path} (${which}): ${hits}`)
    }
  }
  return leaks
}

async function realStores(): Promise<Record<Way, EventStore>> {
  const open = (AZURE_STORAGE_CONNECTION_STRING: string) =>
    openStore(`${endpoint}/events`, { AZURE_STORAGE_CONNECTION_STRING })
  const { key, SAS: sas } = connectionStrings(endpoint)
  return { key: await open(key), SAS: await open(sas) }
}

describe('a secret', () => {
  test(
    'is said by no command, whatever the service answers',
    async () => {
      expect(uncalled()).toEqual([])
      let hits = 0
      for (const [answer, ways] of CASES) {
        says = answer
        const stores = await realStores()
        const leaks = await leaksOver(Object.fromEntries(ways.map(way => [way, stores[way]])))
        expect([answer, leaks]).toEqual([answer, []])
        hits += leaks.length
        for (const store of Object.values(stores)) await store.close()
      }
      row.figure('commands', new Set(LINES.map(([path]) => path)).size)
      row.figure('hits', hits, '0')
      expect(signed).toBeGreaterThan(LINES.length)
      row.injected('signed requests that were answered with what signed them', signed)
    },
    sized(120_000, 600_000),
  )

  test('is in no file that was written', () => {
    const written = [FILES, STATE_HOME].filter(existsSync).flatMap(folder =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter(name => !PRIVATE.includes(name))
        .map(name => join(folder, name))
        .filter(path => statSync(path).isFile()),
    )
    expect(written.length).toBeGreaterThan(1)
    for (const path of written) expect([path, hitsIn(readFileSync(path, 'latin1'))]).toEqual([path, []])
  })

  test('is in no error, however deep it is looked into', async () => {
    says = 'not permitted'
    for (const store of Object.values(await realStores())) {
      const error = await store.read('s').catch((caught: unknown) => caught)
      expect(hitsIn(inspect([error, store.address], { depth: 20, showHidden: true, getters: true }))).toEqual([])
    }
  })

  test('that stands in an address is not repeated', async () => {
    const addresses = [
      `https://acct.blob.core.windows.net/events?${SAS}`,
      `https://acct:${KEY}@acct.blob.core.windows.net/events`,
      `azure:acct/events?${SAS}`,
      `azure:acct;AccountKey=${KEY}/events`,
    ]
    for (const address of addresses) {
      for (const argv of [
        ['ls', '--store', address, '--debug'],
        ['context', 'add', 'x', '--store', address],
        ['import', address],
      ]) {
        const { exit, stdout, stderr } = await cli(newWorld(), argv, { env: { LEASECTL_STORE: address } })
        expect([argv.slice(0, 2), exit === 0, hitsIn(stdout + stderr)]).toEqual([argv.slice(0, 2), exit === 0, []])
      }
    }
  })

  test('is seen where an error tells what the SDK knows', async () => {
    const leaks = await leaksOver(
      { SAS: leaking() },
      LINES.filter(([path]) => /^(ls|show|stats)$/.test(path)),
    )
    expect(leaks.length).toBeGreaterThan(0)
    row.control('errors carry the request', leaks.length > 0)
  })

  test('that an unforeseen error carries is left out where it is told', async () => {
    const fault = new TypeError(`GET ${endpoint}/c?${SAS} AccountKey=${KEY} client_secret=${CLIENT_SECRET}`)
    const { exit, stderr } = await cli(newWorld(), ['ls', '--debug'], { store: throwing(fault) })
    expect(exit).toBe(1)
    expect(stderr).toContain('TypeError: GET http')
    expect(hitsIn(stderr)).toEqual([])
  })
})

/** A driver that tells what an error of the SDK knows. */
function leaking(): EventStore {
  return throwing(new StoreUnreachable(`no answer to GET ${endpoint}/c?${SAS}`))
}

function throwing(error: Error): EventStore {
  return new Proxy(newWorld().store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function' || key === 'close' || key === 'nowMs') return value
      return () => {
        throw error
      }
    },
  })
}
