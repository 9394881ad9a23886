import { expect, test } from 'vitest'
import { buildProgram, declarations, programOf } from '../../../src/commands/program.ts'
import { fakeRuntime, newWorld } from './support.ts'

const runtimeFor = (argv: readonly string[]) => fakeRuntime(newWorld(), argv).runtime
const programFor = (...argv: string[]) => buildProgram(runtimeFor(argv), () => {})
const namesFor = async (...argv: string[]) => (await programFor(...argv)).commands.map(command => command.name())
const ALL = programOf(await declarations(), runtimeFor([]), () => {})

test('a line that begins with a command creates only that command', async () => {
  expect(await namesFor('ls', '--failed')).toEqual(['ls'])
  expect(await namesFor('list')).toEqual(['ls'])
  expect(await namesFor('delete', 'orders/1')).toEqual(['rm'])
  expect(await namesFor('lease', 'break', 'a')).toEqual(['lease'])
  expect(await namesFor('import', 'folder')).toEqual(['import'])
})

test.each([
  ['--store', 'ls', 'show'],
  ['-q', 'list'],
  ['--', 'rm'],
  ['help', 'ls'],
  ['__complete', 'bash'],
])('a line with a command in another place, or with one that lists all, creates all commands: %j', async (...argv) => {
  const { commands } = await programFor(...argv)
  expect(commands.map(command => command.name())).toEqual(ALL.commands.map(command => command.name()))
  expect(commands.find(command => command.name() === 'ls')?.options.length).toBeGreaterThan(10)
})

test.each([[], ['--help'], ['lss'], ['constructor']])(
  'a line without a command lists all commands as their declarations do: %j',
  async (...argv) => {
    const outlines = await programFor(...argv)
    expect(outlines.commands.find(command => command.name() === 'ls')?.options).toHaveLength(1)
    expect(outlines.helpInformation()).toBe(ALL.helpInformation())
  },
)

test('each command is found by its name', async () => {
  const names = ALL.commands.map(command => command.name())
  expect(names.length).toBeGreaterThanOrEqual(20)
  for (const name of names) if (name !== 'help' && name !== '__complete') expect(await namesFor(name)).toEqual([name])
})
