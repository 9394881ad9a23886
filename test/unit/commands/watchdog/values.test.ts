import { describe, expect, test } from 'vitest'
import { UsageError } from '../../../../src/cli/problem.ts'
import { hookCommand, shareValue } from '../../../../src/commands/watchdog/values.ts'

const parse = (text: string) => hookCommand('--on-done')(text).map(({ argv }) => argv)

function fault(read: () => unknown): UsageError {
  try {
    read()
  } catch (error) {
    if (error instanceof UsageError) return error
  }
  throw new Error('it was taken')
}

describe('a program', () => {
  test.each([
    ['/usr/bin/page', ['/usr/bin/page']],
    ['/opt/my hooks/page --now', ['/opt/my hooks/page --now']],
    ["page; rm -rf '$HOME'", ["page; rm -rf '$HOME'"]],
    ['["notify","--team","x y"]', ['notify', '--team', 'x y']],
    ['[ "one" ]', ['one']],
  ])('%s', (text, argv) => {
    expect(parse(text)).toEqual([argv])
  })

  test('that is given again is added', () => {
    const first = hookCommand('--on-done')('/a')
    expect(hookCommand('--on-done')('["b","c"]', first).map(({ argv }) => argv)).toEqual([['/a'], ['b', 'c']])
  })

  test.each([
    ['', 'the program is empty'],
    ['[]', 'names no program'],
    ['[1]', 'the program is not a string'],
    ['[""]', 'the program is empty'],
    ['["a",""]', 'argument 1 is empty'],
    ['["a",null]', 'argument 1 is not a string'],
    ['["a",["b"]]', 'argument 1 is not a string'],
    ['["a\\u0000b"]', 'contains a NUL'],
    ['[notify]', 'is not JSON'],
    ['["a"', 'is not JSON'],
  ])('%s: %s', (text, what) => {
    const { message } = fault(() => parse(text))
    expect(message).toMatch(/^--on-done/)
    expect(message).toContain(what)
  })
})

describe('a share', () => {
  test.each([
    ['20%', 0.2],
    ['0.5 %', 0.005],
    ['100%', 1],
    ['0%', 0],
    ['0', 0],
    ['0.2', 0.2],
    ['.2', 0.2],
    ['1.0', 1],
  ])('%s', (text, share) => {
    expect(shareValue('--max-share')(text)).toBeCloseTo(share, 10)
  })

  test.each([
    ['1', 'Write 1% or 100%.'],
    ['20', 'Write 20%.'],
    ['101%', 'from 0% to 100%: 20% or 0.2'],
    ['1.5', 'from 0% to 100%: 20% or 0.2'],
    ['-1%', 'from 0% to 100%: 20% or 0.2'],
    ['', 'from 0% to 100%: 20% or 0.2'],
    ['1e-1', 'from 0% to 100%: 20% or 0.2'],
    ['a fifth', 'from 0% to 100%: 20% or 0.2'],
  ])('refuses %j', (text, hint) => {
    expect(fault(() => shareValue('--max-share')(text)).hint).toBe(hint)
  })
})
