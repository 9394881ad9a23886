import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { WatchdogEntry } from '../../src/ops/watchdog-state.ts'
import { StoreUnreachable } from '../../src/store/errors.ts'
import type { EventStore, LeaseView, Stored } from '../../src/store/store.ts'
import type { Summary } from '../../src/stream/summary.ts'
import { failingWatchdog, writeState } from '../watchdog/state-world.ts'
import { allCommands, cli, json, NOON, newWorld, type Setting, type World } from './support.ts'

/** Sets the clipboard, clears the screen, moves the cursor, hides and turns text around: what XML lets through, and the rest. */
const XML_HOSTILE = '\u009d52;c;cm0gLXJm\u009c\u009b2J\u0085\u202edesrever\u2066\u200f\u2028x\u007f'
const HOSTILE = `${XML_HOSTILE}\u001b]52;c;cm0gLXJm\u0007\u001b[2J\u001b[31m\r\b\u0000\t`

const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

const LEASE: LeaseView = {
  state: 'leased',
  duration: 'fixed',
  holder: { by: HOSTILE, host: HOSTILE, pid: 1, purpose: HOSTILE, sinceMs: NOON },
}

/** A document as any writer may leave it: every attribute hostile, some events open, some failed. */
function hostileDocument(): string {
  const text = `${XML_HOSTILE}&#13;&#10;&#9;`
  const attributes = ['topic', 'key', 'msg', 'trackingId', 'ref', 'tag', 'created', 'timestamp', 'timeout']
    .map(name => `${name}="${text}"`)
    .join(' ')
  const lc = ['owner', 'until', 'outcome', 'failed', 'onDue'].map(name => `lc:${name}="${text}"`).join(' ')
  const event = (id: string, status: string, more: string) =>
    `<Event name="n${text}" status="${status}" id="${id}" ${attributes} ${more} ${lc}/>`
  const journal = `<lc:journal><lc:tx v="1" at="${text}" by="${text}" op="${text}" on="01${XML_HOSTILE}" cmd="${text}" h="0" why="${text}"><lc:change event="01${XML_HOSTILE}" from="${text}" to="${text}" how="target" owner="${text}" attr="${text}"/></lc:tx></lc:journal>`
  const events = [
    event('00', 'inprocess', `next="01${XML_HOSTILE}|02.00|missing${XML_HOSTILE}"`),
    event(`01${XML_HOSTILE}`, 'aborted', 'prev="00"'),
    event('02.00', text, 'prev="00"'),
    event('03.00', 'init', 'prev="00"'),
    // without a line break at its end, so that it can be named
    event('04.00', 'init', 'prev="00"').replace(/name="[^"]*"/, `name="w${XML_HOSTILE}"`),
  ]
  return `<EventStream xmlns:lc="urn:leasectl:v1" lc:v="1">${events.join('\n')}${journal}</EventStream>`
}

/** A store whose names, summaries and holders are hostile too. */
async function hostileWorld(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 'seed'])
  const seed = await world.store.read('seed')
  if (seed?.summary === undefined) throw new Error('no summary')
  const summary: Summary = {
    ...seed.summary,
    status: HOSTILE,
    lastBy: HOSTILE,
    root: HOSTILE,
    key: HOSTILE,
    topic: HOSTILE,
    tag: HOSTILE,
    trackingId: HOSTILE,
    failure: HOSTILE,
    waitingOn: [HOSTILE],
    // more than it names: workers have to look for themselves
    ready: ['+1'],
  }
  await world.store.create('s', Buffer.from(hostileDocument()), summary)
  await world.store.create('bad', Buffer.from(`<EventStream><Event ${XML_HOSTILE}`), summary)
  await writeState(world.store, [hostileWatchdog()])
  return world
}

/** A watchdog on a machine that is not to be trusted; its breaker is open and its passes fail. */
function hostileWatchdog(): WatchdogEntry {
  const failing = failingWatchdog(NOON, { id: HOSTILE, host: HOSTILE, by: HOSTILE, version: HOSTILE })
  const failure = { startedMs: NOON, sinceMs: NOON, code: HOSTILE, message: HOSTILE }
  const texts = { stream: HOSTILE, kind: HOSTILE, event: HOSTILE, limit: HOSTILE, outcome: HOSTILE }
  return {
    ...failing,
    settings: { ...failing.settings, match: HOSTILE, onDue: HOSTILE },
    decisions: [{ ...texts, dueMs: NOON, atMs: NOON }],
    breaker: { isOpen: true, wouldEnd: 1, openEvents: 1, maxShare: 0 },
    next: [{ stream: HOSTILE, dueMs: NOON }],
    failure,
    lastFailure: failure,
  }
}

const soiled = <Row extends { name: string }>(row: Row, name = row.name): Row => ({ ...row, name, lease: LEASE })

function hostileStore(world: World): EventStore {
  return new Proxy(world.store, {
    get(target, key) {
      if (key === 'list') {
        return async function* (query: object) {
          for await (const page of target.list(query)) yield page.map(row => soiled(row, `${row.name}${HOSTILE}`))
        }
      }
      if (key === 'read') {
        return async (name: string): Promise<Stored | undefined> => {
          const stored = await target.read(name.startsWith('s') ? 's' : name)
          return stored && soiled(stored)
        }
      }
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function held(world: World): EventStore {
  return new Proxy(hostileStore(world), {
    get(target, key) {
      if (key === 'changeUnderLease') return async () => ({ kind: 'held', lease: LEASE, waitedMs: 0, lastBy: HOSTILE })
      if (key === 'acquire') return async () => ({ kind: 'held', lease: { state: 'leased' }, lastBy: HOSTILE })
      if (['renew', 'change', 'release'].includes(String(key))) return async () => ({ kind: 'lost', code: HOSTILE })
      return Reflect.get(target, key)
    },
  })
}

function broken(world: World): EventStore {
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

/** Files whose names and contents are hostile, as far as a file system takes them. */
const FILES = mkdtempSync(join(tmpdir(), 'leasectl-hostile-'))
afterAll(() => rmSync(FILES, { recursive: true, force: true }))
const HOSTILE_FILE = XML_HOSTILE.replaceAll('/', '')
mkdirSync(join(FILES, HOSTILE_FILE))
writeFileSync(join(FILES, HOSTILE_FILE, 'a.xml'), hostileDocument())
writeFileSync(join(FILES, 'b.xml'), `<EventStream><Event ${XML_HOSTILE}`)
writeFileSync(join(FILES, `${HOSTILE_FILE}.txt`), '')

const LINES: readonly (readonly string[])[] = [
  ...['table', 'wide', 'json', 'ndjson', 'name', 'yaml'].map(format => ['ls', '-o', format]),
  ['ls', '--fields', 'name,status,waitingOn,failure,lease,error'],
  ...['status', 'failure', 'waiting-on'].map(by => ['ls', '--group-by', by]),
  ['ls', '--group-by', 'waiting-on', '-o', 'yaml'],
  ...['table', 'json', 'ndjson'].map(format => ['lease', 'ls', '-o', format]),
  ['lease', 'ls', '--stale', '1s'],
  ...['tree', 'table', 'json', 'yaml'].map(format => ['show', 's', '-o', format]),
  ...['relative', 'local', 'utc', 'iso'].map(time => ['show', 's', '--time', time]),
  ...['text', 'ndjson'].map(format => ['tail', 's', '-n', 'all', '-o', format]),
  ...['nagios', 'prometheus', 'json'].flatMap(format => [
    ['check', '--stuck-after', '0s', '-o', format],
    ['check', '--match', HOSTILE, '-o', format],
    ['check', HOSTILE, '-o', format],
  ]),
  ...['table', 'json', 'ndjson'].flatMap(format => [
    ['stats', '--all', '-o', format],
    ['stats', '--all', '--group-by', 'topic', '-o', format],
    ['stats', 's', 'bad', '-o', format],
  ]),
  ...['table', 'json', 'ndjson'].flatMap(format => [
    ['log', 's', '-o', format],
    ['log', '--all', '-o', format],
  ]),
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
      ['init', 's'],
      ['init', 's', '--if-absent'],
      ['event', 'start', 's', '03.00'],
      ['event', 'touch', 's', '02.00'],
      ['event', 'release', 's', '02.00'],
      ['event', 'advance', 's', '03.00', '--next', 'N'],
      ['event', 'complete', 's', `01${XML_HOSTILE}`],
      ['event', 'fail', 's', '02.00'],
      ['event', 'set', 's', '03.00', '--tag', XML_HOSTILE],
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
  ]),
  ...['text', 'json'].flatMap(format => [
    ['lab', 'lease', '--store', 'sqlite:x', '-o', format],
    ['lab', 'stream', '--store', 'sqlite:x', '-o', format],
  ]),
  ['import', `sqlite:${XML_HOSTILE}`],
  ['cancel', 's', '-m', HOSTILE],
  ['cancel', 's', `--${HOSTILE}`],
  ['cancel', 's', '--by', XML_HOSTILE, '--lease-wait', HOSTILE],
  ['init', 'n', '--from', HOSTILE],
  ['init', 'n', '--on-due', HOSTILE],
  ['help', HOSTILE],
  [HOSTILE],
  ['event', HOSTILE],
]

async function outputOf(
  argv: readonly string[],
  store: (world: World) => EventStore,
  setting: Setting = {},
): Promise<string> {
  const world = await hostileWorld()
  // what stands behind -- belongs to another program
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const line = [...argv.slice(0, end), '--color', 'never', ...argv.slice(end)]
  const ran = await cli(world, line, { ...setting, store: store(world) })
  return ran.stdout + ran.stderr
}

test.each(LINES)('no control byte from data reaches the terminal: %j %j %j %j %j %j %j', async (...words) => {
  const argv = words.filter(word => word !== undefined)
  for (const store of [hostileStore, held, broken]) {
    for (const setting of [{}, { columns: 70, terminal: true, answer: HOSTILE }]) {
      const output = await outputOf(argv, store, setting)
      expect(
        output.split('\n').find(line => CONTROL.test(line)),
        argv.join(' '),
      ).toBeUndefined()
    }
  }
})

test('the stack of --debug is made visible too', async () => {
  expect(await outputOf(['ls', '--debug', '-v'], broken)).not.toMatch(CONTROL)
})

test('-o xml on a terminal is made visible, in a pipe it is the bytes', async () => {
  const world = await hostileWorld()
  const terminal = await cli(world, ['show', 's', '-o', 'xml'], { columns: 80 })
  expect(terminal.exit).toBe(0)
  expect(terminal.stdout.replaceAll('\n', '')).not.toMatch(CONTROL)
  expect((await cli(world, ['show', 's', '-o', 'xml'])).stdout).toBe(hostileDocument())
})

test('what is escaped in JSON is the same text after reading', async () => {
  const world = await hostileWorld()
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout) as {
    events: Record<string, unknown>[]
  }
  expect(events[1]).toMatchObject({ id: `01${XML_HOSTILE}`, msg: `${XML_HOSTILE}\r\n\t` })
})

test('what is escaped in YAML is the same text after reading', async () => {
  const world = await hostileWorld()
  const yaml = (await cli(world, ['show', 's', '-o', 'yaml'])).stdout
  expect(parse(yaml)).toEqual(json((await cli(world, ['show', 's', '-o', 'json'])).stdout))
})

test('every command is among the lines above', () => {
  const paths = allCommands()
    .filter(({ commands }) => commands.length === 0)
    .map(command => (command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name()))
  const tested = new Set(LINES.flatMap(([first = '', second = '']) => [first, `${first} ${second}`]))
  // demo prints no stranger's text but through the tree and the transactions, top never ends: it has a test of its own;
  // the others print none of a store
  const others = /^(demo|top|completion|context \w+)$/
  expect(paths.filter(path => !others.test(path) && !tested.has(path))).toEqual([])
})
