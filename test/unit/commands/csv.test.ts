import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { subscribed } from '../../docs/json-subscriptions.ts'
import { inboxWithDeadLetters } from '../../docs/json-world.ts'
import { HOLDER } from '../ops/support.ts'
import { cli, json, newWorld, type World } from './support.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'leasectl-csv-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const run = (world: World, ...argv: string[]) =>
  cli(world, argv, { env: { XDG_STATE_HOME: home, XDG_CONFIG_HOME: home } })

/** A failed, a running and a leased stream, a run of two streams and its entries in the audit log. */
async function fleet(): Promise<World> {
  const world = newWorld()
  for (const name of ['=cmd', 'b', 'c', 'gone/1', 'gone/2']) await run(world, 'init', name, '--fork', 'Pay,Ship')
  await run(world, 'event', 'fail', '=cmd', '01.00', '-m', 'no, "really"')
  await run(world, 'event', 'start', 'b', '01.00', '--owner', 'w1', '--claim', '1h')
  await run(world, 'context', 'add', 'here', '--store', 'sqlite:/tmp/x.db')
  await run(world, 'rm', '--match', 'gone/*', '--force', '--yes', '-m', 'tidy')
  const leaseId = '11111111-1111-4111-8111-111111111111'
  await world.store.acquireLease('c', { leaseId, durationS: -1, holder: HOLDER })
  return world
}

function worldOf(command: string | undefined): Promise<World> {
  return command === 'inbox' ? inboxWithDeadLetters() : command === 'subscription' ? subscribed() : fleet()
}

/** The header and the records; enough for texts without line ends. */
function parsed(text: string): readonly string[][] {
  expect(text.endsWith('\r\n')).toBe(true)
  const cellOf = (match: RegExpMatchArray) => match[1]?.replaceAll('""', '"') ?? match[2] ?? ''
  return text
    .slice(0, -2)
    .split('\r\n')
    .map(line => [...`,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(cellOf))
}

const LISTS = [
  ['ls'],
  ['ls', '--fields', 'name,failure,waitingOn'],
  ['ls', '--sort', '-created'],
  ['ls', '--group-by', 'failure'],
  ['ls', '--group-by', 'owner'],
  ['events'],
  ['runs', 'ls'],
  ['log', '--all'],
  ['log', '--audit'],
  ['lease', 'ls'],
  ['stats', '--all'],
  ['context', 'list'],
  ['inbox', 'ls'],
  ['inbox', 'dead', 'ls', 'orders'],
  ['subscription', 'ls'],
  ['subscription', 'parked', 'billing', '--waiting'],
]

test.each(LISTS)('%s %s %s: CSV has the fields of the JSON as its header, and the same values', async (...argv) => {
  const world = await worldOf(argv[0])
  const text = await run(world, ...argv.filter(Boolean), '-o', 'csv')
  expect(text.exit, text.stderr).toBe(0)
  const { items, ...document } = json((await run(world, ...argv.filter(Boolean), '-o', 'json')).stdout) as {
    items: Record<string, unknown>[]
    [field: string]: unknown
  }
  const { groupBy, timeOf, since, subscription } = document
  const inFront = argv[0] === 'stats' ? { groupBy, since } : groupBy === undefined ? {} : { groupBy, timeOf }
  const more = { ...inFront, ...(subscription === undefined ? {} : { subscription }) }
  const expected = items.map(item => ({ ...more, ...item }))
  const [header = [], ...records] = parsed(text.stdout)
  expect(items.length).toBeGreaterThan(0)
  const ofObjects = header.map(field => field.split('.')[0])
  expect([...new Set(ofObjects)]).toEqual([
    ...Object.keys(expected[0] ?? {}),
    ...(argv.join(' ').trim() === 'subscription ls' ? ['error'] : []),
  ])
  for (const [at, field] of header.entries()) {
    const [name = '', inner] = field.split('.')
    const valueIn = (item: Record<string, unknown>) =>
      inner === undefined ? item[name] : (item[name] as Record<string, unknown> | null)?.[inner]
    expect(
      records.map(record => record[at]),
      field,
    ).toEqual(expected.map(item => cellText(valueIn(item))))
  }
})

function cellText(value: unknown): string {
  const text = value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
  return typeof value === 'string' && text.startsWith('=') ? `'${text}` : text
}

test('workers: CSV has a record for each worker, step and event, with the fields of all of them', async () => {
  const [header = [], ...records] = parsed((await run(await fleet(), 'workers', '--events', '-o', 'csv')).stdout)
  const of = (record: readonly string[], field: string) => record[header.indexOf(field)]
  expect(records.map(record => ['record', 'owner', 'step', 'stream'].map(field => of(record, field)))).toEqual([
    ['worker', 'w1', '', ''],
    ['step', '', 'Pay', ''],
    ['step', '', 'Ship', ''],
    ['event', 'w1', '', 'b'],
  ])
  const lines = (await run(await fleet(), 'workers', '--events', '-o', 'ndjson')).stdout.trim().split('\n')
  const keys = lines.flatMap(line => Object.keys(JSON.parse(line))).filter(key => key !== 'apiVersion')
  expect([...header].sort()).toEqual([...new Set(keys)].sort())
})

test.each(LISTS.filter(argv => !argv.includes('parked') && !argv.includes('dead')))(
  '%s %s %s: CSV of nothing is the header',
  async (...argv) => {
    const { stdout, exit } = await run(newWorld(), ...argv.filter(Boolean), '-o', 'csv')
    expect(exit).toBe(0)
    expect(parsed(stdout)).toHaveLength(1)
  },
)
