import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { newUser, type User } from './program.ts'
import { begin } from './top-store.ts'
import { AT_REST, type PtyProgram, Terminals } from './top-terminal.ts'

/** However the built dashboard ends, the terminal is restored, and the exit code shows the reason. */

let user: User
let terminals: Terminals
let store: StreamStore

beforeAll(async () => {
  user = await newUser()
  terminals = new Terminals(user)
  store = await openStore(`sqlite:${join(user.home, 'a.db')}`, {})
  for (const name of ['a', 'b']) await begin(store, name, [{ name: 'Search' }])
})
afterAll(async () => {
  await terminals.leave()
  await store.close()
  user.leave()
})

const LIMIT = { timeout: 90_000 }
const ON_SCREEN = { isAlternate: true, isCursorShown: false, wraps: false, marksPastes: true }
/** Throws an uncaught error inside the program. */
const BREAKABLE = `process.on('SIGUSR2', () => { throw new Error('it broke') })`
const REJECTABLE = `process.on('SIGUSR2', () => { void Promise.reject(new Error('it broke')) })`
const withCode = (code: string): Record<string, string> => ({
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}`,
})

interface Case {
  readonly code: number
  readonly env?: Record<string, string>
  end(program: PtyProgram, pid: number): void
}

const CASES: Readonly<Record<string, Case>> = {
  q: { code: 0, end: program => program.press('q') },
  'Ctrl-C': { code: 0, end: program => program.press('ctrl-c') },
  ':q': { code: 0, end: program => program.press(':', 'q', 'enter') },
  SIGTERM: { code: 143, end: (_, pid) => process.kill(pid, 'SIGTERM') },
  SIGINT: { code: 130, end: (_, pid) => process.kill(pid, 'SIGINT') },
  SIGHUP: { code: 129, end: (_, pid) => process.kill(pid, 'SIGHUP') },
  SIGQUIT: { code: 131, end: (_, pid) => process.kill(pid, 'SIGQUIT') },
  'an error nobody caught': { code: 1, env: withCode(BREAKABLE), end: (_, pid) => process.kill(pid, 'SIGUSR2') },
  'a rejection nobody caught': { code: 1, env: withCode(REJECTABLE), end: (_, pid) => process.kill(pid, 'SIGUSR2') },
}

test.concurrent.each(Object.entries(CASES))('%s', LIMIT, async (name, { code, env = {}, end }) => {
  const file = (what: string) => join(user.home, `${name.replaceAll(/\W/g, '-')}-${what}`)
  const script = [
    'trap : INT QUIT HUP TERM',
    `echo before; stty -g > '${file('before')}'`,
    `(echo $BASHPID > '${file('pid')}'; exec leasectl top --interval 50ms --store ${store.address})`,
    `echo code $?; stty -g > '${file('after')}'`,
  ].join('\n')
  const program = terminals.shell(script, { env })
  await program.until(/READ-ONLY[\s\S]*^› {2}a /m)
  expect(await program.modes()).toEqual(ON_SCREEN)
  end(program, Number(readFileSync(file('pid'), 'utf8')))
  const left = await program.until(/^code \d+$/m)
  await program.ended
  expect(await program.modes()).toEqual(AT_REST)
  expect(left[0]).toBe('before')
  expect(left.join('\n')).toContain(`code ${code}\n`)
  // the error can be read: it is not on the alternate screen
  if (code === 1) expect(left.join('\n')).toContain('it broke')
  else expect(left.slice(0, 3)).toEqual(['before', `code ${code}`, ''])
  expect(readFileSync(file('after'), 'utf8')).toBe(readFileSync(file('before'), 'utf8'))
})

test.concurrent('a closed window ends the dashboard', LIMIT, async () => {
  const program = terminals.top(['--store', store.address])
  await program.until(/^› {2}a /m)
  const { pid } = program
  program.hangUp()
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 25_000, interval: 20 })
})

function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('Z') === false
  } catch {
    return false
  }
}

test.concurrent('Ctrl-Z restores the terminal, fg brings the dashboard back, in the current size', LIMIT, async () => {
  const program = terminals.interactive()
  await program.until(/^\$/m)
  program.type(`leasectl top --interval 50ms --store ${store.address}\r`)
  await program.until(/READ-ONLY[\s\S]*^› {2}a /m)
  for (const columns of [70, 120]) {
    program.press('ctrl-z')
    await program.until(/Stopped.*leasectl top/)
    program.type(`echo typed $((40 + ${columns}))\r`)
    // Only the shell can print it: the line before may be of the previous round.
    await program.until(new RegExp(`^typed ${40 + columns}$`, 'm'))
    const { marksPastes: _, ...modes } = await program.modes()
    expect(modes).toEqual({ isAlternate: false, isCursorShown: true, wraps: true })
    await program.resize({ columns, rows: 30 })
    program.type('fg\r')
    await program.until(
      rows =>
        new RegExp(`^.{${columns - 11},}READ-ONLY$`).test(rows[0] ?? '') &&
        (rows[0]?.length ?? 0) <= columns &&
        /^› {2}a /m.test(rows.join('\n')),
    )
    expect(await program.modes()).toEqual(ON_SCREEN)
  }
  program.press('j')
  await program.until(/^› {2}b /m)
  program.press('q')
  await program.until(rows => rows.join().includes('$') && !rows.join().includes('READ-ONLY'))
  program.type('echo code $?\r')
  await program.until(/^code 0$/m)
  program.type('exit\r')
  await program.ended
})

test.concurrent('keys typed before the first frame are used, and move nothing out of place', LIMIT, async () => {
  const program = terminals.top(['--store', store.address])
  program.press('j', '?')
  await program.until(/keys of leasectl/)
  program.press('esc')
  const early = await program.until(rows => /^› {2}b /m.test(rows.join('\n')) && /q quit/.test(rows.at(-1) ?? ''))
  expect(early[0]).toMatch(/^ leasectl ▸ streams/)
  program.press('q')
  expect(await program.ended).toBe(0)
})

/** No output that is drawn in place: only lines, and afterwards no terminal to restore. */
const PLAIN: Readonly<
  Record<string, { argv?: readonly string[]; env?: Record<string, string>; input?: string; output?: string }>
> = {
  'TERM=dumb': { env: { TERM: 'dumb' } },
  'CI=1': { env: { CI: '1' } },
  'ACCESSIBLE=1': { env: { ACCESSIBLE: '1' } },
  '--accessible': { argv: ['--accessible'] },
  'a closed input': { input: '<&-' },
  'an input that is a file': { input: '< /dev/null' },
  'an output that is a pipe': { output: '| cat' },
}

test.concurrent.each(Object.entries(PLAIN))(
  'plain: %s',
  LIMIT,
  async (name, { argv = [], env = {}, input = '', output = '' }) => {
    const stream = `plain-${name.replaceAll(/\W/g, '-')}`
    const words = ['leasectl top', ...argv, '--color never --interval 20ms --store', store.address, input, output].join(
      ' ',
    )
    const program = terminals.shell(`trap : INT; set -o pipefail; ${words}; echo code $?`, { env })
    await program.until(/^NAME[\s\S]*^a [\s\S]*^b |^a: [\s\S]*^b: /m)
    await begin(store, stream, [{ name: 'Search' }])
    await program.until(new RegExp(`${stream}.* init `))
    program.press('ctrl-c')
    await program.until(/^(\^C)?code 130$/m)
    await program.ended
    expect(program.written).not.toContain('\x1b')
  },
)
