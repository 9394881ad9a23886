import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StoreUnreachable } from '../../src/store/errors.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { trustRow } from '../guarantees/record.ts'
import { sized } from '../guarantees/size.ts'
import { cli, newWorld, STATE_HOME } from '../unit/commands/support.ts'
import { CLIENT_SECRET, hitsIn, KEY, SAS, secretEnvironment } from './canaries.ts'
import { commandLines, uncalled } from './lines.ts'
import { ANSWERS, type Answer, MadService, SILENT, type Way } from './mad-service.ts'
import { newSecretFiles, PRIVATE } from './secret-files.ts'

const row = trustRow('secrets')

/** With a SAS the address of a request is a secret, with a key its headers are. */
const CASES = sized<readonly (readonly [Answer, readonly Way[]])[]>(
  [
    ['not permitted', ['SAS']],
    ['no XML', ['key']],
    ['a fault of its own', ['key']],
    ['a reset connection', ['SAS']],
  ],
  (Object.keys(ANSWERS) as Answer[]).map(answer => [answer, ['key', 'SAS']] as const),
)

const service = new MadService()
beforeAll(() => service.start())
afterAll(() => service.stop())

const FILES = newSecretFiles()
afterAll(() => rmSync(FILES, { recursive: true, force: true }))

const LINES = commandLines(FILES)
/** Each command once. */
const FIRST_LINES = LINES.filter(([path], at) => LINES.findIndex(other => other[0] === path) === at)
/** Commands that access no store. */
const LOCAL = /^(help|completion|demo|lab .*|context (?!test).*)$/
/** Commands that retry for half a minute by their own clock: only at night. */
const PATIENT = /^(init|import|watchdog)$/

/** The output of a command line on a store, with all debugging options. */
async function saidBy(argv: readonly string[], store: StreamStore, connectionString: string): Promise<string> {
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

type Stores = (way: Way) => Promise<StreamStore>
type Line = (typeof LINES)[number]

interface Said {
  /** The command line, and the kind of signature. */
  readonly what: string
  readonly said: string
}

async function saidWith(way: Way, [path, argv]: Line, stores: Stores): Promise<Said> {
  const store = await stores(way)
  const said = await saidBy(argv, store, service.connectionString(way))
  await store.close()
  return { what: `${path} (${way})`, said }
}

async function saidInTurn(ways: readonly Way[], stores: Stores, lines: readonly Line[]): Promise<Said[]> {
  const said: Said[] = []
  for (const line of lines) for (const way of ways) said.push(await saidWith(way, line, stores))
  return said
}

/** All lines access the store in parallel, because they mostly wait. */
async function saidTogether(ways: readonly Way[], stores: Stores): Promise<Said[]> {
  const asking = sized(
    FIRST_LINES.filter(([path]) => !PATIENT.test(path)),
    LINES,
  ).filter(([path]) => !LOCAL.test(path))
  return Promise.all(asking.flatMap(line => ways.map(way => saidWith(way, line, stores))))
}

/** Secrets that were printed. */
const leaksIn = (all: readonly Said[]) =>
  all.flatMap(({ what, said }) => (hitsIn(said).length > 0 ? [`${what}: ${hitsIn(said)}`] : []))

describe('a secret', () => {
  test(
    'is printed by no command, whatever the service answers',
    async () => {
      expect(uncalled()).toEqual([])
      let hits = 0
      let causes = 0
      for (const [answer, ways] of CASES) {
        service.says = answer
        const isSilent = SILENT.includes(answer)
        const stores = (way: Way) => service.store(way)
        const lines = answer === 'not permitted' ? LINES : sized(FIRST_LINES, LINES)
        const said = await (isSilent ? saidTogether(ways, stores) : saidInTurn(ways, stores, lines))
        const leaks = leaksIn(said)
        expect([answer, leaks]).toEqual([answer, []])
        hits += leaks.length
        if (isSilent)
          causes += said.filter(({ said }) => /store-unreachable[\s\S]*^caused by ServiceError/m.test(said)).length
      }
      row.figure('commands', new Set(LINES.map(([path]) => path)).size)
      row.figure('hits', hits, '0')
      expect(service.signed).toBeGreaterThan(LINES.length)
      row.injected('signed requests that were answered with what signed them', service.signed)
      expect(causes).toBeGreaterThan(20)
      row.injected('commands that told why there was no answer', causes)
    },
    sized(120_000, 600_000),
  )

  test('is in no written file', () => {
    const written = [FILES, STATE_HOME].filter(existsSync).flatMap(folder =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter(name => !PRIVATE.includes(name))
        .map(name => join(folder, name))
        .filter(path => statSync(path).isFile()),
    )
    expect(written.length).toBeGreaterThan(1)
    for (const path of written) expect([path, hitsIn(readFileSync(path, 'latin1'))]).toEqual([path, []])
  })

  test('is in no error, at any depth', async () => {
    service.says = 'not permitted'
    for (const way of ['key', 'SAS'] as const) {
      const store = await service.store(way)
      const error = await store.read('s').catch((caught: unknown) => caught)
      expect(hitsIn(inspect([error, store.address], { depth: 20, showHidden: true, getters: true }))).toEqual([])
    }
  })

  test('in an address is not repeated', async () => {
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

  test('is found if an error contains the data of the SDK', async () => {
    const lines = LINES.filter(([path]) => /^(ls|show|stats)$/.test(path))
    const leaksOf = async (error: Error) => leaksIn(await saidInTurn(['SAS'], async () => throwing(error), lines))
    const carrying = await leaksOf(new StoreUnreachable(`no answer to GET ${service.endpoint}/c?${SAS}`))
    expect(carrying.length).toBeGreaterThan(0)
    row.control('errors carry the request', carrying.length > 0)
    const caused = await leaksOf(new StoreUnreachable('no answer', { cause: new Error(`signed with ${KEY}`) }))
    expect(caused.length).toBeGreaterThan(0)
    row.control('causes carry what signs it', caused.length > 0)
  })

  test('in an unexpected error is omitted from the output', async () => {
    const fault = new TypeError(`GET ${service.endpoint}/c?${SAS} AccountKey=${KEY} client_secret=${CLIENT_SECRET}`)
    const { exit, stderr } = await cli(newWorld(), ['ls', '--debug'], { store: throwing(fault) })
    expect(exit).toBe(1)
    expect(stderr).toContain('TypeError: GET http')
    expect(hitsIn(stderr)).toEqual([])
  })
})

/** A driver whose only answer is this error. */
function throwing(error: Error): StreamStore {
  return new Proxy(newWorld().store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function' || key === 'nowMs') return value
      if (key === 'close') return value.bind(target)
      return () => {
        throw error
      }
    },
  })
}
