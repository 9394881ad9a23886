import { join } from 'node:path'
import type { Command, Option } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allCommands, cli, newWorld } from '../unit/commands/support.ts'
import { runInProcess } from './in-process.ts'
import { newUser, type User } from './program.ts'

/** Every flag of every command with an invalid value: a new flag must be added here. */

const BAD: Readonly<Record<string, string>> = {
  '--as': 'a b',
  '--append': '',
  '--at': '5 o clock',
  '--attempt-timeout': '30',
  '--backoff': '1m..2s',
  '--blob': '',
  '--by': '',
  '--checkpoint-every': '0',
  '--checkpoint-interval': '0s',
  '--claim': '30',
  '--color': 'mauve',
  '--command-id': 'a b,c',
  '--concurrency': '0',
  '--config': '',
  '--container': '',
  '--context': 'a b',
  '--credential-file': '',
  '--crit-lag': '0s',
  '--crit-abandoned': '0',
  '--crit-failed': '0',
  '--crit-overdue': '0',
  '--crit-stuck': 'many',
  '--crit-unreadable': '-1',
  '--crit-waiting': '15',
  '--data': '@',
  '--data-type': 'nonsense',
  '--depth': '-1',
  '--diff': '-1',
  '--duration': '14',
  '--endpoint': 'ftp://x',
  '--event': '',
  '--event-state': 'asleep',
  '--events': '0',
  '--exclude': '(',
  '--expect': 'many',
  '--failed-since': '1',
  '--fence': '-1',
  '--fields': 'colour',
  '--for': 'done-ish',
  '--fork': 'A,,B',
  '--msg': '\u0007',
  '--steps': 'A,,B',
  '--seq': '0',
  '--after': '01.00,',
  '--delay': '-5s',
  '--wait-for': '',
  '--from': '/nowhere/order.yaml',
  '--from-version': '1.5',
  '--grace': '30',
  '--group-by': 'colour',
  '--highlight': '(',
  '--hold': '30',
  '--id-field': 'id',
  '--if-version': 'latest',
  '--include': '(',
  '--interval': '0s',
  '--join': '',
  '--inbox-store': '',
  '--keep': '-1',
  '--key-field': 'key',
  '--linger': '5',
  '--also': '',
  '--defer': '15',
  '--prefer': '15',
  '--key': 'a\u0001b',
  '--lease-id': '4711',
  '--lease-wait': '10',
  '--limit': '0',
  '--lines': 'many',
  '--listen': '9464',
  '--listen-name': 'inbox:8080',
  '--token-file': '',
  '--match': '',
  '--not-match': '',
  '--failure': '/(/',
  '--waiting-on': '',
  '--waiting-for': '',
  '--event-name': '',
  '--older-than': '5',
  '--max-attempts': '0',
  '--max-idle': '30',
  '--max-per-pass': '0',
  '--max-share': '20',
  '--name': '',
  '--new-id': 'x',
  '--next': '',
  '--on-done': '[1]',
  '--on-compensated': '[]',
  '--on-compensation-failed': '[1]',
  '--on-due': 'explode',
  '--on-expired': '[]',
  '--on-failure': 'explode',
  '--on-failed': '["notify"',
  '--only': 'bussy',
  '--op': 'explode',
  '--outcome': 'splendid',
  '--output': 'docx',
  '--overdue-for': '5',
  '--pace': 'fast',
  '--partition': '8/8',
  '--partition-count': '0',
  '--owner': '',
  '--period': '61s',
  '--prefix': '..',
  '--procs': '0',
  '--on-poison': 'explode',
  '--reason': 'a\u001b[31mb',
  '--ref': 'a\u0007b',
  '--rate': '0',
  '--rejects': '',
  '--rerun': '',
  '--resume': '',
  '--retries': '0',
  '--partitions': '1025',
  '--purge': '90',
  '--root': '',
  '--result': '@',
  '--result-type': 'text/',
  '--select': './Event[',
  '--seq-field': '/~2',
  '--shards': '0',
  '--since': '5',
  '--sort': 'colour',
  '--speed': '0',
  '--stale': '30',
  '--state': 'asleep',
  '--status': 'done',
  '--stdin': 'xml',
  '--store': 'orders',
  '--streams': '',
  '--stuck-after': '30',
  '--tag': 'a\u0008b',
  '--template': '',
  '--theme': 'pink',
  '--time': 'zulu',
  '--timeout': '90',
  '--to': '',
  '--topic': 'a\ufffeb',
  '--tracking-id': 'a\u0002b',
  '--tries': '0',
  '--undo': '',
  '--until': '5m5',
  '--crit-dead': '0',
  '--crit-inbox-age': '1',
  '--crit-subscription-lag': '5',
  '--warn-dead': '1.5',
  '--warn-inbox-age': '0s',
  '--warn-lag': '5',
  '--warn-abandoned': '-1',
  '--warn-failed': '1.5',
  '--warn-overdue': '1.5',
  '--warn-stuck': '0',
  '--warn-subscription-lag': '0s',
  '--warn-unreadable': 'some',
  '--warn-waiting': '0s',
  '--within': '90',
  '--write': 'blindly',
}

/** Commands that need more arguments than names before their flags are checked. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'context add': ['box'],
  completion: ['bash'],
  'runs prune': ['--older-than', '30d'],
  'event advance': ['s', '01.00', '--next', 'N'],
  'event set': ['s', '01.00', '--tag', 'x'],
  'lease change': ['s', '--lease-id', '11111111-1111-4111-8111-111111111111'],
  'lease release': ['s', '--lease-id', '11111111-1111-4111-8111-111111111111'],
  'lease renew': ['s', '--lease-id', '11111111-1111-4111-8111-111111111111'],
  'inbox drain': ['orders', '--append', 'A', '--name', 'a/{/id}'],
  'inbox dead show': ['orders', '4711'],
  'inbox dead retry': ['orders', '--all'],
  'inbox dead drop': ['orders', '--all'],
  work: ['--name', 'A'],
  subscribe: ['--as', 'b'],
  'subscription show': ['b'],
  'subscription parked': ['b'],
  'subscription retry': ['b', 's'],
  'subscription skip': ['b', 's'],
  'subscription reset': ['b', '--from', 'start'],
  'subscription rm': ['b'],
}

interface Case {
  readonly path: string
  readonly flag: string
  readonly argv: readonly string[]
}

/** Groups of commands that have an action of their own. */
const ACTING_GROUPS = ['watchdog']

const commands = allCommands().filter(
  command => command.commands.length === 0 || ACTING_GROUPS.includes(command.name()),
)

function pathOf(command: Command): string {
  const { parent } = command
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name()
}

function casesOf(command: Command): Case[] {
  const path = pathOf(command)
  const words = ARGUMENTS[path] ?? command.registeredArguments.map((_, at) => ['s', '01.00'][at] ?? '')
  // A command with one output format ignores the value.
  const takesAny = ({ long, parseArg }: Option) => long === '--output' && parseArg === undefined
  return command.options
    .filter(option => !option.hidden && !takesAny(option) && option.long !== '--version')
    .map(option => ({ path, flag: option.long ?? '', argv: [...path.split(' '), ...words, bad(option)] }))
}

/** An invalid value of the flag; any value for a flag without one. */
function bad(option: Option): string {
  const { long = '' } = option
  if (option.isBoolean() || option.negate) return `${long}=maybe`
  const value = BAD[long]
  if (value === undefined) throw new Error(`${long} has no bad value in this test`)
  return `${long}=${value}`
}

const cases = commands.flatMap(casesOf)

test('the table covers all commands', () => {
  expect(commands.length).toBeGreaterThanOrEqual(26)
  expect(new Set(cases.map(({ flag }) => flag)).size).toBeGreaterThan(Object.keys(BAD).length)
})

test('each flag of each command refuses an invalid value, and nothing is changed', async () => {
  // The store of this test is not opened by its address.
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A'])
  const before = await world.store.read('s')
  for (const { argv, flag, path } of cases.filter(({ flag }) => flag !== '--store')) {
    const { exit, told, silent } = refusal(path, await cli(world, argv))
    expect({ argv, exit, silent }).toEqual({ argv, exit: exitOf(path), silent: '' })
    expect(told.toLowerCase()).toContain(flag === '--output' ? '-o' : flag === '--lines' ? '-n' : named(flag))
    expect(told).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    expect(await world.store.read('s')).toEqual(before)
  }
})

/** Monitoring reads stdout and plugin exit codes: `check` reports its own errors there. */
function refusal(path: string, { exit, stdout, stderr }: { exit: number | null; stdout: string; stderr: string }) {
  return path === 'check' ? { exit, told: stdout, silent: stderr } : { exit, told: stderr, silent: stdout }
}

const exitOf = (path: string) => (path === 'check' ? 3 : 2)

/** The message must name the flag, or its meaning. */
function named(flag: string): string {
  const words: Readonly<Record<string, string>> = {
    '--reason': '-m',
    '--context': '-c',
    '--event': 'event',
    '--store': 'store',
    '--key': 'key',
  }
  return words[flag] ?? flag
}

/** They tell errors differently: as JSON, as lines of JSON, for monitoring, as a command of a group. */
const BUILT = ['show', 'tail', 'check', 'event start']

describe('as JSON, some of them in the built program, and all in the single executable,', () => {
  let user: User
  beforeAll(async () => {
    user = await newUser()
    expect(await user.run(['init', 's', '--fork', 'A', '--store', `sqlite:${join(user.home, 'a.db')}`])).toMatchObject({
      code: 0,
    })
  })
  afterAll(() => user.leave())

  // One flag of each command, and the one that needs the address of a store.
  const first = ({ path, flag }: Case) =>
    cases.find(other => other.path === path && other.flag !== '--store')?.flag === flag
  const once = cases.filter(one => first(one) || (one.flag === '--store' && one.path === 'show'))

  test.each(once)('$path $flag', async ({ argv, flag, path }) => {
    const store = flag === '--store' ? [] : ['--store', `sqlite:${join(user.home, 'a.db')}`]
    const json = flag === '--output' ? ['--output=json'] : ['-o', argv[0] === 'tail' ? 'ndjson' : 'json']
    // The invalid value comes last: of a repeated flag the last one counts.
    const line = [...argv.slice(0, -1), ...store, ...json, argv.at(-1) ?? '']
    const isBuilt = BUILT.includes(path) || process.env.LEASECTL_TEST_EXECUTABLE !== undefined
    const { code, stdout, stderr } = await (isBuilt ? user.run(line) : runInProcess(user, line))
    const { exit, told, silent } = refusal(path, { exit: code, stdout, stderr })
    expect({ exit, silent }).toEqual({ exit: exitOf(path), silent: '' })
    expect(JSON.parse(told)).toMatchObject({ error: { exit: exitOf(path), applied: 'no', retryable: false } })
  })
})
