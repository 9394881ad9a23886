import type { Command, Option } from 'commander'
import { describe, expect, test } from 'vitest'
import { EXIT_CODES } from '../../../../src/cli/exit-codes.ts'
import { type Catalogue, type FlagEntry, flagEntry } from '../../../../src/commands/help/catalogue.ts'
import { allCommands, cli, newWorld } from '../support.ts'

async function catalogue(...words: string[]): Promise<Catalogue> {
  const ran = await cli(newWorld(), ['help', ...words, '-o', 'json'])
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  return JSON.parse(ran.stdout) as Catalogue
}

const pathOf = (command: Command): string =>
  command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim()

describe('help -o json', () => {
  test('lists every command with its group, arguments, flags, formats and examples', async () => {
    const { commands, version, program } = await catalogue()
    expect({ program, version }).toEqual({ program: 'leasectl', version: '0.1.0' })
    const visible = allCommands().filter(command => command.parent !== null && command.name() !== 'help')
    expect(commands.map(({ command }) => command).filter(path => !path.endsWith('help'))).toEqual(visible.map(pathOf))
    const leaseShow = commands.find(({ command }) => command === 'lease show')
    expect(leaseShow).toMatchObject({
      group: 'Workers and leases',
      usage: 'leasectl lease show [options] [STREAM]',
      changes: false,
      arguments: [{ name: 'STREAM', required: false, repeatable: false, choices: [] }],
      formats: ['text', 'json'],
    })
    expect(leaseShow?.examples.map(({ line }) => line)).toContain('leasectl lease show orders/4711')
    expect(commands.find(({ command }) => command === 'ls')).toMatchObject({
      aliases: ['list'],
      changes: false,
      formats: ['table', 'wide', 'name', 'json', 'ndjson', 'yaml', 'csv', 'html'],
    })
    expect(commands.find(({ command }) => command === 'watchdog')?.notes).toContain('Circuit breaker:')
  })

  test('names type, default, choices and repetition of flags', async () => {
    const { commands, globalFlags } = await catalogue()
    const flag = (path: string, name: string) =>
      commands.find(({ command }) => command === path)?.flags.find(one => one.name === name)
    expect(flag('ls', '--limit')).toMatchObject({
      type: 'integer',
      default: '200 for a table on a terminal, 2000 for a page, else all',
    })
    expect(flag('ls', '--watch')).toMatchObject({ short: '-w', type: 'boolean', value: null, default: null })
    expect(flag('ls', '--match')).toMatchObject({ type: 'glob', value: 'glob', repeatable: true })
    expect(flag('cancel', '--lease-wait')).toMatchObject({ type: 'duration', default: '10s' })
    expect(flag('cancel', '--write')).toMatchObject({ choices: ['lease', 'optimistic'], type: 'choice' })
    expect(flag('lease release', '--lease-id')).toMatchObject({ required: true })
    expect(flag('lease acquire', '--lease-id')).toMatchObject({ required: false })
    expect(globalFlags.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['--store', '--context', '--output', '--help', '--version']),
    )
    expect(globalFlags.find(({ name }) => name === '--time')?.choices).toEqual(['relative', 'local', 'utc', 'iso'])
  })

  test('has every flag that the help shows', async () => {
    const { commands, globalFlags } = await catalogue()
    const everywhere = globalFlags.map(({ name }) => name)
    for (const command of allCommands().filter(({ parent }) => parent !== null)) {
      const path = pathOf(command)
      const known = commands.find(one => one.command === path)?.flags.map(({ name }) => name) ?? []
      const shown = command.createHelp().visibleOptions(command)
      const names = shown.flatMap(({ long }) => long ?? [])
      expect({ path, missing: names.filter(name => !known.includes(name) && !everywhere.includes(name)) }).toEqual({
        path,
        missing: [],
      })
    }
  })

  test('names the flags that a command refuses to run without', async () => {
    const { commands } = await catalogue()
    const required = commands.flatMap(({ command, flags }) =>
      flags.filter(flag => flag.required).map(({ name }) => `${command} ${name}`),
    )
    expect(required).toEqual(
      expect.arrayContaining([
        'ack --reason',
        'suspend --reason',
        'event skip --reason',
        'event append --name',
        'event append --command-id',
        'event edit --lease-id',
        'work --name',
        'subscribe --as',
        'inbox drain --name',
        'runs prune --older-than',
      ]),
    )
    expect(required).not.toContain('cancel --reason')
  })

  test('lists every exit code and every code of an error', async () => {
    const { exitCodes, errorCodes, findingCodes } = await catalogue()
    expect(exitCodes.map(({ code }) => code)).toEqual(EXIT_CODES.map(({ code }) => code))
    expect(errorCodes).toContainEqual({
      code: 'lease-held',
      exit: 6,
      meaning: 'Leased by another for longer than --lease-wait.',
    })
    expect(errorCodes.filter(({ exit, meaning }) => !Number.isInteger(exit) || meaning === '')).toEqual([])
    expect(findingCodes.map(({ code }) => code)).toContain('history-lost')
  })

  test('of a command or group has only that', async () => {
    expect((await catalogue('lease', 'break')).commands.map(({ command }) => command)).toEqual(['lease break'])
    const lease = (await catalogue('lease')).commands.map(({ command }) => command)
    expect(lease[0]).toBe('lease')
    expect(lease).toContain('lease ls')
    expect(lease.filter(command => !command.startsWith('lease'))).toEqual([])
  })

  test('of a topic says that the catalogue has all topics', async () => {
    const ran = await cli(newWorld(), ['help', 'exit-codes', '-o', 'json'])
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(JSON.parse(ran.stderr).error.hint).toContain('help -o json')
    expect((await catalogue()).topics.map(({ name }) => name)).toContain('exit-codes')
  })
})

/** Values, at least one of which every parser takes. */
const SAMPLES = ['1', '20s', '16', 'A', '60s', '14:00', '01', '11111111-1111-4111-8111-111111111111']

function parsedBy(option: Option, text: string, previous?: unknown): unknown {
  try {
    return option.parseArg === undefined ? text : option.parseArg(text, previous)
  } catch {
    return undefined
  }
}

describe('the catalogue agrees with the parsers', () => {
  const flags = allCommands().flatMap(command =>
    command.options
      .filter(option => !option.hidden && !option.isBoolean())
      .map(option => [`${pathOf(command)} ${option.long}`, option, flagEntry(option)] as const),
  )
  const addsUp = (option: Option, { choices }: FlagEntry) =>
    [...choices, ...SAMPLES].some(text => {
      const value = parsedBy(option, text, ['before'])
      return Array.isArray(value) && value.includes('before')
    })

  test('on flags that may be given several times', () => {
    const wrong = flags.filter(([, option, entry]) => addsUp(option, entry) !== entry.repeatable)
    expect(wrong.map(([name]) => name)).toEqual([])
  })

  test('on the types of values', () => {
    const takes = (option: Option, text: string) => parsedBy(option, text) !== undefined
    const wrong = flags.filter(([, option, { type }]) => {
      if (type === 'duration') return !['20s', '1ms'].some(text => takes(option, text)) || takes(option, '20')
      if (type === 'pauses') return !takes(option, '2s..1m') || takes(option, '1m..2s')
      if (type === 'number') return !takes(option, '1.5') || takes(option, 'fast')
      if (type === 'version') return !takes(option, '12') || !takes(option, '14:00') || takes(option, 'noon')
      if (type === 'integer') return !['16', '1'].some(text => takes(option, text)) || takes(option, '1.5')
      if (type === 'time') return !takes(option, '14:00') || takes(option, 'noon')
      if (type === 'choice') return takes(option, 'no-such-choice')
      return option.parseArg !== undefined && takes(option, '20s') !== takes(option, 'twenty')
    })
    expect(wrong.map(([name]) => name)).toEqual([])
  })
})
