import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { shellWord } from '../../../src/cli/command-line.ts'
import { EXIT_CODES, exitOf, exitOfRefusal } from '../../../src/cli/exit-codes.ts'
import { uuidV7 } from '../../../src/cli/process-runtime.ts'
import { VERSION } from '../../../src/cli/version.ts'
import { globOf } from '../../../src/ops/glob.ts'
import { nearest } from '../../../src/util/strings.ts'

test('a glob matches the whole name: * and ? do not cross a /, ** does', () => {
  const matches = (pattern: string, name: string) => globOf(pattern).matches(name)
  expect(matches('orders/*', 'orders/1')).toBe(true)
  expect(matches('orders/*', 'orders/1/x')).toBe(false)
  expect(matches('orders/**', 'orders/1/x')).toBe(true)
  expect(matches('*', 'a/b')).toBe(false)
  expect(matches('o?', 'ox')).toBe(true)
  expect(matches('o?', 'o/')).toBe(false)
  expect(matches('a.b', 'axb')).toBe(false)
  expect(matches('a(b)+]', 'a(b)+]')).toBe(true)
  expect(matches('01.02.00', '01.02.00')).toBe(true)
  expect(globOf('orders/20*').prefix).toBe('orders/20')
  expect(globOf('**').prefix).toBe('')
  expect(globOf('a').prefix).toBe('a')
})

test('the nearest word is a plausible one', () => {
  const words = ['cancel', 'complete', 'exit-codes']
  expect(nearest('cancle', words)).toBe('cancel')
  expect(nearest('exit', words)).toBe('exit-codes')
  expect(nearest('zzz', words)).toBeUndefined()
})

test('a printed word is quoted for a shell', () => {
  expect(shellWord('orders/4711')).toBe('orders/4711')
  expect(shellWord('')).toBe("''")
  expect(shellWord('a b')).toBe("'a b'")
  expect(shellWord("it's $HOME")).toBe("'it'\\''s $HOME'")
  expect(shellWord("\u001b]0;'\\")).toBe("$'\\u001b]0;\\'\\\\'")
})

test('an id sorts by time and is a UUID of version 7', () => {
  const id = uuidV7(Date.UTC(2026, 2, 1))
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(id < uuidV7(Date.UTC(2026, 2, 2))).toBe(true)
  expect(id).not.toBe(uuidV7(Date.UTC(2026, 2, 1)))
})

test('error codes map to the exit codes of the table', () => {
  const known = new Set(EXIT_CODES.map(({ code }) => code))
  const wanted = {
    usage: 2,
    'stream-not-found': 3,
    'container-missing': 3,
    'not-permitted': 4,
    'lease-held': 6,
    'store-unreachable': 9,
    unknown: 10,
    'lease-lost': 11,
    'bad-document': 12,
    'store-incompatible': 12,
    constructor: 1,
  }
  for (const [code, exit] of Object.entries(wanted)) expect([code, exitOf(code)]).toEqual([code, exit])
  for (const exit of Object.values(wanted)) expect(known).toContain(exit)
  for (const code of ['already-final', 'exists', 'changed', 'showed-life', 'join-ran'])
    expect(exitOfRefusal(code)).toBe(5)
  expect(['claimed', 'fenced', 'event-not-found'].map(exitOfRefusal)).toEqual([6, 11, 3])
})

test('the version is that of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect(VERSION).toBe(version)
})

/** The modules that a start loads with this one: all its static imports. */
function staticImports(path: URL, seen = new Map<string, readonly string[]>()): Map<string, readonly string[]> {
  if (seen.has(path.pathname)) return seen
  const source = readFileSync(path, 'utf8')
  const specifiers = [...source.matchAll(/^(?:import|export)\s+(?!type\b)[^'"]*?from '([^']+)'/gm)].map(
    match => match[1] ?? '',
  )
  seen.set(
    path.pathname,
    specifiers.filter(name => !name.startsWith('.')),
  )
  for (const name of specifiers.filter(name => name.startsWith('.'))) staticImports(new URL(name, path), seen)
  return seen
}

test('no heavy module is loaded before a command runs: stores, operations, colors, XML or YAML', () => {
  const modules = new Map<string, readonly string[]>()
  const folder = new URL('../../../src/commands/', import.meta.url)
  for (const name of readdirSync(folder).filter(name => name.endsWith('.ts')))
    staticImports(new URL(name, folder), modules)
  const files = [...modules.keys()].map(path => path.slice(path.indexOf('/src/') + 5))
  expect(files).toContain('commands/event.ts')
  // a few small parsers are used by the argument parser
  expect(
    files.filter(file =>
      /^(ops\/(?!glob|shards\/(partition|quota))|worker|subscriptions|inbox\/(?!record)|watchdog|tui|demo|formats\/(?!terminal\/style|listing\/fields))|^store\/(?!names|errors)|xml|\/run\.ts$/.test(
        file,
      ),
    ),
  ).toEqual([])
  const packages = [...modules.values()].flat().filter(name => !name.startsWith('node:'))
  expect([...new Set(packages)]).toEqual(['commander'])
})
