import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { linesLoaded, shareOfParts, violations } from './rules.ts'

const SRC = fileURLToPath(new URL('../../src/', import.meta.url))

const paths = globSync('**/*.{ts,tsx}', { cwd: SRC })
const sources = new Map(paths.map(path => [path, readFileSync(`${SRC}${path}`, 'utf8')]))

describe('the sources', () => {
  test('are found', () => {
    expect(paths).toContain('stream/event.ts')
  })

  test('import in one direction, without cycles, and follow the rules of their folders', () => {
    expect(violations(sources)).toEqual([])
  })

  test('are concepts: at most a quarter have a single importer', () => {
    expect(shareOfParts(sources)).toBeLessThanOrEqual(0.25)
  })
})

describe('a start loads few lines', () => {
  const STORE = ['store/open.ts', 'store/sqlite/store.ts', 'cli/store.ts']

  // What a start loads is most of its time: `npm run bench -- startup`. A new command or flag costs no other command.
  test.each([
    ['--help', 3_400, []],
    ['ls, embedded store', 12_400, ['commands/ls.ts', 'commands/ls/run.ts', ...STORE]],
    ['exec, embedded store', 21_600, ['commands/exec.ts', 'commands/exec/run.ts', ...STORE]],
  ])('%s: at most %i', (_, most, entries) => {
    const missing = entries.filter(entry => !sources.has(entry))
    expect(missing).toEqual([])
    expect(linesLoaded(sources, ['commands/main.ts', ...entries])).toBeLessThanOrEqual(most)
  })

  test('types and what is imported on use do not count', () => {
    const files = {
      'commands/main.ts': `import type { A } from './a.ts'; import { b } from './b.ts'; const c = () => import('./c.ts')`,
      'commands/a.ts': 'export type A = 1',
      'commands/b.ts': `export { d } from './d.ts'\nexport const b = 1`,
      'commands/c.ts': 'export const c = 1',
      'commands/d.ts': 'export const d = 1',
    }
    expect(linesLoaded(new Map(Object.entries(files)), ['commands/main.ts'])).toBe(4)
  })
})

describe('the checker', () => {
  const cases: readonly [rule: string, sources: Record<string, string>, found: readonly string[]][] = [
    [
      'imports downward and within a room are fine',
      {
        'commands/ls.ts': `import { list } from '../ops/list.ts'; import './table.ts'; process.stdout.write(list())`,
        'commands/table.ts': `import chalk from 'chalk'; export const time = new Date(0)`,
        'ops/list.ts': `import type { StreamStore } from '../store/store.ts'`,
        'store/store.ts': `import { parse } from '../stream/xml.ts'`,
        'stream/xml.ts': `import saxes from 'saxes'; import { createHash } from 'node:crypto'; new Date(saxes.at)`,
      },
      [],
    ],
    [
      'commands import the toolkit of the command line, and never the other way',
      {
        'cli/a.ts': `import '../commands/ls.ts'`,
        'commands/ls.ts': `import '../cli/output.ts'; import '../util/clock.ts'`,
      },
      ['cli/a.ts imports commands/ls.ts'],
    ],
    [
      'stream imports nothing above it, and no clock',
      {
        'stream/a.ts': `import type { StreamStore } from '../store/store.ts'; import '../util/clock.ts'; import '../util/strings.ts'`,
      },
      ['stream/a.ts imports store/store.ts', 'stream/a.ts imports util/clock.ts'],
    ],
    [
      'dynamic imports, re-exports and import types count',
      {
        'store/a.ts': `const ops = await import('../ops/x.ts')`,
        'store/b.ts': `export * from '../ops/x.ts'`,
        'store/c.ts': `export { x } from '../ops/x.ts'`,
        'store/d.ts': `export type X = import('../ops/x.ts').X`,
      },
      ['a', 'b', 'c', 'd'].map(name => `store/${name}.ts imports ops/x.ts`),
    ],
    [
      'worker, watchdog and tui do not import each other',
      {
        'tui/a.tsx': `import { plan } from '../watchdog/plan.ts'; export const box = <Box />`,
        'watchdog/b.ts': `import '../worker/loop.ts'`,
        'worker/c.ts': `import '../tui/launch.ts'`,
      },
      [
        'tui/a.tsx imports watchdog/plan.ts',
        'watchdog/b.ts imports worker/loop.ts',
        'worker/c.ts imports tui/launch.ts',
      ],
    ],
    [
      'the library has no command line in it',
      { 'index.ts': `export * from './commands/ls.ts'` },
      ['index.ts imports commands/ls.ts'],
    ],
    ['a new room needs a rule', { 'misc/a.ts': '' }, ['misc/a.ts: no rule says what misc may import']],
    [
      'only the runtime and the library open stores by address',
      { 'commands/ls.ts': `import '../store/open.ts'`, 'cli/runtime.ts': `import '../store/open.ts'` },
      ['commands/ls.ts imports store/open.ts'],
    ],
    [
      'stream imports no Node module but node:crypto and no package but saxes',
      { 'stream/a.ts': `import 'node:fs'; import 'yaml'` },
      ['stream/a.ts imports node:fs', 'stream/a.ts imports yaml'],
    ],
    [
      'stream has no clock and no randomness',
      {
        'stream/a.ts': `import { randomUUID } from 'node:crypto'; [Date.now(), new Date(), Math.random(), setTimeout(f)]`,
      },
      ['crypto.randomUUID', 'Date.now', 'Math.random', 'new Date', 'setTimeout'].map(
        name => `stream/a.ts uses ${name}`,
      ),
    ],
    [
      'only the runtime reads environment and arguments',
      {
        'commands/a.ts': `process.env.HOME; process['argv']`,
        'ops/b.ts': `import { env } from 'node:process'`,
        'ops/c.ts': `const { env } = process`,
        'cli/runtime.ts': `process.env.HOME; process.argv`,
        'ops/d.ts': `// process.env\nconst text = 'process.argv'`,
      },
      [
        'commands/a.ts uses process.argv',
        'commands/a.ts uses process.env',
        'ops/b.ts uses process.env',
        'ops/c.ts uses process.env',
      ],
    ],
    [
      'only exit.ts ends the process',
      { 'commands/exit.ts': 'process.exit(1)', 'worker/a.ts': 'process.exit(1)' },
      ['worker/a.ts uses process.exit'],
    ],
    [
      'files do not import each other in a circle',
      { 'ops/a.ts': `import './b.ts'`, 'ops/b.ts': `import './c.ts'`, 'ops/c.ts': `import type { A } from './a.ts'` },
      ['cycle: ops/a.ts → ops/b.ts → ops/c.ts → ops/a.ts'],
    ],
    [
      'a folder has at most 30 files',
      Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`ops/${at < 30 ? 'all' : 'one'}/f${at}.ts`, ''])),
      [],
    ],
    [
      'a folder with more than 30 files is crowded',
      Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`ops/f${at}.ts`, ''])),
      ['ops has 31 files, more than 30'],
    ],
    [
      'no two exported types have one name',
      {
        'ops/a.ts': 'export type Step = 1\nexport class Walk {}\ntype Own = 2',
        'tui/b.ts': 'export interface Step {}\ntype Own = 3\nexport const Walk = 4',
      },
      ['type Step is exported by ops/a.ts and tui/b.ts'],
    ],
    [
      'files have at most 400 lines',
      { 'ops/a.ts': 'f()\n'.repeat(401), 'ops/b.ts': 'f()\n'.repeat(400) },
      ['ops/a.ts has 401 lines, more than 400'],
    ],
  ]

  test.each(cases)('%s', (_, sources, found) => {
    expect(violations(new Map(Object.entries(sources)))).toEqual([...found].sort())
  })

  test('counts files with a single importer', () => {
    const sources = {
      'ops/a.ts': `import './part.ts'; import './shared.ts'; import './folder/own.ts'`,
      'ops/b.ts': `import './shared.ts'`,
      'ops/part.ts': '',
      'ops/shared.ts': '',
      'ops/folder/own.ts': '',
    }
    expect(shareOfParts(new Map(Object.entries(sources)))).toBe(1 / 5)
  })
})
