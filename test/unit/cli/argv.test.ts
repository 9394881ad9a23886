import { expect, test } from 'vitest'
import { commandIn, valuesIn } from '../../../src/cli/argv.ts'

test.each([
  ['check', 'check'],
  ['-o json check --nix', 'check'],
  ['--store x -q check', 'check'],
  ['--store=x check', 'check'],
  ['-c prod check', 'check'],
  ['-qc prod check', 'check'],
  ['-cprod check', 'check'],
  ['--nix check', 'check'],
  ['--store check ls', 'ls'],
  ['help check', 'help'],
  ['context check', 'context'],
])('the command of %s is %s', (line, command) => {
  expect(commandIn(line.split(' '))).toBe(command)
})

test('a command line without a command has none', () => {
  expect(commandIn([])).toBeUndefined()
  expect(commandIn(['--store'])).toBeUndefined()
})

test('a value is found in every notation', () => {
  const argv = ['-o', 'a', '-ob', '--output', 'c', '--output=d', '--other', 'x', '-o']
  expect(valuesIn(argv, '-o', '--output')).toEqual(['a', 'b', 'c', 'd'])
})
