import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { pathOf } from '../../../src/cli/command.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamSnapshot, StreamStore } from '../../../src/store/store.ts'
import { trustRow } from '../../guarantees/record.ts'
import { sized } from '../../guarantees/size.ts'
import { formatsOf } from '../../security/hostile/command-formats.ts'
import {
  CONTROL,
  HOSTILE,
  hostileDocument,
  hostileSummary,
  hostileWatchdog,
  LEASE,
  MARK,
  XML_HOSTILE,
} from '../../security/hostile/hostile-texts.ts'
import { writeState } from '../watchdog/state/world.ts'
import { allCommands, cli, json, newWorld, type Setting, type World } from './support.ts'

// Time triggers the progress line of a batch: on a slow machine it would appear, with the program's own escape sequences.
beforeAll(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterAll(() => void vi.useRealTimers())

/** A new stream: the same in each world. */
const SEED = newSeed()

async function newSeed(): Promise<StreamSnapshot> {
  const world = newWorld()
  await cli(world, ['init', 'seed'])
  const seed = await world.store.read('seed')
  if (seed === undefined) throw new Error('no seed')
  return seed
}

/** A store whose names, summaries and holders are hostile too. */
async function hostileWorld(): Promise<World> {
  const world = newWorld()
  const seed = await SEED
  if (seed.summary === undefined) throw new Error('no summary')
  await world.store.create('seed', seed.body, seed.summary)
  const summary = hostileSummary(seed.summary)
  await world.store.create('s', Buffer.from(hostileDocument()), summary)
  await world.store.create('bad', Buffer.from(`<EventStream><Event ${XML_HOSTILE}`), summary)
  await writeState(world.store, [hostileWatchdog()])
  return world
}

const soiled = <Row extends { name: string }>(row: Row, name = row.name): Row => ({ ...row, name, lease: LEASE })

function hostileStore(world: World): StreamStore {
  return new Proxy(world.store, {
    get(target, key) {
      if (key === 'list') {
        return async function* (query: object) {
          for await (const page of target.list(query)) yield page.map(row => soiled(row, `${row.name}${HOSTILE}`))
        }
      }
      if (key === 'read') {
        return async (name: string): Promise<StreamSnapshot | undefined> => {
          const stored = await target.read(name.startsWith('s') ? 's' : name)
          return stored && soiled(stored)
        }
      }
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function held(world: World): StreamStore {
  return new Proxy(hostileStore(world), {
    get(target, key) {
      if (key === 'update') return async () => ({ kind: 'held', lease: LEASE, waitedMs: 0, lastBy: HOSTILE })
      if (key === 'acquireLease') return async () => ({ kind: 'held', lease: { state: 'leased' }, lastBy: HOSTILE })
      if (['renew', 'change', 'release'].includes(String(key))) return async () => ({ kind: 'lost', code: HOSTILE })
      return Reflect.get(target, key)
    },
  })
}

function broken(world: World): StreamStore {
  return new Proxy(world.store, {
    get(target, key) {
      if (key === 'address') return HOSTILE
      return Reflect.get(target, key) instanceof Function
        ? () => {
            throw new StoreUnreachable(HOSTILE, { hint: HOSTILE, cause: new Error(HOSTILE) })
          }
        : Reflect.get(target, key)
    },
  })
}

const ID = ['--lease-id', '11111111-1111-4111-8111-111111111111']

/** Files whose names and contents are hostile, as far as a file system allows. */
const FILES = mkdtempSync(join(tmpdir(), 'leasectl-hostile-'))
afterAll(() => rmSync(FILES, { recursive: true, force: true }))
const HOSTILE_FILE = XML_HOSTILE.replaceAll('/', '')
mkdirSync(join(FILES, HOSTILE_FILE))
writeFileSync(join(FILES, HOSTILE_FILE, 'a.xml'), hostileDocument())
writeFileSync(join(FILES, 'b.xml'), `<EventStream><Event ${XML_HOSTILE}`)
writeFileSync(join(FILES, `${HOSTILE_FILE}.txt`), '')

const LINES: readonly (readonly string[])[] = [
  ...['table', 'wide', 'json', 'ndjson', 'name', 'yaml', 'csv', 'html'].map(format => ['ls', '-o', format]),
  ['ls', '--fields', 'name,status,waitingOn,failure,lease,error'],
  ...['status', 'failure', 'waiting-on', 'root', 'topic', 'owner'].map(by => ['ls', '--group-by', by]),
  ...['table', 'wide', 'json', 'ndjson', 'csv'].map(format => [
    'events',
    '--state',
    'ready,running,failed',
    '-o',
    format,
  ]),
  ...['table', 'json', 'ndjson', 'csv'].map(format => ['workers', '--events', '-o', format]),
  ['ls', '--fields', 'running,failedName,abandoned'],
  ['ls', '--group-by', 'waiting-on', '-o', 'yaml'],
  ...['table', 'json', 'ndjson', 'name', 'csv'].map(format => ['lease', 'ls', '-o', format]),
  ['lease', 'break', 's', '--yes', '-o', 'ndjson'],
  ['lease', 'ls', '--stale', '1s'],
  ...['tree', 'table', 'timeline', 'json', 'yaml', 'mermaid', 'html'].map(format => ['show', 's', '-o', format]),
  ['event', 'data', 's', '00'],
  ['event', 'data', 's', '00', '-o', 'text'],
  ['event', 'data', 's', '00', '-o', 'json'],
  ['event', 'data', 's', '00', '--input', '-o', 'json'],
  ...['relative', 'local', 'utc', 'iso'].map(time => ['show', 's', '--time', time]),
  ...['text', 'ndjson'].map(format => ['tail', 's', '-n', 'all', '-o', format]),
  ...['nagios', 'prometheus', 'json'].flatMap(format => [
    ['check', '--stuck-after', '0s', '-o', format],
    ['check', '--match', HOSTILE, '-o', format],
    ['check', HOSTILE, '-o', format],
  ]),
  ...['table', 'json', 'ndjson', 'csv'].flatMap(format => [
    ['stats', '--all', '-o', format],
    ['stats', '--all', '--group-by', 'topic', '-o', format],
    ['stats', 's', 'bad', '-o', format],
  ]),
  ...['table', 'json', 'ndjson'].flatMap(format => [
    ['log', 's', '-o', format],
    ['log', '--all', '-o', format],
  ]),
  ['log', 's', '-o', 'csv'],
  ...['text', 'json', 'ndjson'].flatMap(format => [
    ['wait', '--all', '-q', '--within', '1ms', '-o', format],
    ['wait', '--all', '-q', '--for', `event=01${XML_HOSTILE}:completed`, '--within', '1ms', '-o', format],
  ]),
  ...['table', 'json'].map(format => ['watchdog', 'status', '-o', format]),
  ...['text', 'json', 'ndjson'].map(format => ['doctor', '--all', '-v', '-o', format]),
  ...['text', 'json'].flatMap(format =>
    [
      ['cancel', 's', '-e', '03.00'],
      ['abort', 's', '-e', '02.00'],
      ['abort', 's'],
      ['cancel', 's', 'bad'],
      ['abort', '--all', '-e', '02.00', '--dry-run'],
      ['rm', '--all', '--yes', '--force'],
      ['rm', 's', 'bad', '--by', XML_HOSTILE],
      ['retry', 's', '-e', `01${XML_HOSTILE}`],
      ['retry', 's'],
      ['suspend', 's', '-m', 'why', '--stop'],
      ['suspend', 's', '-m', XML_HOSTILE, '-o', 'json'],
      ['suspend', 's', '-m', 'why', '-o', 'ndjson'],
      ['event', 'append', 's', '--name', XML_HOSTILE, '--command-id', 'm1'],
      ['event', 'append', 's2', '--name', XML_HOSTILE, '--command-id', 'm1', '--create', '-o', 'json'],
      ['signal', 's', XML_HOSTILE, '--data', XML_HOSTILE],
      ['signal', 's', 'paid', '-o', 'json'],
      ['signal', 's', XML_HOSTILE, '-o', 'ndjson'],
      ['resume', 's'],
      ['resume', 's', '-o', 'json'],
      ['resume', 's', '-o', 'ndjson'],
      ['ack', 's', '-m', 'known'],
      ['ack', 's', '-m', 'known', '-o', 'json'],
      ['ack', 's', '-m', 'known', '-o', 'ndjson'],
      ['init', 's'],
      ['init', 's', '--if-absent'],
      ['event', 'start', 's', '03.00'],
      ['event', 'touch', 's', '02.00'],
      ['event', 'release', 's', '02.00'],
      ['event', 'advance', 's', '03.00', '--next', 'N'],
      ['event', 'complete', 's', `01${XML_HOSTILE}`],
      ['event', 'fail', 's', '02.00'],
      ['event', 'skip', 's', '02.00', '-m', HOSTILE],
      ['event', 'set', 's', '03.00', '--tag', XML_HOSTILE],
      ['event', 'edit', 's', join(FILES, 'b.xml'), ...ID, '--by', XML_HOSTILE],
      ['event', 'start', 's', HOSTILE],
      ['show', 'bad'],
      ['show', HOSTILE],
      ['lease', 'show', 's'],
      ['lease', 'acquire', 's'],
      ['lease', 'acquire', 's', '--by', XML_HOSTILE],
      ['lease', 'renew', 's', ...ID],
      ['lease', 'change', 's', ...ID],
      ['lease', 'release', 's', ...ID],
      ['lease', 'break', 's', '--yes'],
      ['lease', 'break', 's'],
    ].map(line => [...line, ...(line[0] === 'show' && format === 'text' ? [] : ['-o', format])]),
  ),
  ...['json', 'mermaid', 'chrome', 'otlp'].map(format => ['export', 's', '-o', format]),
  ...['chrome', 'otlp'].map(format => ['export', '--all', '-o', format]),
  ...['xml', 'json', 'mermaid'].map(format => ['export', '--all', '-o', format, '--to', join(FILES, HOSTILE_FILE)]),
  ['export', 's', '--to', `azure:${HOSTILE}`],
  ['export', 's', '--to', join(FILES, HOSTILE_FILE, 'a.xml', HOSTILE_FILE)],
  ['export', 's', '-o', 'otlp', '--endpoint', `https://${XML_HOSTILE}`],
  ...['text', 'json', 'ndjson'].flatMap(format => [
    ['import', FILES, '-v', '-o', format],
    ['import', FILES, '-v', '-o', format, '--replace', '--by', XML_HOSTILE],
    ['import', join(FILES, 'b.xml'), '--name', XML_HOSTILE, '-o', format],
  ]),
  ['import', HOSTILE],
  ...['text', 'json'].flatMap(format => [
    ['exec', 's', '02.00', '-o', format, '--', 'true'],
    ['exec', 's', HOSTILE, '-v', '-o', format, '--', 'true'],
    ['exec', 's', '02.00', '-o', format, '--', HOSTILE],
  ]),
  ...['text', 'ndjson'].flatMap(format => [
    ['work', '--name', `w${XML_HOSTILE}`, '--until-empty', '-o', format, '--', 'false'],
    ['work', '--name', 'A', '--match', HOSTILE, '--once', '-v', '-o', format, '--', 'true'],
    ['work', '--name', 'A', '--once', '-o', format, '--', HOSTILE],
    ['subscribe', '--as', HOSTILE, '-o', format, '--', 'true'],
    ['subscribe', '--as', 'b', '--match', HOSTILE, '-o', format, '--', HOSTILE],
  ]),
  ...['table', 'name', 'json', 'ndjson', 'csv'].flatMap(format => [
    ['subscription', 'ls', '-o', format],
    ['subscription', 'parked', HOSTILE, '-o', format],
    ['subscription', 'parked', 'b', '--waiting', '-o', format],
  ]),
  ...['text', 'json'].flatMap(format => [
    ['subscription', 'show', 'b', '-o', format],
    ['subscription', 'retry', 'b', HOSTILE, 's', '-o', format],
    ['subscription', 'skip', 'b', HOSTILE, '-o', format],
    ['subscription', 'reset', HOSTILE, '--from', HOSTILE, '--yes', '-o', format],
    ['subscription', 'rm', HOSTILE, '--yes', '-o', format],
    ['subscription', 'reset', 'b', '--from', 'start', '--yes', '-o', format],
    ['subscription', 'rm', 'b', '--yes', '-o', format],
  ]),
  ...['text', 'ndjson'].flatMap(format => [
    ['inbox', 'drain', 'orders', '--append', HOSTILE, '--name', 'a/{/id}', '--once', '-o', format],
    ['inbox', 'drain', 'orders', '--template', HOSTILE, '--name', `${XML_HOSTILE}{/id}`, '--once', '-o', format],
  ]),
  ...['text', 'ndjson'].flatMap(format => [
    ['inbox', 'serve', HOSTILE, '-o', format],
    ['inbox', 'serve', 'orders', '--token-file', HOSTILE, '-o', format],
    ['inbox', 'serve', 'orders', '--listen', HOSTILE, '-o', format],
  ]),
  ...['table', 'name', 'json', 'ndjson', 'csv'].map(format => ['inbox', 'dead', 'ls', 'orders', '-o', format]),
  ...['text', 'json'].flatMap(format => [
    ['inbox', 'dead', 'show', 'orders', HOSTILE, '-o', format],
    ['inbox', 'dead', 'retry', 'orders', HOSTILE, '-o', format],
    ['inbox', 'dead', 'drop', 'orders', '--all', '--by', XML_HOSTILE, '-o', format],
  ]),
  ...['text', 'json'].flatMap(format => [
    ['lab', 'lease', '--store', 'sqlite:x', '-o', format],
    ['lab', 'stream', '--store', 'sqlite:x', '-o', format],
  ]),
  ['import', `sqlite:${XML_HOSTILE}`],
  ['cancel', 's', '-m', HOSTILE],
  ['cancel', 's', `--${HOSTILE}`],
  ['cancel', 's', '--by', XML_HOSTILE, '--lease-wait', HOSTILE],
  ...['cancel', 'abort', 'retry', 'rm'].flatMap(verb => [
    [verb, 's', 'bad', '-o', 'ndjson'],
    [verb, '--all', '--yes', '-o', 'ndjson'],
  ]),
  ['init', 'n', '--from', HOSTILE],
  ['init', 'n', '--on-due', HOSTILE],
  ['help', HOSTILE],
  ['help', HOSTILE, '-o', 'json'],
  ...['table', 'name', 'json', 'ndjson', 'csv'].map(format => ['inbox', 'ls', '-o', format]),
  ...['create', 'put', 'show', 'rm'].map(verb => ['inbox', verb, HOSTILE, '-o', 'json']),
  ['inbox', 'tail', HOSTILE, '-o', 'ndjson'],
  ...['table', 'name', 'json', 'ndjson', 'csv'].map(format => ['runs', 'ls', '-o', format]),
  ['stats', '--all', '-o', 'csv'],
  ['subscription', 'ls', '-o', 'csv'],
  ['subscription', 'parked', HOSTILE, '-o', 'csv'],
  ...['table', 'json'].map(format => ['runs', 'show', 'last', '-o', format]),
  ['runs', 'show', HOSTILE],
  ...['text', 'json'].map(format => ['runs', 'prune', '--older-than', '0s', '--dry-run', '-o', format]),
  [HOSTILE],
  ['event', HOSTILE],
]

async function outputOf(
  argv: readonly string[],
  store: (world: World) => StreamStore,
  setting: Setting = {},
): Promise<string> {
  const world = await hostileWorld()
  // arguments after -- belong to another program
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const line = [...argv.slice(0, end), '--color', 'never', ...argv.slice(end)]
  const ran = await cli(world, line, { ...setting, store: store(world) })
  return ran.stdout + ran.stderr + ran.questions.join('\n')
}

let turns = 0
const told = { cells: 0, hits: 0, printed: 0 }

/** The first line of an output that could control a terminal. */
function driving(output: string): string | undefined {
  told.cells += 1
  if (output.includes(MARK)) told.printed += 1
  // Lines of CSV end with CR LF.
  const found = output.split(/\r?\n/).find(line => CONTROL.test(line))
  if (found !== undefined) told.hits += 1
  return found
}

const SETTINGS: readonly Setting[] = [{}, { columns: 70, terminal: true, answer: HOSTILE }]

/** In the small size errors go to a pipe or to a terminal, by turns. */
function settingsOf(store: typeof hostileStore, turn: number): readonly Setting[] {
  return store === hostileStore ? SETTINGS : sized([SETTINGS[turn % 2] ?? {}], SETTINGS)
}

test.each(LINES)('no control byte from data reaches the terminal: %j %j %j %j %j %j %j', async (...words) => {
  const argv = words.filter(word => word !== undefined)
  const turn = turns++
  for (const [at, store] of [hostileStore, held, broken].entries()) {
    for (const setting of settingsOf(store, turn + at)) {
      expect(driving(await outputOf(argv, store, setting)), argv.join(' ')).toBeUndefined()
    }
  }
})

test('the printed values contained hostile texts, which appear without visibleText', async () => {
  expect(told.printed).toBeGreaterThan(LINES.length)
  const row = trustRow('terminal')
  row.figure('cells', told.cells)
  row.figure('control bytes from data', told.hits, '0')
  row.injected('outputs with hostile texts', told.printed)
  vi.resetModules()
  vi.doMock('../../../src/util/visible-text.ts', async original => ({
    ...(await original<object>()),
    visibleText: (text: string) => text,
  }))
  const careless = await import('./support.ts')
  const ran = await careless.cli(careless.newWorld(), ['show', XML_HOSTILE, '--color', 'never'])
  vi.doUnmock('../../../src/util/visible-text.ts')
  vi.resetModules()
  expect(driving(ran.stdout + ran.stderr)).toBeDefined()
  row.control('visibleText taken out', true)
})

test('the stack of --debug has visible control characters too', async () => {
  expect(await outputOf(['ls', '--debug', '-v'], broken)).not.toMatch(CONTROL)
})

test('-o xml shows control characters visibly on a terminal; in a pipe it is the bytes', async () => {
  const world = await hostileWorld()
  const terminal = await cli(world, ['show', 's', '-o', 'xml'], { columns: 80 })
  expect(terminal.exit).toBe(0)
  expect(terminal.stdout.replaceAll('\n', '')).not.toMatch(CONTROL)
  expect((await cli(world, ['show', 's', '-o', 'xml'])).stdout).toBe(hostileDocument())
})

test('escaped text in JSON reads back as the same text', async () => {
  const world = await hostileWorld()
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout) as {
    events: Record<string, unknown>[]
  }
  expect(events[1]).toMatchObject({ id: `01${XML_HOSTILE}`, msg: `${XML_HOSTILE}\r\n\t` })
})

test('escaped text in YAML reads back as the same text', async () => {
  const world = await hostileWorld()
  const yaml = (await cli(world, ['show', 's', '-o', 'yaml'])).stdout
  expect(parse(yaml)).toEqual(json((await cli(world, ['show', 's', '-o', 'json'])).stdout))
})

test('the lines above cover every command', () => {
  const paths = allCommands()
    .filter(({ commands }) => commands.length === 0)
    .map(pathOf)
  const tested = new Set(LINES.flatMap(([a = '', b = '', c = '']) => [a, `${a} ${b}`, `${a} ${b} ${c}`]))
  // demo prints foreign text only through the tree and the transactions, top never ends: it has a test of its own;
  // the others print no text of a store
  const others = /^(demo|top|completion|context \w+)$/
  expect(paths.filter(path => !others.test(path) && !tested.has(path))).toEqual([])
})

test('the lines above cover each format of each command', () => {
  const missing = allCommands().flatMap(command => {
    const path = command.parent?.parent ? [command.parent.name(), command.name()] : [command.name()]
    const lines = LINES.filter(line => path.every((word, at) => line[at] === word))
    if (command.commands.length > 0 || lines.length === 0) return []
    const [usual, ...formats] = formatsOf(command)
    return formats
      .filter(format => format !== usual && !lines.some(line => line[line.indexOf('-o') + 1] === format))
      .map(format => `${path.join(' ')} -o ${format}`)
  })
  // it has a test of its own: a pipe gets the bytes
  expect(missing).toEqual(['show -o xml', 'event data -o raw'])
})
