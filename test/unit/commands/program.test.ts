import { expect, test } from 'vitest'
import { buildProgram } from '../../../src/commands/program.ts'
import { fakeRuntime, newWorld } from './support.ts'

const namesFor = (...argv: string[]) =>
  buildProgram(fakeRuntime(newWorld(), argv).runtime, () => {}).commands.map(command => command.name())

test('a line that begins with a command creates only that command', () => {
  expect(namesFor('ls', '--failed')).toEqual(['ls'])
  expect(namesFor('list')).toEqual(['ls'])
  expect(namesFor('delete', 'orders/1')).toEqual(['rm'])
  expect(namesFor('lease', 'break', 'a')).toEqual(['lease'])
  expect(namesFor('import', 'folder')).toEqual(['import'])
})

test.each([
  [],
  ['--help'],
  ['lss'],
  ['--store', 'ls', 'show'],
  ['help', 'ls'],
  ['__complete', 'bash'],
  ['constructor'],
])('any other line creates all commands: %j', (...argv) => {
  const all = namesFor(...argv)
  expect(all).toContain('ls')
  expect(all).toContain('context')
  expect(all.length).toBeGreaterThanOrEqual(20)
})

test('each command is found by its name', () => {
  for (const name of namesFor()) if (name !== 'help' && name !== '__complete') expect(namesFor(name)).toEqual([name])
})
